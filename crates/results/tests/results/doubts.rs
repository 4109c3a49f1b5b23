//! Which figures deserve doubt.

use std::path::Path;

use plan::job::{BlockRule, JobPlan, ReadWriteMix, SizeRule, StreamEnd, StreamPlan};
use plan::{CacheMode, ContentPlan, EngineKind, Plan};
use results::{
    CellRecord, Environment, IntervalFigures, IntervalRecord, Phase, RoundRecord, RunRecord,
    Standstill, StandstillCause, Status, SteadyRecord, SteadyRule, WarningCode, WithinRun,
};
use results::{
    Warning, doubt, effect, environment_warnings, load_warning, percentile_is_supported,
    store_io_warning,
};

use crate::sample;

pub fn setting() -> (Plan, CellRecord) {
    let plan = sample::plan();
    let cell = sample::cell_record(&plan, 0, 100_000);
    (plan, cell)
}

pub fn warnings_of(plan: &Plan, cell: &CellRecord) -> Vec<(WarningCode, String)> {
    doubt(cell, &sample::environment(), plan)
        .into_iter()
        .map(|warning| {
            assert_eq!(warning.cell, Some(0));
            (warning.code, warning.message)
        })
        .collect()
}

pub fn only(plan: &Plan, cell: &CellRecord, code: WarningCode, message: &str) {
    assert_eq!(warnings_of(plan, cell), [(code, message.to_owned())]);
}

#[test]
fn a_sound_cell_raises_no_doubt() {
    let (plan, cell) = setting();
    assert_eq!(warnings_of(&plan, &cell), []);
}

#[test]
fn stolen_time_is_reported() {
    let (plan, mut cell) = setting();
    cell.cpu.machine.as_mut().unwrap().steal = 0.025;
    let message = "the hypervisor withheld 2.5 % of the CPU time (steal)";
    only(&plan, &cell, WarningCode::StealTime, message);
}

#[test]
fn few_operations_do_not_make_percentiles() {
    let plan = sample::plan();
    let mut cell = sample::cell_record(&plan, 0, 500);
    cell.intervals.clear();
    let message = "500 operations are too few for p99 and p99.9; a percentile needs 10 beyond it";
    only(&plan, &cell, WarningCode::FewSamplesForPercentile, message);
}

#[test]
fn few_operations_state_the_precision_of_their_rate() {
    let (plan, mut cell) = setting();
    let few = |cell: &CellRecord| {
        let mut doubts = warnings_of(&plan, cell).into_iter();
        doubts
            .find(|(code, _)| *code == WarningCode::FewOperations)
            .map(|(_, message)| message)
    };
    cell.total.count = 33;
    (cell.iodepth, cell.workers) = (1, 1);
    let message = "only 33 operations were measured, so the rate may be off by 3.0 %";
    assert_eq!(few(&cell).as_deref(), Some(message));
    (cell.iodepth, cell.workers) = (8, 2);
    let message = "only 33 operations were measured, 16 at a time, so the rate may be off by \
                   48 %";
    assert_eq!(few(&cell).as_deref(), Some(message));
    cell.total.count = 100;
    assert_eq!(few(&cell), None);
    // The plan requests this number of operations, so a short run is no reason for doubt.
    cell.total.count = 33;
    let mut count_plan = plan.clone();
    count_plan.cells[0].operations = Some(33);
    let is_doubted = |cell: &CellRecord| {
        let mut doubts = warnings_of(&count_plan, cell).into_iter();
        doubts.any(|(code, _)| code == WarningCode::FewOperations)
    };
    assert!(is_doubted(&cell), "the time was over first");
    cell.run_time_ns = cell.planned_run_time_ns / 2;
    assert!(!is_doubted(&cell));
    cell.planned_run_time_ns = 0;
    assert_eq!(few(&cell), None);
}

#[test]
fn ten_samples_beyond_a_percentile_are_enough() {
    assert!(percentile_is_supported(10_000, 99.9));
    assert!(!percentile_is_supported(9_999, 99.9));
    assert!(percentile_is_supported(20, 50.0));
    assert!(!percentile_is_supported(0, 50.0));
}

#[test]
fn a_buffered_file_that_fits_in_memory_is_reported() {
    let (plan, mut cell) = setting();
    cell.cache = CacheMode::Buffered;
    let doubts = warnings_of(&plan, &cell);
    assert_eq!(doubts[0].0, WarningCode::FileSmallerThanMemory);
    assert!(
        doubts[0].1.starts_with("the data is 12 % of the memory"),
        "{}",
        doubts[0].1
    );
}

#[test]
fn compressible_content_is_reported_if_it_is_written() {
    let (mut plan, cell) = setting();
    plan.cells[0].workers[0].content = ContentPlan::Zero;
    assert_eq!(
        warnings_of(&plan, &cell)[0].0,
        WarningCode::CompressibleContent
    );
    for line in &mut plan.cells[0].workers[0].lines {
        line.read_percent = 100.0;
    }
    assert_eq!(warnings_of(&plan, &cell), []);
}

#[test]
fn errors_and_short_transfers_are_reported() {
    let (plan, mut cell) = setting();
    cell.total.errors = 2;
    cell.total.short_count = 3;
    cell.errors = vec![results::ErrnoCount {
        operation: "read".into(),
        errno: 5,
        message: "Input/output error".into(),
        count: 2,
    }];
    let wanted = [
        (
            WarningCode::IoErrors,
            "2 operations failed: 2 x read (Input/output error)".to_owned(),
        ),
        (
            WarningCode::ShortTransfers,
            "3 operations moved fewer bytes than requested".to_owned(),
        ),
    ];
    assert_eq!(warnings_of(&plan, &cell), wanted);
}

#[test]
fn empty_and_interrupted_cells_are_reported() {
    let (plan, mut cell) = setting();
    cell.status = Status::Interrupted;
    let message = "the cell ended early; its results cover 10.0 s";
    only(&plan, &cell, WarningCode::CellCutShort, message);
    let empty = CellRecord::of(
        &plan.cells[0],
        &plan,
        &stats::Interval::default(),
        0,
        sample::NAMES,
    );
    let within = "all work was done during the ramp of 2s, so there is nothing to report";
    only(&plan, &empty, WarningCode::NothingMeasured, within);
    let interrupted = CellRecord {
        status: Status::Interrupted,
        ..empty.clone()
    };
    let message = "the run was interrupted before anything was measured";
    only(&plan, &interrupted, WarningCode::NothingMeasured, message);
    let without = CellRecord {
        ramp_time_ns: 0,
        ..empty
    };
    let message = "no operation succeeded, so there is nothing to report";
    only(&plan, &without, WarningCode::NothingMeasured, message);
}

fn intervals(counts: &[u64]) -> Vec<IntervalRecord> {
    (0..)
        .zip(counts)
        .map(|(second, &count)| IntervalRecord {
            at_ns: second * sample::SECOND,
            length_ns: sample::SECOND,
            operations: [(
                "read".to_owned(),
                IntervalFigures {
                    count,
                    ..Default::default()
                },
            )]
            .into(),
            ..IntervalRecord::default()
        })
        .collect()
}

/// The cell with these counts of reads, one a second.
fn over_time(counts: &[u64]) -> (Plan, CellRecord) {
    let (plan, mut cell) = setting();
    cell.intervals = intervals(counts);
    cell.within = WithinRun::of(&cell);
    (plan, cell)
}

#[test]
fn a_falling_rate_is_not_steady() {
    let counts = [1000, 971, 949, 928, 900, 876, 852, 826, 799, 774, 751];
    let (plan, cell) = over_time(&counts);
    let message = "the rate fell by 23 % during the measurement: 985.5 per second in its first \
                   fifth, 762.5 in its last";
    only(&plan, &cell, WarningCode::NotSteady, message);
    // The rest of a second at the end is not an interval.
    let cut = [&counts[..], &[3]].concat();
    let (plan, mut cell) = over_time(&cut);
    cell.intervals[11].length_ns = sample::SECOND / 100;
    cell.within = WithinRun::of(&cell);
    assert_eq!(cell.within.unwrap().intervals, 11);
    assert_eq!(plan.cells.len(), 2);
}

#[test]
fn noise_is_not_a_trend() {
    let noise = [1000, 700, 1100, 800, 1200, 900, 1150, 900, 760, 1190, 850];
    for counts in [&noise[..], &[1000; 12], &[0; 12]] {
        let (plan, cell) = over_time(counts);
        assert_eq!(warnings_of(&plan, &cell), []);
    }
}

#[test]
fn too_few_intervals_say_nothing() {
    let (plan, cell) = over_time(&[1000, 900, 800, 700, 600, 500, 400, 300, 200]);
    assert_eq!((&cell.within, warnings_of(&plan, &cell)), (&None, vec![]));
    let (_, cell) = over_time(&[1000; 10]);
    let within = cell.within.unwrap();
    assert_eq!((within.effective, within.warm_up), (None, None));
    assert!(within.drift.is_some());
}

#[test]
fn a_warm_up_longer_than_the_ramp_is_reported() {
    let settled = (0..26).map(|index| 1000 + index * 37 % 11);
    let counts: Vec<u64> = [500, 650, 800, 900].into_iter().chain(settled).collect();
    let (plan, cell) = over_time(&counts);
    let within = cell.within.clone().unwrap();
    let warm_up = within.warm_up.unwrap();
    assert_eq!(
        (warm_up.length_ns, within.intervals),
        (4 * sample::SECOND, 30)
    );
    assert!((1000.0..1011.0).contains(&warm_up.settled_mean));
    assert!(within.mean < 970.0 && !within.drift.unwrap().is_beyond);
    let message = "the first 4.0 s of the measurement were still warm-up: 965.8 per second with \
                   them, 1.005k without";
    only(&plan, &cell, WarningCode::WarmUp, message);
}

#[test]
fn a_steady_run_is_as_certain_as_its_interval_count_allows() {
    let noise = |index: u64| 1000 + index * 7919 % 101;
    let counts: Vec<u64> = (0..40).map(noise).collect();
    let (plan, cell) = over_time(&counts);
    assert_eq!(warnings_of(&plan, &cell), []);
    let within = cell.within.unwrap();
    assert_eq!((within.intervals, within.warm_up), (40, None));
    assert!((20.0..=40.0).contains(&within.effective.unwrap()));
    let [low, high] = [within.ci95_low, within.ci95_high].map(Option::unwrap);
    assert!(low < within.mean && within.mean < high);
    assert!(within.precision().unwrap() < 0.02);
}

/// The cell with rounds of these rates.
fn in_rounds(rates: &[f64]) -> (Plan, CellRecord) {
    let (plan, mut cell) = setting();
    let mut state = stats::SteadyState::new(SteadyRule::default());
    rates.iter().for_each(|rate| {
        state.push(*rate);
    });
    let round = |per_second: &f64| RoundRecord {
        per_second: *per_second,
        ..RoundRecord::default()
    };
    cell.steady = Some(SteadyRecord {
        rule: *state.rule(),
        verdict: state.verdict(),
        rounds: rates.iter().map(round).collect(),
        window: state.window(),
    });
    (plan, cell)
}

#[test]
fn rounds_that_never_settled_are_reported_as_not_steady() {
    let rates: Vec<f64> = (0..25)
        .map(|round| 2000.0 - f64::from(round) * 50.0)
        .collect();
    let (plan, cell) = in_rounds(&rates);
    let message = "not steady after 25 rounds: the last 5 differ by 22 % (20 % is allowed) and \
                   their trend changes by 22 % (10 % is allowed), -5.6 % per round";
    only(&plan, &cell, WarningCode::NotSteady, message);
    let (plan, mut cell) = in_rounds(&[1000.0; 5]);
    // The rule allows this drift within the window.
    cell.intervals = over_time(&[1000, 971, 949, 928, 900, 876, 852, 826, 799, 774, 751])
        .1
        .intervals;
    cell.within = WithinRun::of(&cell);
    assert_eq!(warnings_of(&plan, &cell), []);
}

#[test]
fn phases_of_a_classic_have_no_within_run_statistics() {
    let (_, mut cell) = over_time(&[1000; 30]);
    cell.phase = Phase::Classic("create".to_owned());
    assert_eq!(WithinRun::of(&cell), None);
}

#[test]
fn a_late_interval_is_reported() {
    let (plan, mut cell) = setting();
    cell.intervals = intervals(&[100; 6]);
    cell.intervals[2].length_ns = 3 * sample::SECOND;
    for figures in cell.intervals[2].operations.values_mut() {
        figures.count = 300;
    }
    let message = "1 of 6 intervals were longer than planned; their rates use their true length";
    only(&plan, &cell, WarningCode::IntervalLate, message);
    cell.cpu.machine.as_mut().unwrap().busy = 0.97;
    let message = "1 of 6 intervals were longer than planned: the CPUs were 97 % busy; their \
                   rates use their true length";
    only(&plan, &cell, WarningCode::IntervalLate, message);
    // With shorter intervals, the same relative delay is too short to report.
    let mut short = cell.clone();
    for interval in &mut short.intervals {
        interval.at_ns /= 10;
        interval.length_ns /= 10;
    }
    assert_eq!(warnings_of(&plan, &short), []);
    // One that stood still is long for another reason.
    cell.standstills = vec![Standstill {
        at_ns: cell.intervals[2].at_ns + sample::SECOND / 2,
        length_ns: 2 * sample::SECOND,
        cause: StandstillCause::Stopped,
        is_left_out: false,
    }];
    cell.status = Status::Failed;
    let message = "the run was stopped, frozen or paused for 2.0 s, 2.5 s after the measurement \
        began; the results are not valid";
    only(&plan, &cell, WarningCode::StoodStill, message);
    cell.standstills[0].is_left_out = true;
    cell.status = Status::Complete;
    let message = "the run was stopped, frozen or paused for 2.0 s, 2.5 s after the measurement \
        began; that time is excluded from the results";
    only(&plan, &cell, WarningCode::StoodStill, message);
}

#[test]
fn a_failed_run_states_the_reason() {
    let (plan, mut cell) = setting();
    let mut record = RunRecord::new(plan.clone(), sample::environment(), Vec::new());
    record.finish(Status::Complete);
    cell.standstills = vec![Standstill {
        at_ns: sample::SECOND,
        length_ns: 2 * sample::SECOND,
        cause: StandstillCause::Stopped,
        is_left_out: true,
    }];
    for (is_left_out, status) in [(true, Status::Complete), (false, Status::Failed)] {
        cell.standstills[0].is_left_out = is_left_out;
        cell.status = status;
        record.warnings = doubt(&cell, &sample::environment(), &plan);
        record.cells = vec![cell.clone()];
        let failures: Vec<_> = record.failures().map(|it| it.code.clone()).collect();
        assert_eq!(record.has_failure(), !is_left_out);
        assert_eq!(failures.contains(&WarningCode::StoodStill), !is_left_out);
    }
}

#[test]
fn missing_ring_flags_are_reported() {
    let (plan, mut cell) = setting();
    cell.engine_notes.ring.as_mut().unwrap().missing = vec!["NO_SQARRAY".into()];
    let message = "this kernel does not support io_uring's NO_SQARRAY";
    only(&plan, &cell, WarningCode::RingFlagsMissing, message);
}

#[test]
fn a_cell_missing_from_the_plan_causes_no_panic() {
    let (mut plan, mut cell) = setting();
    plan.cells.clear();
    plan.targets.clear();
    cell.cache = CacheMode::Buffered;
    assert_eq!(warnings_of(&plan, &cell), []);
}

#[test]
fn an_unstable_clock_is_reported() {
    let mut environment: Environment = sample::environment();
    assert_eq!(environment_warnings(&environment), []);
    environment.clock.stable = Some(false);
    environment.clock.source = "hpet".into();
    let codes: Vec<_> = environment_warnings(&environment)
        .into_iter()
        .map(|warning| warning.code)
        .collect();
    assert_eq!(codes, [WarningCode::ClockUnstable]);
}

#[test]
fn load_before_a_run_is_reported_if_others_kept_using_idle_cpus() {
    let mut environment: Environment = sample::environment();
    environment.cpu.logical_count = 4;
    let (_, mut cell) = setting();
    cell.cpu.utilization = 1.0;
    let mut load_message = |load: f64, busy: Option<f64>| {
        environment.load_before.one_minute = load;
        cell.cpu.machine = busy.map(|busy| results::MachineCpu {
            busy,
            ..Default::default()
        });
        let doubt = load_warning(&environment, std::slice::from_ref(&cell));
        doubt.map(|warning| {
            assert_eq!(warning.code, WarningCode::LoadBefore);
            warning.message
        })
    };
    // It was over, or left room enough, or there was none.
    assert_eq!(load_message(3.0, Some(0.25)), None);
    assert_eq!(load_message(3.0, Some(0.5)), None);
    assert_eq!(load_message(1.5, Some(0.9)), None);
    let message = load_message(3.0, Some(0.75)).unwrap();
    let wanted = "others used 2.0 of 4 CPUs, and 1.0 were idle";
    assert!(message.contains(wanted), "{message}");
    assert!(load_message(3.0, None).unwrap().contains("load 3.0"));
}

#[test]
fn a_results_store_that_adds_to_device_traffic_is_reported() {
    let (_, mut cell) = setting();
    let mut store_warning = |moved_bytes: Option<u64>, store_bytes: u64| {
        cell.device = moved_bytes.map(|write_bytes| results::DeviceFigures {
            write_bytes,
            ..Default::default()
        });
        let paths = (Path::new("/a/results.db"), Path::new("/a/target"));
        store_io_warning(std::slice::from_ref(&cell), store_bytes, paths)
    };
    let mib = 1 << 20;
    assert_eq!(store_warning(Some(1000 * mib), 2 * mib), None);
    assert_eq!(store_warning(Some(mib), 20 << 10), None);
    assert_eq!(store_warning(Some(0), 2 * mib), None);
    assert_eq!(store_warning(None, 2 * mib), None);
    let warning = store_warning(Some(100 * mib), 2 * mib).unwrap();
    assert_eq!(warning.code, WarningCode::StoreOnTarget);
    assert!(
        warning.message.contains("2.0 % of what the device moved"),
        "{}",
        warning.message
    );
}

#[test]
fn doubts_are_ranked_by_their_effect_on_the_results() {
    let (plan, mut cell) = setting();
    cell.cpu.machine.as_mut().unwrap().steal = 0.025;
    cell.total.errors = 1;
    let mut record = sample::record();
    record.plan = plan;
    record.cells = vec![cell];
    let effect = |code| effect(&Warning::of_cell(code, 0, ""), &record);
    assert!(effect(WarningCode::IoErrors) > 1.0);
    assert!((effect(WarningCode::StealTime) - 0.025).abs() < 1e-9);
    assert!(effect(WarningCode::StealTime) < effect(WarningCode::FileSmallerThanMemory));
}

#[test]
fn an_idle_cell_raises_no_doubt() {
    let (mut plan, _) = setting();
    plan.cells[0].workers.clear();
    let empty = stats::Interval::default();
    let run_time_ns = 10 * sample::SECOND;
    let mut cell = CellRecord::of(&plan.cells[0], &plan, &empty, run_time_ns, sample::NAMES);
    cell.device = Some(results::DeviceFigures {
        write_bytes: 1 << 30,
        source: "nvme0n1".into(),
        ..Default::default()
    });
    assert_eq!(warnings_of(&plan, &cell), []);
    cell.status = Status::Interrupted;
    assert_eq!(warnings_of(&plan, &cell)[0].0, WarningCode::CellCutShort);
}

#[test]
fn compressible_content_is_reported_for_writing_jobs() {
    let (mut plan, cell) = setting();
    let size = SizeRule::Fixed { bytes: 4096 };
    let block = BlockRule {
        sizes: size,
        align_bytes: 4096,
    };
    let end = StreamEnd {
        bytes: 1 << 20,
        requests: None,
        loops: Some(1),
        starts_over: false,
    };
    for (mix, is_warned) in [(ReadWriteMix::Write, true), (ReadWriteMix::Read, false)] {
        let stream = StreamPlan::sequential(mix, block.clone(), end);
        for worker in &mut plan.cells[0].workers {
            worker.lines = Vec::new();
            worker.content = ContentPlan::Zero;
            let job = JobPlan::new(EngineKind::IoUring, stream.clone());
            worker.job = Some(Box::new(job));
        }
        let is_it = |it: &(WarningCode, String)| it.0 == WarningCode::CompressibleContent;
        assert_eq!(
            warnings_of(&plan, &cell).iter().any(is_it),
            is_warned,
            "{mix:?}"
        );
    }
}

#[test]
fn absurd_standstills_of_another_process_do_no_harm() {
    let (plan, mut cell) = setting();
    let standstill = Standstill {
        at_ns: u64::MAX - 1,
        length_ns: u64::MAX,
        cause: StandstillCause::Stopped,
        is_left_out: true,
    };
    cell.standstills = vec![standstill; 2];
    let codes: Vec<WarningCode> = warnings_of(&plan, &cell)
        .into_iter()
        .map(|it| it.0)
        .collect();
    assert!(codes.contains(&WarningCode::StoodStill), "{codes:?}");
}
