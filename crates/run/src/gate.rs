//! Where the workers of a cell wait for each other: all before the ramp, and jobs for jobs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often who waits for a job looks whether it is to end itself.
const LOOK: Duration = Duration::from_millis(50);

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
    /// When the first that went through was ready to work, in nanoseconds of the clock and 1; 0 as
    /// long as there is none.
    begin_ns: AtomicU64,
}

impl Gate {
    /// Gives all workers, those that wait and those that will come, their signal.
    pub fn open(&self, signal: Signal) {
        *self.signal.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
        self.opened.notify_all();
    }

    /// Takes note of when somebody who went through is ready to work.
    pub fn note_begin(&self, now_ns: u64) {
        let earlier = |known: u64| (known == 0 || now_ns < known - 1).then_some(now_ns + 1);
        let _ = self
            .begin_ns
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }

    /// When the first was, in nanoseconds of the clock.
    pub fn begin_ns(&self) -> Option<u64> {
        self.begin_ns.load(Ordering::Relaxed).checked_sub(1)
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

/// Whether a job has ended.
#[derive(Debug, Default)]
pub(crate) struct JobEnd {
    has_ended: Mutex<bool>,
    told: Condvar,
}

impl JobEnd {
    /// Waits until the job has ended, or everything is to.
    pub fn wait(&self, stop: &AtomicBool) {
        let ended = self.has_ended.lock();
        let mut has_ended = ended.unwrap_or_else(PoisonError::into_inner);
        while !*has_ended && !stop.load(Ordering::Relaxed) {
            let waited = self.told.wait_timeout(has_ended, LOOK);
            has_ended = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// To be dropped when a job ends, however it does.
#[derive(Debug)]
pub(crate) struct EndOfJob(pub Arc<JobEnd>);

impl Drop for EndOfJob {
    fn drop(&mut self) {
        let ended = self.0.has_ended.lock();
        *ended.unwrap_or_else(PoisonError::into_inner) = true;
        self.0.told.notify_all();
    }
}
