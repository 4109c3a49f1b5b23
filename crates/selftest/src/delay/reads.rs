//! Reads that wait for their answer, and the log of those that were answered.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::ReplyData;

use super::{Log, Served, Stall};

/// A read that waits for its answer.
struct Waiting {
    arrived: Instant,
    due: Instant,
    bytes: Vec<u8>,
    reply: ReplyData,
}

struct State {
    /// When the log began.
    began: Instant,
    delay: Duration,
    stall: Option<Stall>,
    first: Option<Instant>,
    /// In the order of arrival, in which they are answered.
    waiting: VecDeque<Waiting>,
    log: Log,
}

/// What waits for an answer, and what was answered.
pub(super) struct DelayedReads {
    state: Mutex<State>,
    arrived: Condvar,
}

impl DelayedReads {
    pub fn new() -> Self {
        let state = State {
            began: Instant::now(),
            delay: Duration::ZERO,
            stall: None,
            first: None,
            waiting: VecDeque::new(),
            log: Log::default(),
        };
        Self {
            state: Mutex::new(state),
            arrived: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets reads take that long from now on, and begins the log anew.
    pub fn begin(&self, delay: Duration, stall: Option<Stall>) {
        let mut state = self.state();
        (state.delay, state.stall, state.first) = (delay, stall, None);
        state.began = Instant::now();
        state.log = Log::default();
    }

    /// What was answered since the log began.
    pub fn log(&self) -> Log {
        self.state().log.clone()
    }

    /// Takes a read that is to be answered when its time has come.
    pub fn arrive(&self, arrived: Instant, bytes: Vec<u8>, reply: ReplyData) {
        let mut state = self.state();
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

    /// Answers each read when it is due, for ever.
    pub fn answer(&self) {
        // Else a sleep ends 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let due = state.waiting.front().map(|it| it.due);
            state = match due {
                Some(due) if due > now => {
                    let waited = self.arrived.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    let answered = state.answer_first(now);
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

impl State {
    /// Takes the first read that waits and writes it down before its answer is sent, after which
    /// the log may be asked for.
    fn answer_first(&mut self, now: Instant) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        let since_ns = |at: Instant| u64::try_from((at - self.began).as_nanos()).ok();
        // What came before the log began does not belong there.
        if waiting.arrived >= self.began
            && let (Some(arrived_ns), Some(answered_ns)) =
                (since_ns(waiting.arrived), since_ns(now))
        {
            self.log.reads.push(Served {
                arrived_ns,
                answered_ns,
            });
        }
        Some(waiting)
    }
}
