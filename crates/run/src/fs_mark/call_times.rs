//! Times of system calls, by kind.

use engine::{Clock, Operation};

use crate::own_files::Watch;

/// Times of one kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTimes {
    /// The shortest, in nanoseconds; the largest number there is if there was none.
    pub min_ns: u64,
    /// All of them together, in nanoseconds.
    pub sum_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

/// What one thread's iteration took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTimes {
    /// From the first file to the end of the last sync, removal not included, in nanoseconds.
    pub loop_ns: u64,
    /// Creating the files.
    pub create: CallTimes,
    /// Their writes.
    pub write: CallTimes,
    /// Their `fsync`s; after all files were written that is open, `fsync` and close together.
    pub fsync: CallTimes,
    /// `sync`, in nanoseconds.
    pub sync_ns: u64,
    /// Closing what was created.
    pub close: CallTimes,
    /// Removing the files.
    pub unlink: CallTimes,
}

impl Default for CallTimes {
    fn default() -> Self {
        Self {
            min_ns: u64::MAX,
            sum_ns: 0,
            max_ns: 0,
        }
    }
}

impl CallTimes {
    #[inline]
    fn add(&mut self, time_ns: u64) {
        self.min_ns = self.min_ns.min(time_ns);
        self.sum_ns += time_ns;
        self.max_ns = self.max_ns.max(time_ns);
    }
}

/// Times the calls on each file.
///
/// The end of a call is the beginning of the next one on the same file, so that each call takes
/// one reading of the clock; what lies between is counted to the second call.
pub(super) struct Stopwatch<'a, C> {
    clock: &'a C,
    times: ThreadTimes,
    /// Whether all calls on a file count as one `fsync`.
    is_syncing: bool,
    start_ns: u64,
}

impl<'a, C: Clock> Stopwatch<'a, C> {
    pub fn new(clock: &'a C) -> Self {
        Self {
            clock,
            times: ThreadTimes::default(),
            is_syncing: false,
            start_ns: 0,
        }
    }

    /// Whether the next files are opened, synced and closed, and not created.
    pub fn set_syncing(&mut self, is_syncing: bool) {
        self.is_syncing = is_syncing;
    }

    /// Adds the time of one `sync`.
    pub fn add_sync(&mut self, time_ns: u64) {
        self.times.sync_ns += time_ns;
    }

    /// The times, with that of the whole loop.
    pub const fn finish(self, loop_ns: u64) -> ThreadTimes {
        ThreadTimes {
            loop_ns,
            ..self.times
        }
    }
}

impl<C: Clock> Watch for Stopwatch<'_, C> {
    #[inline]
    fn before(&mut self, operation: Operation) {
        if matches!(
            operation,
            Operation::Create | Operation::Open | Operation::Unlink
        ) {
            self.start_ns = self.clock.now_ns();
        }
    }

    #[inline]
    fn after(&mut self, operation: Operation) {
        let times = &mut self.times;
        let kind = match (operation, self.is_syncing) {
            (Operation::Create, _) => &mut times.create,
            (Operation::Write, _) => &mut times.write,
            (Operation::Fsync, false) | (Operation::Close, true) => &mut times.fsync,
            (Operation::Close, false) => &mut times.close,
            (Operation::Unlink, _) => &mut times.unlink,
            // Making a directory that is there is the program's own overhead.
            _ => return,
        };
        let now_ns = self.clock.now_ns();
        kind.add(now_ns.saturating_sub(self.start_ns));
        self.start_ns = now_ns;
    }
}
