//! Where the workers of a cell wait for each other before the ramp.

use std::sync::{Condvar, Mutex, PoisonError};

/// What the workers are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Begin; the ramp counts from this time, in nanoseconds of the clock.
    Start { start_ns: u64 },
    /// Another worker cannot begin, so none does.
    Abandon,
}

/// Closed until it is given a signal.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    signal: Mutex<Option<Signal>>,
    opened: Condvar,
}

impl Gate {
    /// Gives all workers, those that wait and those that will come, their signal.
    pub fn open(&self, signal: Signal) {
        *self.signal.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
        self.opened.notify_all();
    }

    /// Waits for the signal.
    pub fn wait(&self) -> Signal {
        let mut signal = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *signal {
                Some(signal) => return signal,
                None => {
                    signal = self
                        .opened
                        .wait(signal)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
