//! Whole transactions of one or two operations, which optionally begin when they are due.

use crate::program::TransactionUnit;
use crate::{DueQueue, DueStep, Flow, RESPONSE_KINDS, Step, named};

/// Number of the only transaction kind.
const TRANSACTION: u8 = 0;

/// Transactions of a run whose operations are not counted individually.
#[derive(Debug, Clone)]
pub(super) struct WholeTransactions {
    is_due: bool,
    queue: Option<DueQueue>,
    /// The transaction in progress.
    current: Option<StartedTransaction>,
}

#[derive(Debug, Clone, Copy)]
struct StartedTransaction {
    start_ns: u64,
    /// Time when the last of its operations was done, in nanoseconds of the worker's clock.
    done_ns: u64,
    /// First negated errno of its operations; 0 for none.
    errno: i32,
    /// `true` if its last operation was recognized as the last.
    is_counted: bool,
}

impl WholeTransactions {
    /// `None` if operations are counted individually.
    pub fn of(unit: TransactionUnit) -> Option<Self> {
        (unit != TransactionUnit::Declared).then_some(Self {
            is_due: unit == TransactionUnit::DueRound,
            queue: None,
            current: None,
        })
    }

    pub fn kinds(&self) -> Vec<String> {
        match self.is_due {
            true => named(RESPONSE_KINDS),
            false => named(&["transaction"]),
        }
    }

    pub fn set_due_queue(&mut self, queue: DueQueue) {
        self.queue = Some(queue);
    }

    pub const fn queue(&self) -> Option<&DueQueue> {
        self.queue.as_ref()
    }

    pub fn close(&mut self, end_ns: u64) {
        if let Some(queue) = &mut self.queue {
            queue.close(end_ns);
        }
    }

    /// Begins a transaction unless one is in progress. Returns `false` if no more may begin. If
    /// none is due yet, the error is the step to take.
    pub fn begin(&mut self, now_ns: u64) -> Result<bool, Step> {
        if self.current.is_some() {
            return Ok(true);
        }
        let mut start_ns = now_ns;
        if let Some(queue) = &mut self.queue {
            match queue.turn(now_ns) {
                DueStep::Due(due_ns) => {
                    // Whole transactions need a single slot, so it is always slot 0.
                    queue.begin(0, due_ns, now_ns);
                    start_ns = due_ns;
                }
                DueStep::Wait(until_ns) => return Err(Step::Wait { until_ns }),
                DueStep::Finished => return Ok(false),
            }
        }
        self.current = Some(StartedTransaction {
            start_ns,
            done_ns: now_ns,
            errno: 0,
            is_counted: false,
        });
        Ok(true)
    }

    /// Records that an operation is done. `errno` is negative if it failed, and `is_last` is `true`
    /// if it was the last one of its transaction.
    pub fn complete_operation(&mut self, now_ns: u64, errno: i32, is_last: bool) -> Flow {
        let Some(begun) = &mut self.current else {
            return Flow::Uncounted;
        };
        begun.done_ns = now_ns;
        if begun.errno == 0 {
            begun.errno = errno.min(0);
        }
        if !is_last {
            return Flow::Uncounted;
        }
        begun.is_counted = true;
        let (errno, start_ns) = (begun.errno, begun.start_ns);
        if let Some(queue) = &mut self.queue {
            queue.end(0, now_ns, errno);
        }
        Flow::Timed {
            kind: TRANSACTION,
            errno,
            start_ns,
        }
    }

    /// Ends the transaction.
    pub fn end(&mut self) {
        if let Some(begun) = self.current.take()
            && !begun.is_counted
            && let Some(queue) = &mut self.queue
        {
            // Its last operation was not known to be the last, so the time of that operation
            // counts.
            queue.end(0, begun.done_ns, begun.errno);
        }
    }
}
