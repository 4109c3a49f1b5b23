//! One description laid over another: what is written above replaces what is written below.

use crate::model::by_key::Keyed;
use crate::model::{Cycle, Cycling, DepthCycle, SteadyChoice, Workload};

/// `over` laid over `under`, key by key; the steps of `cycling`, the keys of `steady` and those of
/// a file workload's table one by one.
///
/// How much data there is can be said in two ways, of which the upper one holds.
pub(crate) fn overlay(mut under: Workload, mut over: Workload) -> Workload {
    keep_one_amount(&mut under, &over);
    over.steady = both(under.steady.take(), over.steady, overlay_steady);
    over.cycling = both(under.cycling.take(), over.cycling, overlay_cycling);
    over.postmark = both(under.postmark.take(), over.postmark, |low, high| {
        high.over(low)
    });
    over.create_remove = both(
        under.create_remove.take(),
        over.create_remove,
        |low, high| high.over(low),
    );
    over.lat_fs = both(under.lat_fs.take(), over.lat_fs, |low, high| high.over(low));
    over.fs_mark = both(under.fs_mark.take(), over.fs_mark, |low, high| {
        high.over(low)
    });
    // What no file says has no key.
    over.pack = over.pack.or(under.pack.take());
    over.built = over.built.or(under.built.take());
    over.jobs = over.jobs.or(under.jobs.take());
    over.lay_over(under);
    over
}

fn keep_one_amount(under: &mut Workload, over: &Workload) {
    let says_all = over.times_memory.is_some() || over.total_size.is_some();
    if says_all {
        forget_amount(under);
    }
    if says_all || says_amount(over) {
        (under.times_memory, under.total_size) = (None, None);
    }
}

/// Whether the size of a test file or the number of files is written.
pub(crate) fn says_amount(workload: &Workload) -> bool {
    let number = workload.postmark.as_ref().and_then(|it| it.number);
    let files = workload.fs_mark.as_ref().and_then(|it| it.files);
    workload.size.is_some() || number.or(files).or(workload.file_count()).is_some()
}

fn forget_amount(workload: &mut Workload) {
    workload.size = None;
    if let Some(postmark) = &mut workload.postmark {
        postmark.number = None;
    }
    if let Some(fs_mark) = &mut workload.fs_mark {
        fs_mark.files = None;
    }
    if let Some((count, _)) = workload.file_count_mut() {
        *count = None;
    }
}

fn both<T>(under: Option<T>, over: Option<T>, merge: impl Fn(T, T) -> T) -> Option<T> {
    match (under, over) {
        (Some(under), Some(over)) => Some(merge(under, over)),
        (under, over) => over.or(under),
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
