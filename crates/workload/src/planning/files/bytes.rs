//! How many bytes files take at once, and which sizes their system calls have.

use crate::classics::fs_mark::FsMarkPlan;
use crate::model::{Table, Workload};
use crate::plan::FilePlan;

/// What a file takes at least, unless it is empty; most file systems have blocks of this size.
const BLOCK_BYTES: u64 = 4096;

/// Bytes that the files of one of `worker_count` workers take at once, at most or nearly so.
pub(in crate::planning) fn at_once(files: &FilePlan, worker_count: u32) -> u64 {
    match files {
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

fn iterations(plan: &FsMarkPlan) -> u64 {
    let kept = if plan.is_kept { plan.iterations } else { 1 };
    on_disk(plan.size_bytes)
        .saturating_mul(u64::from(plan.file_count))
        .saturating_mul(u64::from(kept))
}

/// The sizes that direct I/O moves, with what sets them; all must be multiples of the
/// target's block.
pub(super) fn moved(workload: &Workload, files: &FilePlan, table: Table) -> Vec<(String, u64)> {
    let keys = match files {
        FilePlan::Program(program) => {
            let amounts = program.direct_amounts();
            match workload.table_amounts() {
                Ok(keys) if !amounts.is_empty() && !keys.is_empty() => keys,
                _ => {
                    let amounts = amounts.into_iter().map(|it| (it.what, it.bytes));
                    let pool = program.pool.iter().flat_map(|pool| pool.direct_amounts());
                    let pool = pool.map(|(key, bytes)| (format!("`{}.{key}`", table.key()), bytes));
                    return amounts.chain(pool).collect();
                }
            }
        }
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

    #[test]
    fn workers_take_the_bytes_of_their_shares() {
        let plan = crate::classics::CreateRemove {
            count: Some(9),
            ..crate::classics::CreateRemove::default()
        };
        let files = FilePlan::Program(Box::new(plan.resolve().unwrap().program()));
        assert_eq!(at_once(&files, 3), 3 << 16);
    }
}
