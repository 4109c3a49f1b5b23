//! Workloads of all kinds, with values at their limits and beyond: planning never panics, and what
//! `check` accepts starts on the `null` engine.

mod case_tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::facts::{SystemFacts, TargetFacts};
use plan::{Plan, TargetKind};
use results::RunEvent;
use run::{RunOptions, RunSpec};

use crate::command::check::accepted;
use case_tests::Cases;

/// Generated workloads, unless `PGMETER_ACCEPTED_CASES` says otherwise.
const CASE_COUNT: u64 = 10_000;
/// Run time of cells that are to last longer, in nanoseconds.
const RUN_TIME_NS: u64 = 1_000_000;

/// Little memory, so that nothing large is really allocated.
fn facts() -> SystemFacts {
    let directory = TargetFacts {
        exists: true,
        free_bytes: 1 << 40,
        total_bytes: 1 << 41,
        direct_alignment_bytes: 512,
        block_bytes: 512,
        ..TargetFacts::placeholder("/dev/shm", TargetKind::Directory)
    };
    SystemFacts {
        targets: vec![directory.clone()],
        default_target: Some(directory),
        cpu_count: 2,
        memory_bytes: 256 << 20,
        ..SystemFacts::default()
    }
}

/// Ends as soon as the first cell has begun; why it did not begin. Workers look for the end at
/// times that follow from the run time, which is cut short.
fn started(mut plan: Plan) -> Result<(), String> {
    for cell in plan.cells.iter_mut().filter(|cell| cell.steady.is_none()) {
        cell.run_time_ns = cell.run_time_ns.min(RUN_TIME_NS);
        cell.ramp_time_ns = 0;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let options = RunOptions {
        stop: Arc::clone(&stop),
        ..RunOptions::default()
    };
    let mut listener = |event: &RunEvent| {
        if matches!(
            event,
            RunEvent::CellStarted { .. } | RunEvent::Progress { .. }
        ) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let finished = run::measure(RunSpec::new(&plan, &mut listener), &options, None);
    finished
        .error
        .map_or(Ok(()), |error| Err(error.to_string()))
}

/// Carries out every case whose number leaves this rest; how many `check` accepts.
fn run_accepted_cases(directory: &Path, numbers: impl Iterator<Item = u64>) -> u64 {
    let (cases, facts) = (Cases::new(directory), facts());
    let mut count = 0;
    for number in numbers {
        let case = cases.case(number);
        let (Some(workloads), Some(overrides)) = (case.workloads, case.overrides) else {
            continue;
        };
        let Ok(planned) = accepted(&workloads, &overrides, &facts) else {
            continue;
        };
        if !planned.refusals.is_empty() {
            continue;
        }
        count += 1;
        if let Err(why) = started(planned.plan) {
            panic!("case {number}: {why}\n{}", case.text);
        }
    }
    count
}

#[test]
fn every_accepted_workload_starts_on_the_null_engine() {
    let cases = std::env::var("PGMETER_ACCEPTED_CASES");
    let cases = cases
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(CASE_COUNT);
    let directory = tempfile::tempdir().expect("a directory for files");
    let count: u64 = std::thread::scope(|scope| {
        let half = |first: u64| {
            let path = directory.path();
            scope.spawn(move || run_accepted_cases(path, (first..cases).step_by(2)))
        };
        let halves = [half(0), half(1)];
        halves
            .map(|it| it.join().expect("a case fails"))
            .iter()
            .sum()
    });
    assert!(count > cases / 3, "only {count} of {cases} were accepted");
}
