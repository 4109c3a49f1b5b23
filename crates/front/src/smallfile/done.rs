//! Results of the threads, derived from the record.

use generate::program::file_sizes;
use plan::program::FileOperation;
use results::{RunRecord, WorkerTimes};

use super::options::SmallfileOptions;
use super::program::{SOURCE, sizes};
use crate::windows::{WorkerProgress, rounds};

/// Results of one thread, or of all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct ThreadSums {
    pub seconds: f64,
    pub files: u64,
    pub records: u64,
    pub files_per_second: f64,
    pub iops: f64,
    pub mib_per_second: f64,
}

const MIB: f64 = (1_u64 << 20) as f64;

/// Results of each thread, up to its end or to the stonewall.
pub(super) fn threads(options: &SmallfileOptions, record: &RunRecord) -> Vec<ThreadSums> {
    let round = rounds(record, options.operation.name()).first();
    let workers = round.iter().flat_map(|round| &round.workers);
    let cells = record.plan.cells.iter();
    let seed = cells
        .flat_map(|cell| &cell.workers)
        .map(|it| it.seed)
        .next();
    let seed = seed.unwrap_or_default();
    let records = |files: u64| records_of_first(options, seed, files);
    workers.map(|it| thread(options, it, &records)).collect()
}

/// Returns the number of records of the files that a thread works on first. `seed` is that of the
/// first worker; files of other threads with the same number have equal sizes.
pub(super) fn records_of_first(options: &SmallfileOptions, seed: u64, files: u64) -> u64 {
    let size = file_sizes(&sizes(options), seed, SOURCE);
    let size = size.expect("the plan of the run has drawn these sizes");
    let records = |file| size(file).div_ceil(options.record_bytes());
    (0..options.files).take(files as usize).map(records).sum()
}

fn thread(
    options: &SmallfileOptions,
    worker: &WorkerTimes,
    records_of_first: &impl Fn(u64) -> u64,
) -> ThreadSums {
    let window = worker.window.unwrap_or_default();
    // Each file or listed directory has exactly one such call.
    let all = worker.of(options.operation.counted_call()).count;
    let all = options.files_of_rounds(all);
    let end = (
        WorkerProgress::at_end(&window),
        all,
        read_and_write_count(worker),
    );
    let (reached, files, records) = match (WorkerProgress::at_wall(&window), window.wall) {
        (Some(reached), Some(wall)) => {
            // The current file was not finished.
            let files = options.files_of_rounds(wall.rounds.saturating_sub(1));
            match checks_stonewall_again(options, files) {
                true => (reached, files, records_of_first(files)),
                false => end,
            }
        }
        _ => end,
    };
    let records = match options.operation.call() == FileOperation::Close {
        true => records,
        false => 0,
    };
    let seconds = reached.seconds();
    let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    ThreadSums {
        seconds,
        files,
        records,
        files_per_second: rate(files as f64),
        iops: rate(records as f64),
        mib_per_second: rate(records as f64 * options.record_bytes() as f64 / MIB),
    }
}

/// Number of reads and writes of a thread.
fn read_and_write_count(worker: &WorkerTimes) -> u64 {
    let calls = [FileOperation::Write, FileOperation::Read];
    calls.iter().map(|call| worker.of(call.name()).count).sum()
}

/// `true` if a thread that has finished this many files checks for the stonewall again. Otherwise
/// it finishes all of its files, and they all count.
fn checks_stonewall_again(options: &SmallfileOptions, files: u64) -> bool {
    let between = options.files_between_checks();
    let next = (files + 1).next_multiple_of(between) - 1;
    options.has_stonewall && next < u64::from(options.files)
}

impl ThreadSums {
    /// The longest time, and the sums of everything else.
    pub(super) fn of(threads: &[Self]) -> Self {
        threads.iter().fold(Self::default(), |sum, it| Self {
            seconds: sum.seconds.max(it.seconds),
            files: sum.files + it.files,
            records: sum.records + it.records,
            // The original adds up the threads' rates, so the sum may exceed the files per elapsed
            // time.
            files_per_second: sum.files_per_second + it.files_per_second,
            iops: sum.iops + it.iops,
            mib_per_second: sum.mib_per_second + it.mib_per_second,
        })
    }
}

/// Share of the requested files that were finished, in percent.
pub(super) fn percent(options: &SmallfileOptions, thread_count: usize, files: u64) -> f64 {
    let requested = f64::from(options.files) * thread_count.max(1) as f64;
    100.0 * files as f64 / requested
}
