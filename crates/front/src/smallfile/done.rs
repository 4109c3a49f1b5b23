//! What the threads did, read off the record.

use results::{RunRecord, WorkerTimes};
use workload::program::FileOperation;

use super::options::Options;
use crate::windows::{Reached, rounds};

/// What a thread did, or all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    pub seconds: f64,
    pub files: u64,
    pub records: u64,
    pub files_per_second: f64,
    pub iops: f64,
    pub mib_per_second: f64,
}

/// What each thread did until it was done, or the first one was.
pub(super) fn threads(options: &Options, record: &RunRecord) -> Vec<Sums> {
    let round = rounds(record, options.operation.name()).first();
    let workers = round.iter().flat_map(|round| &round.workers);
    workers.map(|worker| thread(options, worker)).collect()
}

fn thread(options: &Options, worker: &WorkerTimes) -> Sums {
    let window = worker.window.unwrap_or_default();
    let call = options.operation.call();
    let (reached, files) = match Reached::at_wall(&window) {
        // The file at hand was not done.
        Some(wall) => (wall, wall.rounds.saturating_sub(1)),
        None => (Reached::at_end(&window), worker.of(call.name()).count),
    };
    let record_bytes = options.record_bytes();
    let records = match call == FileOperation::Close {
        true => reached.bytes.div_ceil(record_bytes).max(files),
        false => 0,
    };
    let seconds = reached.seconds();
    let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    Sums {
        seconds,
        files,
        records,
        files_per_second: rate(files as f64),
        iops: rate(records as f64),
        mib_per_second: rate(records as f64 * record_bytes as f64 / f64::from(1 << 20)),
    }
}

impl Sums {
    /// The longest time, and the sums of all else.
    pub(super) fn of(threads: &[Self]) -> Self {
        threads.iter().fold(Self::default(), |sum, it| Self {
            seconds: sum.seconds.max(it.seconds),
            files: sum.files + it.files,
            records: sum.records + it.records,
            files_per_second: sum.files_per_second + it.files_per_second,
            iops: sum.iops + it.iops,
            mib_per_second: sum.mib_per_second + it.mib_per_second,
        })
    }
}

/// How many of the files that were asked for were done, in percent.
pub(super) fn percent(options: &Options, thread_count: usize, files: u64) -> f64 {
    let asked = f64::from(options.files) * thread_count.max(1) as f64;
    100.0 * files as f64 / asked
}
