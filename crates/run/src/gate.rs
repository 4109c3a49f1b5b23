//! Gates at which the workers of a cell wait for each other: all before the ramp, jobs for other
//! jobs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which a waiting job checks whether it is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Signal to the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartSignal {
    /// Start; the ramp counts from this time, in nanoseconds of the clock.
    Start { start_ns: u64 },
    /// Another worker cannot start, so none does.
    Abandon,
}

/// A gate that stays closed until it gets a signal.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    signal: Mutex<Option<StartSignal>>,
    opened: Condvar,
    /// Earliest time at which a worker that passed the gate was ready, in nanoseconds of the clock
    /// plus 1; 0 before any was.
    begin_ns: AtomicU64,
}

impl Gate {
    /// Gives the signal to all workers, including those that arrive later.
    pub fn open(&self, signal: StartSignal) {
        // The signal is complete at any time, even if a thread panicked while it held the lock.
        *self.signal.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
        self.opened.notify_all();
    }

    /// Records the time at which a worker that passed the gate is ready.
    pub fn note_begin(&self, now_ns: u64) {
        let earlier = |known: u64| (known == 0 || now_ns < known - 1).then_some(now_ns + 1);
        // An error only means that an earlier time is already known.
        let _ = self
            .begin_ns
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }

    /// Earliest time at which a worker was ready, in nanoseconds of the clock.
    pub fn begin_ns(&self) -> Option<u64> {
        self.begin_ns.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Waits for the signal.
    pub fn wait(&self) -> StartSignal {
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

/// End of a job, for which others wait.
#[derive(Debug, Default)]
pub(crate) struct JobEnd {
    has_ended: Mutex<bool>,
    condvar: Condvar,
}

impl JobEnd {
    /// Waits until the job has ended or `stop` is set.
    pub fn wait(&self, stop: &AtomicBool) {
        let lock = self.has_ended.lock();
        let mut has_ended = lock.unwrap_or_else(PoisonError::into_inner);
        while !*has_ended && !stop.load(Ordering::Relaxed) {
            // Setting `stop` does not wake this thread.
            let waited = self.condvar.wait_timeout(has_ended, POLL_INTERVAL);
            has_ended = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Guard that marks a job as ended when it is dropped, even by a panic.
#[derive(Debug)]
pub(crate) struct JobEndGuard(pub Arc<JobEnd>);

impl Drop for JobEndGuard {
    fn drop(&mut self) {
        let lock = self.0.has_ended.lock();
        *lock.unwrap_or_else(PoisonError::into_inner) = true;
        self.0.condvar.notify_all();
    }
}
