//! Merges descriptions: keys of one replace keys of its base.

use crate::model::keyed::{Keyed, both};
use crate::model::{Cycle, Cycling, DepthCycle, SteadyChoice, Workload};

/// Merges `over` over `under`, key by key. `cycling`, `steady` and the tables of classics are
/// merged by their own keys.
///
/// The amount of data may be defined in two ways; the definition in `over` counts.
pub(crate) fn overlay(mut under: Workload, mut over: Workload) -> Workload {
    keep_one_amount(&mut under, &over);
    over.steady = both(under.steady.take(), over.steady, overlay_steady);
    over.cycling = both(under.cycling.take(), over.cycling, overlay_cycling);
    over.fill_tables_from(&mut under);
    // These have no key in files.
    over.pack = over.pack.or(under.pack.take());
    over.built = over.built.or(under.built.take());
    over.jobs = over.jobs.or(under.jobs.take());
    // Last, because it fills only what is still missing.
    over.fill_from(under);
    over
}

fn keep_one_amount(under: &mut Workload, over: &Workload) {
    let says_all = over.times_memory.is_some() || over.total_size.is_some();
    if says_all {
        clear_amount(under);
    }
    if says_all || sets_amount(over) {
        (under.times_memory, under.total_size) = (None, None);
    }
}

/// Whether the size of a test file or the number of files is written.
pub(crate) fn sets_amount(workload: &Workload) -> bool {
    workload.size.is_some() || workload.file_count().is_some()
}

fn clear_amount(workload: &mut Workload) {
    workload.size = None;
    if let Some(pool) = workload.pool_counts_mut() {
        *pool.files = None;
    }
    if let Some((count, _)) = workload.file_count_mut() {
        *count = None;
    }
}

fn overlay_steady(under: SteadyChoice, over: SteadyChoice) -> SteadyChoice {
    SteadyChoice {
        window: over.window.or(under.window),
        range: over.range.or(under.range),
        excursion: over.excursion.or(under.excursion),
        rounds: over.rounds.or(under.rounds),
    }
}

fn overlay_cycling(under: Cycling, over: Cycling) -> Cycling {
    let cycle = |under: Cycle, over: Cycle| Cycle {
        start: over.start.or(under.start),
        step: over.step.or(under.step),
        kind: over.kind.or(under.kind),
    };
    let depth = |under: DepthCycle, over: DepthCycle| DepthCycle {
        start: over.start.or(under.start),
        end: over.end.or(under.end),
        step: over.step.or(under.step),
        kind: over.kind.or(under.kind),
    };
    Cycling {
        workers: both(under.workers, over.workers, cycle),
        targets: both(under.targets, over.targets, cycle),
        iodepth: both(under.iodepth, over.iodepth, depth),
    }
}
