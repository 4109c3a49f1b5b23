//! Transactions as wholes: of one or two operations, which begin when they are due where that is
//! asked for.

use crate::program::Unit;
use crate::{DueQueue, Flow, RESPONSE_KINDS, Step, Turn, named};

/// The number of their only kind.
const WHOLE: u8 = 0;

/// The transactions of a run whose operations are not counted one by one.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    is_due: bool,
    queue: Option<DueQueue>,
    /// The transaction in progress.
    begun: Option<Begun>,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    start_ns: u64,
    /// When the last of its operations was done, in nanoseconds of the worker's clock.
    done_ns: u64,
    /// The negated number of its first error; 0 for none.
    errno: i32,
    /// Whether its last operation was known to be that.
    is_counted: bool,
}

impl Whole {
    /// None where operations are counted one by one.
    pub fn of(unit: Unit) -> Option<Self> {
        (unit != Unit::Own).then_some(Self {
            is_due: unit == Unit::DueRound,
            queue: None,
            begun: None,
        })
    }

    pub fn kinds(&self) -> Vec<String> {
        match self.is_due {
            true => named(RESPONSE_KINDS),
            false => named(&["transaction"]),
        }
    }

    pub fn begin_when_due(&mut self, queue: DueQueue) {
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

    /// Begins a transaction unless one is in progress; `false` when no more may begin, and as an
    /// error the step to take while none is due.
    pub fn begin(&mut self, now_ns: u64) -> Result<bool, Step> {
        if self.begun.is_some() {
            return Ok(true);
        }
        let mut start_ns = now_ns;
        if let Some(queue) = &mut self.queue {
            match queue.turn(now_ns) {
                Turn::Due(due_ns) => {
                    queue.begin(0, due_ns, now_ns);
                    start_ns = due_ns;
                }
                Turn::Wait(until_ns) => return Err(Step::Wait { until_ns }),
                Turn::Over => return Ok(false),
            }
        }
        self.begun = Some(Begun {
            start_ns,
            done_ns: now_ns,
            errno: 0,
            is_counted: false,
        });
        Ok(true)
    }

    /// Takes note that an operation is done, which has failed where `errno` is negative, and
    /// whether it was the last of its transaction.
    pub fn operation_done(&mut self, now_ns: u64, errno: i32, is_last: bool) -> Flow {
        let Some(begun) = &mut self.begun else {
            return Flow::Apart;
        };
        begun.done_ns = now_ns;
        if begun.errno == 0 {
            begun.errno = errno.min(0);
        }
        if !is_last {
            return Flow::Apart;
        }
        begun.is_counted = true;
        let (errno, start_ns) = (begun.errno, begun.start_ns);
        if let Some(queue) = &mut self.queue {
            queue.end(0, now_ns, errno);
        }
        Flow::Timed {
            kind: WHOLE,
            errno,
            start_ns,
        }
    }

    /// The transaction is over.
    pub fn end(&mut self) {
        if let Some(begun) = self.begun.take()
            && !begun.is_counted
            && let Some(queue) = &mut self.queue
        {
            queue.end(0, begun.done_ns, begun.errno);
        }
    }
}
