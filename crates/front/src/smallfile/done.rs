//! What the threads did, read off the record.

use plan::program::FileOperation;
use results::{RunRecord, WorkerAtWall, WorkerTimes};

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

const MIB: f64 = (1_u64 << 20) as f64;

/// What each thread did until it was done, or the first one was.
pub(super) fn threads(options: &Options, record: &RunRecord) -> Vec<Sums> {
    let round = rounds(record, options.operation.name()).first();
    let workers = round.iter().flat_map(|round| &round.workers);
    workers.map(|worker| thread(options, worker)).collect()
}

fn thread(options: &Options, worker: &WorkerTimes) -> Sums {
    let window = worker.window.unwrap_or_default();
    let call = options.operation.call();
    let all = worker.of(call.name()).count;
    let end = (Reached::at_end(&window), all, written_or_read(worker));
    let (reached, files, records) = match (Reached::at_wall(&window), window.wall) {
        (Some(reached), Some(wall)) => {
            // The file at hand was not done.
            let files = wall.rounds.saturating_sub(1);
            match is_seen(options, files) {
                true => (reached, files, records_at(options, files, &wall)),
                false => end,
            }
        }
        _ => end,
    };
    let records = match call == FileOperation::Close {
        true => records,
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
        mib_per_second: rate(records as f64 * options.record_bytes() as f64 / MIB),
    }
}

/// Reads or writes of a thread.
fn written_or_read(worker: &WorkerTimes) -> u64 {
    let calls = [FileOperation::Write, FileOperation::Read];
    calls.iter().map(|call| worker.of(call.name()).count).sum()
}

/// Whether a thread that has done that many files looks once more whether another one is done.
/// Otherwise it does all its files, and they all count.
fn is_seen(options: &Options, files: u64) -> bool {
    let between = options.files_between_looks();
    let next = (files + 1).next_multiple_of(between) - 1;
    options.has_stonewall && next < u64::from(options.files)
}

/// Records of the files that were done when another thread was.
fn records_at(options: &Options, files: u64, wall: &WorkerAtWall) -> u64 {
    match options.is_exponential {
        false => files * options.records_per_file(),
        // Each file is opened and closed, and may be synced.
        true => {
            let besides = 2 + u64::from(options.is_synced);
            let calls = wall.calls.saturating_sub(files * besides);
            // The file at hand was opened at least.
            calls.saturating_sub(1)
        }
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
