//! How many bytes files take at once, and which sizes their system calls have.

use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::FsMarkPlan;
use crate::classics::lat_fs::{Form, LatFsPlan};
use crate::classics::share;
use crate::plan::FilePlan;
use crate::postmark::Settings;

/// What a file takes at least, unless it is empty; most file systems have blocks of this size.
const BLOCK_BYTES: u64 = 4096;

/// More than any file system takes in, in bytes per nanosecond: 16 GB/s.
const BYTES_PER_NS_MAX: u64 = 16;

/// How far the number of files of a pool may drift from what is expected, in standard deviations.
const DRIFT_SIGMAS: f64 = 3.0;

/// Bytes that the files of one of `worker_count` workers take at once, at most or nearly so.
pub(super) fn at_once(files: &FilePlan, worker_index: u32, worker_count: u32) -> u64 {
    match files {
        FilePlan::Postmark(plan) => pool(&plan.settings),
        FilePlan::CreateRemove(plan) => {
            let own = share(plan.file_count, worker_index, worker_count);
            largest(plan).saturating_mul(own.len() as u64)
        }
        FilePlan::LatFs(plan) => passes(plan),
        FilePlan::FsMark(plan) => iterations(plan),
        FilePlan::Program(program) => {
            let all = program.space_needed().bytes;
            all.div_ceil(u64::from(worker_count.max(1)))
        }
    }
}

/// Rounded up to whole blocks.
const fn on_disk(size_bytes: u64) -> u64 {
    match size_bytes.checked_next_multiple_of(BLOCK_BYTES) {
        Some(bytes) => bytes,
        None => u64::MAX,
    }
}

/// The files that a pool may come to: as many as at the start, what more is created than deleted,
/// and three standard deviations of that; at most the slots of the table.
///
/// Source: a sum of n independent steps of +1 with chance p and -1 otherwise has the mean
/// n (2p - 1) and the variance 4 n p (1 - p).
pub(super) fn pool_files(settings: &Settings) -> u64 {
    let Some(tenths) = settings.create_bias else {
        return u64::from(settings.number);
    };
    let chance = f64::from(tenths) / 10.0;
    let steps = f64::from(settings.transactions);
    let mean = steps * (2.0 * chance - 1.0);
    let deviation = (4.0 * steps * chance * (1.0 - chance)).sqrt();
    let growth = (mean + DRIFT_SIGMAS * deviation).max(0.0);
    let slots = 2 * u64::from(settings.number);
    // Far below 2^53.
    u64::from(settings.number)
        .saturating_add(growth.ceil() as u64)
        .min(slots)
}

fn pool(settings: &Settings) -> u64 {
    let files = pool_files(settings);
    let (low, high) = (settings.size_low_bytes, settings.size_high_bytes);
    let (low, high) = (u64::from(low), u64::from(high));
    let most = files.saturating_mul(on_disk(high));
    let mean = (low + high) / 2 + BLOCK_BYTES;
    // A transaction that appends adds half of what is missing to the upper bound, or less.
    let append_tenths = settings
        .read_bias
        .map_or(0, |tenths| 10 - u64::from(tenths));
    let appends = u64::from(settings.transactions) * append_tenths / 10;
    let appended = appends.saturating_mul((high - low) / 2);
    files
        .saturating_mul(mean)
        .saturating_add(appended)
        .min(most)
}

fn largest(plan: &CreateRemovePlan) -> u64 {
    on_disk(plan.sizes_bytes.iter().copied().max().unwrap_or(0))
}

fn passes(plan: &LatFsPlan) -> u64 {
    let largest = on_disk(plan.sizes_bytes.iter().copied().max().unwrap_or(0));
    match plan.form {
        Form::Best { file_count, .. } => largest.saturating_mul(u64::from(file_count)),
        // As many files as fit into the time of a sample, which the calibration may overshoot.
        Form::Median { sample_ns, .. } => sample_ns
            .saturating_mul(BYTES_PER_NS_MAX)
            .saturating_add(largest),
    }
}

fn iterations(plan: &FsMarkPlan) -> u64 {
    let kept = if plan.is_kept { plan.iterations } else { 1 };
    on_disk(plan.size_bytes)
        .saturating_mul(u64::from(plan.file_count))
        .saturating_mul(u64::from(kept))
}

/// The sizes that direct I/O moves, with what sets them; all must be multiples of the
/// target's block.
pub(super) fn moved(files: &FilePlan) -> Vec<(String, u64)> {
    let keys = match files {
        FilePlan::Program(program) => {
            let amounts = program.direct_amounts().into_iter();
            return amounts.map(|it| (it.what, it.bytes)).collect();
        }
        FilePlan::Postmark(plan) => moved_by_postmark(&plan.settings),
        FilePlan::CreateRemove(plan) => of_files(
            "create_remove.sizes",
            &plan.sizes_bytes,
            Some(("create_remove.write_size", plan.write_bytes)),
        ),
        // Files are written at once, or in pieces of 128 KiB.
        FilePlan::LatFs(plan) => of_files("lat_fs.sizes", &plan.sizes_bytes, None),
        FilePlan::FsMark(plan) => of_files(
            "fs_mark.size",
            &[plan.size_bytes],
            Some(("fs_mark.write_size", plan.write_bytes)),
        ),
    };
    let keys = keys.into_iter();
    keys.map(|(key, bytes)| (format!("`{key}`"), bytes))
        .collect()
}

fn moved_by_postmark(settings: &Settings) -> Vec<(&'static str, u64)> {
    let mut sizes = vec![
        ("postmark.min_size", u64::from(settings.size_low_bytes)),
        ("postmark.max_size", u64::from(settings.size_high_bytes)),
    ];
    if settings.size_low_bytes < settings.size_high_bytes {
        // New files have any size in between, and so has what is appended.
        sizes.push(("postmark.max_size", u64::from(settings.size_high_bytes) - 1));
    }
    if !settings.is_buffered {
        sizes.push(("postmark.read_block", settings.read_block_bytes.into()));
        sizes.push(("postmark.write_block", settings.write_block_bytes.into()));
    }
    sizes
}

/// The size of one write counts only where a file takes more than one.
fn of_files(
    key: &'static str,
    sizes_bytes: &[u64],
    write: Option<(&'static str, u32)>,
) -> Vec<(&'static str, u64)> {
    let largest = sizes_bytes.iter().copied().max().unwrap_or(0);
    let write = write.map(|(key, bytes)| (key, u64::from(bytes)));
    let write = write.filter(|(_, bytes)| *bytes < largest);
    let sizes = sizes_bytes.iter().map(|bytes| (key, *bytes));
    sizes.chain(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postmark::Compat;

    fn settings(number: u32, transactions: u32) -> Settings {
        Settings {
            number,
            transactions,
            ..Settings::new(Compat::default())
        }
    }

    #[test]
    fn a_pool_drifts_by_the_root_of_the_transactions() {
        // The published run of 9999 files and 5000000 transactions had 10993 at its end.
        assert_eq!(pool_files(&settings(9999, 5_000_000)), 9999 + 6709);
        assert_eq!(pool_files(&settings(500, 500)), 500 + 68);
        assert_eq!(pool_files(&settings(1000, 5_000_000)), 2000);
    }

    #[test]
    fn a_bias_makes_a_pool_grow_shrink_or_stay() {
        let with = |create_bias| Settings {
            create_bias,
            ..settings(1000, 500)
        };
        assert_eq!(pool_files(&with(Some(10))), 1500);
        assert_eq!(pool_files(&with(Some(0))), 1000);
        assert_eq!(pool_files(&with(None)), 1000);
    }

    #[test]
    fn a_pool_takes_no_more_than_its_largest_files() {
        let long = settings(9999, 5_000_000);
        assert_eq!(pool(&long), 16_708 * 12_288);
        // Few transactions append to few of many files.
        let many = pool(&settings(1_000_000, 500));
        assert!((9_346_000_000..9_400_000_000).contains(&many), "{many}");
        let fixed = Settings {
            size_low_bytes: 100,
            size_high_bytes: 100,
            ..settings(10, 10)
        };
        assert_eq!(pool(&fixed), 20 * 4096);
    }

    #[test]
    fn workers_take_the_bytes_of_their_shares() {
        let plan = crate::classics::CreateRemove {
            count: Some(10),
            ..crate::classics::CreateRemove::default()
        };
        let files = FilePlan::CreateRemove(plan.resolve().unwrap());
        let all: Vec<u64> = (0..3).map(|worker| at_once(&files, worker, 3)).collect();
        assert_eq!(all, [3 << 16, 3 << 16, 4 << 16]);
    }
}
