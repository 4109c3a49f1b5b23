//! The one action that a report recommends.

use plan::{CacheMode, EngineKind};
use results::{CellRecord, RunRecord, Status, Warning, WarningCode, doubt, next_action};

use crate::processors::{cell, environment, set_thread_times};
use crate::sample;

fn with_warnings(warnings: &[(WarningCode, Option<u32>)]) -> RunRecord {
    let mut record = sample::record();
    record.warnings = warnings
        .iter()
        .map(|(code, cell)| Warning {
            code: code.clone(),
            message: "m".to_owned(),
            cell: *cell,
        })
        .collect();
    record
}

/// The action for the doubts about a cell of two usable CPUs.
fn action(cell: &CellRecord) -> String {
    let mut record = sample::record();
    record.environment = environment();
    record.warnings = doubt(cell, &record.environment, &record.plan);
    record.cells = vec![cell.clone()];
    next_action(&record)
}

#[test]
fn every_code_has_words_or_none() {
    let without = next_action(&with_warnings(&[]));
    assert!(without.starts_with("add `--repetitions 5`"), "{without}");
    for code in WarningCode::ALL {
        let words = next_action(&with_warnings(&[(code.clone(), Some(0))]));
        assert!(words.len() > 10 && !words.ends_with('.'), "{code}: {words}");
    }
}

#[test]
fn what_makes_results_invalid_comes_first() {
    let record = with_warnings(&[
        (WarningCode::MemoryBacked, None),
        (WarningCode::LoadBefore, None),
        (WarningCode::IoErrors, Some(0)),
        (WarningCode::StealTime, Some(0)),
    ]);
    assert_eq!(
        next_action(&record),
        "find out why operations failed (see `dmesg`)"
    );
}

#[test]
fn an_action_that_removes_several_causes_outweighs_a_single_one() {
    let mut cell = cell(1.0);
    set_thread_times(&mut cell, 2, 0.4, 0.1);
    let mut record = sample::record();
    record.environment = environment();
    record.warnings = doubt(&cell, &record.environment, &record.plan);
    record.cells = vec![cell];
    let load = Warning::of_run(WarningCode::LoadBefore, "busy");
    let store = Warning::of_run(WarningCode::StealTime, "stolen");
    record.warnings.extend([store, load]);
    let action = next_action(&record);
    assert!(action.starts_with("stop other programs"), "{action}");
}

#[test]
fn cpus_are_freed_where_they_were_used() {
    let mut crowded = cell(1.0);
    crowded.workers = 4;
    set_thread_times(&mut crowded, 4, 0.5, 0.49);
    assert_eq!(action(&crowded), "use at most `--workers 2`");
    (crowded.workers, crowded.engine) = (1, EngineKind::Psync);
    let words = "use `--engine io_uring`, which needs one thread per worker";
    assert_eq!(action(&crowded), words);
    // One worker that used up its CPU, while another CPU was idle.
    let mut single = cell(0.7);
    set_thread_times(&mut single, 2, 0.98, 0.0);
    single.cpu.utilization = 1.0;
    assert_eq!(action(&single), "use more `--workers`");
    assert_eq!(action(&cell(0.96)), "use fewer `--workers`");
}

#[test]
fn a_warm_up_asks_for_a_ramp_that_covers_the_longest() {
    let warm = |length_s: u64| {
        let mut record = sample::record();
        let mut within = results::WithinRun {
            intervals: 30,
            mean: 90.0,
            stddev: 1.0,
            effective: None,
            ci95_low: None,
            ci95_high: None,
            warm_up: None,
            drift: None,
        };
        within.warm_up = Some(results::WarmUpRecord {
            length_ns: length_s * sample::SECOND,
            settled_mean: 100.0,
            p_value: 0.001,
        });
        record.cells[0].within = Some(within);
        record.cells[0].ramp_time_ns = 2 * sample::SECOND;
        record.cells[0].clone()
    };
    let code = WarningCode::WarmUp;
    let mut record = with_warnings(&[(code.clone(), Some(0)), (code, Some(1))]);
    record.cells = vec![warm(4), warm(9)];
    record.cells[1].index = 1;
    assert_eq!(next_action(&record), "add `--ramp-time 12s`");
}

#[test]
fn a_disturbance_is_removed_before_what_it_can_cause() {
    let unsteady = (WarningCode::NotSteady, Some(0));
    let record = with_warnings(&[unsteady.clone(), (WarningCode::LoadBefore, None)]);
    assert!(next_action(&record).starts_with("stop other programs"));
    assert!(next_action(&with_warnings(&[unsteady])).starts_with("use `--until steady`"));
}

#[test]
fn cached_reads_ask_for_what_bypasses_the_cache() {
    let mut record = with_warnings(&[(WarningCode::CacheServedReads, Some(0))]);
    record.plan.cells[0].cache = CacheMode::Buffered;
    let words = "use `--cache direct`, or a `--size` larger than memory";
    assert_eq!(next_action(&record), words);
    record.plan.cells[0].cache = CacheMode::Direct;
    let words = "use a target whose file system bypasses the cache";
    assert_eq!(next_action(&record), words);
    // The files of a program may have sizes that direct I/O cannot move.
    record.plan.cells[0].work = plan::Work::Acts(std::sync::Arc::default());
    let words = "use more or larger files than memory can hold";
    assert_eq!(next_action(&record), words);
}

#[test]
fn a_run_without_doubts_is_repeated_then_compared() {
    let mut record = with_warnings(&[(WarningCode::FewSamplesForPercentile, Some(0))]);
    assert!(next_action(&record).starts_with("add `--repetitions 5`"));
    record.command = vec!["pgmeter".to_owned(), "as".to_owned()];
    assert!(next_action(&record).starts_with("run it again: only"));
    record.estimates = results::estimates(&record.cells);
    if !record.estimates.is_empty() {
        assert!(next_action(&record).contains("compare"));
    }
    record.status = Status::Interrupted;
    assert_eq!(next_action(&record), "run it again, to its end");
}
