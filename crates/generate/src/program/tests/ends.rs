//! What one moment means to all workers of a phase.

use plan::program::PhaseEndAction;

use super::*;

/// Three workers that look at a file over and over, each at times of its own.
fn stat_workers(rounds: u64) -> (Program, ProgramPhase, Setting) {
    let program = of(vec![set("files", 1)], &[]);
    let mut phase = phase(vec![
        act(
            FileOperation::Stat,
            CallObject::Name(around(0, FileFilter::Present)),
        ),
        Act::Think(Law::of(Shape::Exponential { mean: 1e6 })),
    ]);
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: rounds,
        of: AmountScope::Each,
    }];
    let setting = Setting {
        workers: 3,
        present: vec![1],
        ..Setting::default()
    };
    (program, phase, setting)
}

fn rounds(outcome: &PhaseOutcome) -> Vec<u64> {
    let rounds = outcome.workers.iter().map(|worker| worker.amounts().rounds);
    rounds.collect()
}

fn marks(outcome: &PhaseOutcome) -> Vec<Option<u64>> {
    let marks = outcome
        .workers
        .iter()
        .map(|worker| worker.stamps().stonewall);
    marks
        .map(|mark| mark.map(|mark| mark.amounts.rounds))
        .collect()
}

#[test]
fn when_time_is_up_all_workers_catch_up_with_the_fastest() {
    let (program, mut phase, setting) = stat_workers(1_000_000);
    phase.time_ns = Some(50_000_000);
    phase.time_up = PhaseEndAction::Level;
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    let (rounds, marks) = (rounds(&outcome), marks(&outcome));
    assert!(
        rounds.iter().all(|count| *count == rounds[0]),
        "{rounds:?} behind {marks:?}"
    );
    assert_eq!(marks.iter().flatten().max(), Some(&rounds[0]));
    assert!(marks.iter().flatten().any(|count| *count < rounds[0]));
}

#[test]
fn a_worker_that_finishes_before_time_is_up_sets_the_level() {
    let (program, mut phase, setting) = stat_workers(20);
    phase.time_ns = Some(20_000_000);
    phase.time_up = PhaseEndAction::Level;
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    assert!(rounds(&outcome).iter().all(|count| *count <= 20));
    assert_eq!(
        rounds(&outcome).iter().min(),
        rounds(&outcome).iter().max(),
        "{:?}",
        marks(&outcome)
    );
}

#[test]
fn the_first_worker_that_finishes_stops_the_others() {
    let (program, mut phase, setting) = stat_workers(50);
    phase.first_done = Some(PhaseEndAction::Stop);
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    assert_eq!(rounds(&outcome).iter().max(), Some(&50));
    assert!(rounds(&outcome).iter().filter(|count| **count < 50).count() >= 1);
    assert_eq!(marks(&outcome), [None; 3]);
}

#[test]
fn the_progress_of_the_others_is_noted_when_the_first_finishes() {
    let (program, mut phase, setting) = stat_workers(50);
    phase.first_done = Some(PhaseEndAction::Finish);
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    assert_eq!(rounds(&outcome), [50; 3]);
    let marks = marks(&outcome);
    assert!(marks.contains(&None), "the first notes nothing: {marks:?}");
    assert!(marks.iter().flatten().all(|count| *count <= 50));
    for worker in &outcome.workers {
        let stamps = worker.stamps();
        assert!(stamps.body_start_ns > 0 && stamps.body_end_ns > stamps.body_start_ns);
        if let Some(mark) = stamps.stonewall {
            assert!((stamps.body_start_ns..=stamps.body_end_ns).contains(&mark.at_ns));
        }
    }
}

#[test]
fn a_failed_worker_leaves_while_the_others_continue() {
    let (program, mut phase, mut setting) = stat_workers(50);
    phase.time_ns = Some(10_000_000_000);
    phase.time_up = PhaseEndAction::Level;
    phase.groups[0].failed = OnFailure::EndWorker;
    setting.failing = [7].into();
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    let rounds = rounds(&outcome);
    assert_eq!(rounds.iter().filter(|count| **count == 50).count(), 2);
}
