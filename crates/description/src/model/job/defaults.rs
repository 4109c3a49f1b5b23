//! Workload keys that are defaults for all jobs.

use units::Span;

use crate::model::{OneOrMany, UntilChoice, Workload};
use plan::job::FileCache;

use super::JobTable;

/// The table, with keys of the workload filled in where it has none.
///
/// Of several queue depths, only the first is used here: planning makes a workload of each.
pub(super) fn with_defaults(table: &JobTable, workload: &Workload) -> JobTable {
    let mut table = table.clone();
    let is_of_requests = table.names.is_none();
    or(&mut table.engine, workload.engine);
    or(&mut table.cache, workload.cache);
    or(&mut table.run_time, workload.run_time);
    or(&mut table.ramp_time, workload.ramp_time);
    or(&mut table.verify, workload.verify);
    or(&mut table.content, workload.content.clone());
    or(&mut table.count, workload.workers);
    let depths = workload
        .iodepth
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice);
    or(&mut table.iodepth, depths.first().copied());
    or(&mut table.batch, workload.batch);
    or(&mut table.sqpoll, workload.sqpoll);
    or(&mut table.iopoll, workload.iopoll);
    // The workload's start would be added to the job's own percentage.
    if table.start_percent.is_none() {
        or(&mut table.start, workload.start);
    }
    // A job with a size in bytes and in percent is refused.
    if table.size_percent.is_none() {
        or(&mut table.size, workload.size);
    }
    if workload.warm == Some(true) {
        or(&mut table.page_cache, Some(FileCache::Warm));
    }
    let is_counted = workload.operations.is_some();
    let lasts = workload.until == Some(UntilChoice::Steady)
        || workload.curve == Some(true)
        || workload.find_rate.is_some();
    if is_of_requests && (is_counted || lasts) {
        // Rounds, trials and `operations` need work that does not end on its own.
        table.loops = Some(0);
        // Otherwise the default run time would end the work before the last operation.
        or(&mut table.run_time, is_counted.then_some(Span(0)));
    }
    table
}

/// Number of clones of a table, whose default is the workload's `workers`.
pub(super) fn clone_count(table: &JobTable, workload: &Workload) -> u64 {
    table.count.or(workload.workers).unwrap_or(1).into()
}

fn or<T>(value: &mut Option<T>, default: Option<T>) {
    if value.is_none() {
        *value = default;
    }
}
