//! What the threads did, read off the record.

use results::{CellRecord, RunRecord, WorkerTimes, WorkerWindow};

use super::options::{Operation, Options};

/// What a thread did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ThreadDone {
    pub seconds: f64,
    pub files: u64,
    pub records: u64,
    /// Rates are of what was counted.
    pub mib: f64,
}

/// What each thread did until it was done, or the first one was.
pub(super) fn threads(options: &Options, record: &RunRecord) -> Vec<ThreadDone> {
    let is_it = |cell: &&CellRecord| cell.phase.name() == options.operation.name();
    let cell = record.cells.iter().find(is_it);
    let figures = cell.and_then(|cell| cell.phase_figures.as_ref());
    let round = figures.and_then(|figures| figures.rounds.first());
    let workers = round.map_or(&[][..], |round| &round.workers);
    let done = |worker: &WorkerTimes| thread(options, worker, &worker.window.unwrap_or_default());
    workers.iter().map(done).collect()
}

fn thread(options: &Options, worker: &WorkerTimes, window: &WorkerWindow) -> ThreadDone {
    let (end_ns, files, bytes) = match window.wall {
        // The file at hand was not done.
        Some(wall) => {
            let bytes = wall.read_bytes + wall.written_bytes;
            (wall.at_ns, wall.rounds.saturating_sub(1), bytes)
        }
        None => {
            let bytes = window.read_bytes + window.written_bytes;
            (
                window.end_ns,
                worker.of(call_of(options.operation)).count,
                bytes,
            )
        }
    };
    let records = match options.operation.moves() {
        true => bytes.div_ceil(options.record_bytes()).max(files),
        false => 0,
    };
    ThreadDone {
        seconds: end_ns.saturating_sub(window.begin_ns) as f64 / 1e9,
        files,
        records,
        mib: records as f64 * options.record_bytes() as f64 / f64::from(1 << 20),
    }
}

/// The call that each file has once.
const fn call_of(operation: Operation) -> &'static str {
    match operation {
        Operation::Create
        | Operation::Append
        | Operation::Overwrite
        | Operation::TruncateOverwrite
        | Operation::Read => "close",
        Operation::Stat => "stat",
        Operation::Chmod => "chmod",
        Operation::Rename => "rename",
        Operation::Delete | Operation::DeleteRenamed | Operation::Cleanup => "unlink",
        Operation::Symlink => "symlink",
        Operation::Mkdir => "mkdir",
        Operation::Rmdir => "rmdir",
    }
}

/// What all threads did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    pub seconds: f64,
    pub files: u64,
    pub records: u64,
    pub files_per_second: f64,
    pub iops: f64,
    pub mib_per_second: f64,
}

impl Sums {
    /// The longest time, and the sums of what the threads did and of their rates.
    pub(super) fn of(threads: &[ThreadDone]) -> Self {
        threads.iter().fold(Self::default(), |sum, it| {
            let rate = |amount: f64| match it.seconds > 0.0 {
                true => amount / it.seconds,
                false => 0.0,
            };
            Self {
                seconds: sum.seconds.max(it.seconds),
                files: sum.files + it.files,
                records: sum.records + it.records,
                files_per_second: sum.files_per_second + rate(it.files as f64),
                iops: sum.iops + rate(it.records as f64),
                mib_per_second: sum.mib_per_second + rate(it.mib),
            }
        })
    }
}

/// How many of the files that were asked for were done, in percent.
pub(super) fn percent(options: &Options, thread_count: usize, files: u64) -> f64 {
    let asked = f64::from(options.files) * thread_count.max(1) as f64;
    100.0 * files as f64 / asked
}
