//! Times of system calls, by kind.

use engine::{Clock, Operation};
use results::{CallTimes, WorkerTimes};

use crate::own_files::Watch;

/// The call that syncs all file systems.
const SYNC: &str = "sync";

/// Times of each kind of call.
#[derive(Default)]
struct Kinds {
    create: CallTimes,
    write: CallTimes,
    /// After all files were written that is open, `fsync` and close together.
    fsync: CallTimes,
    sync: CallTimes,
    close: CallTimes,
    unlink: CallTimes,
}

/// Times the calls on each file.
///
/// The end of a call is the beginning of the next one on the same file, so that each call takes
/// one reading of the clock; what lies between is counted to the second call.
pub(super) struct Stopwatch<'a, C> {
    clock: &'a C,
    times: Kinds,
    /// Whether all calls on a file count as one `fsync`.
    is_syncing: bool,
    start_ns: u64,
}

impl<'a, C: Clock> Stopwatch<'a, C> {
    pub fn new(clock: &'a C) -> Self {
        Self {
            clock,
            times: Kinds::default(),
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
        self.times.sync.add(time_ns);
    }

    /// The times, with that of the whole loop: from the first file to the end of the last sync,
    /// removal not included.
    pub fn finish(self, loop_ns: u64) -> WorkerTimes {
        let times = self.times;
        let kinds = [
            (Operation::Create.name(), times.create),
            (Operation::Write.name(), times.write),
            (Operation::Fsync.name(), times.fsync),
            (SYNC, times.sync),
            (Operation::Close.name(), times.close),
            (Operation::Unlink.name(), times.unlink),
        ];
        let done = kinds.into_iter().filter(|(_, times)| times.count > 0);
        WorkerTimes {
            time_ns: loop_ns,
            calls: done.map(|(kind, times)| (kind.to_owned(), times)).collect(),
            window: None,
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
