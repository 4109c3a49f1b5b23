//! Rounds that begin when they are due.

use super::*;
use crate::open_loop::tests::{START, assert_alike, expected_counter, run_to_end};
use crate::{Arrivals, DueQueue, DueTimes, OpenStream};

fn queue(per_second: f64) -> DueQueue {
    let due = DueTimes::Own(Arrivals::uniform(per_second, 0, 1).unwrap());
    DueQueue::new(due, START, 1)
}

/// A worker whose round is to open a file, to read it and to close it, and then to think.
fn reader(acts: Vec<Act>, unit: TransactionUnit) -> Interpreter {
    let program = of(vec![set("files", 10)], &["open and read"]);
    let phase = phase(acts);
    let setting = Setting {
        present: vec![10],
        unit,
        ..Setting::default()
    };
    let states = [Arc::new(FileStates::new(10, false))];
    create_initial_files(&setting, &states, &mut Model::default());
    interpreters(&program, &phase, &setting, &states)
        .pop()
        .unwrap()
}

fn acts() -> Vec<Act> {
    let open = act(
        FileOperation::Open,
        CallObject::Name(around(0, FileFilter::Present)),
    );
    let read = moving(FileOperation::Read, MovedBytes::Law(Law::fixed(4096)), 4096);
    vec![open, read, act(FileOperation::Close, CallObject::Handle)]
}

#[test]
fn a_stall_counts_in_the_response_times_of_all_rounds_due_during_it() {
    let mut reader = reader(acts(), TransactionUnit::DueRound);
    reader.set_due_queue(queue(500.0));
    let outcome = run_to_end(&mut reader, 5_000_000_000);
    assert_alike(
        &outcome.responses,
        &expected_counter(500, 5_000_000_000, || 3),
    );
    assert_eq!(outcome.responses.count(), 2500);
    assert_eq!(outcome.left_count, 0);
}

#[test]
fn rounds_due_before_the_end_are_completed_after_it() {
    let mut reader = reader(acts(), TransactionUnit::DueRound);
    reader.set_due_queue(queue(500.0));
    // In the middle of the stall.
    let outcome = run_to_end(&mut reader, 2_000_000_000);
    assert_alike(
        &outcome.responses,
        &expected_counter(500, 2_000_000_000, || 3),
    );
    assert_eq!((outcome.responses.count(), outcome.left_count), (1000, 499));
    assert_eq!(reader.backlog().unwrap().unended_ns().count(), 1);
}

#[test]
fn a_round_with_several_transactions_has_one_response_time() {
    let body = vec![Act::Transaction(0, acts()), Act::Transaction(0, acts())];
    let mut twice = reader(body, TransactionUnit::DueRound);
    twice.set_due_queue(queue(100.0));
    let outcome = run_to_end(&mut twice, 5_000_000_000);
    assert_alike(
        &outcome.responses,
        &expected_counter(100, 5_000_000_000, || 6),
    );
    assert_eq!(twice.amounts().rounds, 500);
    // What they are labeled with is still counted.
    assert_eq!(twice.steps()[0].count, 1000);
    assert_eq!(twice.transaction_kinds(), ["response"]);
}

#[test]
fn the_round_quota_holds_for_every_transaction_unit() {
    let mut phase = phase(acts());
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 100,
        of: AmountScope::Each,
    }];
    let program = of(vec![set("files", 10)], &[]);
    for unit in [TransactionUnit::Declared, TransactionUnit::Round] {
        let setting = Setting {
            present: vec![10],
            unit,
            ..Setting::default()
        };
        let outcome = carry_out(&program, &phase, &setting);
        assert_eq!(outcome.workers[0].amounts().rounds, 100);
    }
}
