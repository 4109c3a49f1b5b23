//! Reads that wait for their answer, and the log of answered reads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::ReplyData;

use super::{AnsweredRead, ReadLog, Stall};

/// A read that waits for its answer.
struct Waiting {
    arrived: Instant,
    due: Instant,
    bytes: Vec<u8>,
    reply: ReplyData,
}

struct DelayState {
    /// Start of the log.
    start: Instant,
    delay: Duration,
    stall: Option<Stall>,
    first: Option<Instant>,
    /// Reads in order of arrival, which is also the order of answers.
    waiting: VecDeque<Waiting>,
    log: ReadLog,
}

/// The pending reads and the log.
pub(super) struct DelayedReads {
    state: Mutex<DelayState>,
    arrived: Condvar,
}

impl DelayedReads {
    pub fn new() -> Self {
        let state = DelayState {
            start: Instant::now(),
            delay: Duration::ZERO,
            stall: None,
            first: None,
            waiting: VecDeque::new(),
            log: ReadLog::default(),
        };
        Self {
            state: Mutex::new(state),
            arrived: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, DelayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the log and sets the duration of reads.
    pub fn begin(&self, delay: Duration, stall: Option<Stall>) {
        let mut state = self.state();
        (state.delay, state.stall, state.first) = (delay, stall, None);
        state.start = Instant::now();
        state.log = ReadLog::default();
    }

    /// The reads answered since the log began.
    pub fn log(&self) -> ReadLog {
        self.state().log.clone()
    }

    /// Queues a read until it is due.
    pub fn arrive(&self, arrived: Instant, bytes: Vec<u8>, reply: ReplyData) {
        let mut state = self.state();
        // A stall counts from the first read, because planning the run takes an unknown time after
        // the log is cleared.
        let first = *state.first.get_or_insert(arrived);
        let mut due = arrived + state.delay;
        if let Some(stall) = state.stall {
            let (from, until) = (first + stall.after, first + stall.after + stall.length);
            if (from..until).contains(&due) {
                due = until;
            }
        }
        state.waiting.push_back(Waiting {
            arrived,
            due,
            bytes,
            reply,
        });
        self.arrived.notify_one();
    }

    /// Answers each read when it is due; never returns.
    pub fn answer(&self) {
        // With the default timer slack, each sleep would end 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut state = self.state();
        loop {
            let now = Instant::now();
            // All reads have the same delay, and a stall moves due times to its end, so the first
            // is due first.
            let due = state.waiting.front().map(|it| it.due);
            state = match due {
                Some(due) if due > now => {
                    let waited = self.arrived.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    let answered = state.answer_first(now);
                    // Sending the answer is a system call, and meanwhile new reads must be able to
                    // arrive.
                    drop(state);
                    if let Some(Waiting { bytes, reply, .. }) = answered {
                        reply.data(&bytes);
                    }
                    self.state()
                }
                None => {
                    let waited = self.arrived.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl DelayState {
    /// Removes the first pending read and logs it. It is logged before its answer is sent, because
    /// the log may be requested as soon as the answer has arrived.
    fn answer_first(&mut self, now: Instant) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        let since_ns = |at: Instant| u64::try_from((at - self.start).as_nanos()).ok();
        // Reads that arrived before the log began are not logged.
        if waiting.arrived >= self.start
            && let (Some(arrived_ns), Some(answered_ns)) =
                (since_ns(waiting.arrived), since_ns(now))
        {
            self.log.reads.push(AnsweredRead {
                arrived_ns,
                answered_ns,
            });
        }
        Some(waiting)
    }
}
