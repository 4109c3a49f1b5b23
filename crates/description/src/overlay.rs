//! One description laid over another: what is written above replaces what is written below.

use crate::model::{Cycle, Cycling, DepthCycle, SteadyChoice, Workload};

/// `over` laid over `under`, key by key; the steps of `cycling`, the keys of `steady` and those of
/// a file workload's table one by one.
///
/// How much data there is can be said in two ways, of which the upper one holds.
pub(crate) fn overlay(mut under: Workload, over: Workload) -> Workload {
    keep_one_amount(&mut under, &over);
    let each = over.transactions_per_connection;
    let each = each.or(under.transactions_per_connection);
    Workload {
        name: over.name.or(under.name),
        title: over.title.or(under.title),
        description: over.description.or(under.description),
        source: over.source.or(under.source),
        base: over.base.or(under.base),
        targets: over.targets.or(under.targets),
        engine: over.engine.or(under.engine),
        cache: over.cache.or(under.cache),
        iodepth: over.iodepth.or(under.iodepth),
        rate: over.rate.or(under.rate),
        curve: over.curve.or(under.curve),
        find_rate: over.find_rate.or(under.find_rate),
        find_depth: over.find_depth.or(under.find_depth),
        arrivals: over.arrivals.or(under.arrivals),
        workers: over.workers.or(under.workers),
        size: over.size.or(under.size),
        times_memory: over.times_memory.or(under.times_memory),
        total_size: over.total_size.or(under.total_size),
        start: over.start.or(under.start),
        run_time: over.run_time.or(under.run_time),
        ramp_time: over.ramp_time.or(under.ramp_time),
        operations: over.operations.or(under.operations),
        pack: over.pack.or(under.pack),
        new_file: over.new_file.or(under.new_file),
        precondition: over.precondition.or(under.precondition),
        until: over.until.or(under.until),
        steady: both(under.steady, over.steady, overlay_steady),
        repetitions: over.repetitions.or(under.repetitions),
        precision: over.precision.or(under.precision),
        budget: over.budget.or(under.budget),
        seed: over.seed.or(under.seed),
        cpus: over.cpus.or(under.cpus),
        verify: over.verify.or(under.verify),
        keep: over.keep.or(under.keep),
        warm: over.warm.or(under.warm),
        transactions_per_connection: each,
        position: over.position.or(under.position),
        cursor: over.cursor.or(under.cursor),
        content: over.content.or(under.content),
        sqpoll: over.sqpoll.or(under.sqpoll),
        iopoll: over.iopoll.or(under.iopoll),
        batch: over.batch.or(under.batch),
        test_type: over.test_type.or(under.test_type),
        cycling: both(under.cycling, over.cycling, overlay_cycling),
        postmark: both(under.postmark, over.postmark, |low, high| high.over(low)),
        create_remove: both(under.create_remove, over.create_remove, |low, high| {
            high.over(low)
        }),
        lat_fs: both(under.lat_fs, over.lat_fs, |under, over| over.over(under)),
        fs_mark: both(under.fs_mark, over.fs_mark, |under, over| over.over(under)),
        fileset: non_empty(over.fileset, under.fileset),
        way: non_empty(over.way, under.way),
        tokens: non_empty(over.tokens, under.tokens),
        phase: non_empty(over.phase, under.phase),
        rounds: non_empty(over.rounds, under.rounds),
        built: over.built.or(under.built),
        jobs: over.jobs.or(under.jobs),
        job: non_empty(over.job, under.job),
        access_spec: non_empty(over.access_spec, under.access_spec),
        iometer: over.iometer.or(under.iometer),
        worker: non_empty(over.worker, under.worker),
        part: non_empty(over.part, under.part),
    }
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

fn non_empty<T>(over: Vec<T>, under: Vec<T>) -> Vec<T> {
    if over.is_empty() { under } else { over }
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
