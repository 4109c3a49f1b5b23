//! Rounds that begin when they are due.

use super::*;
use crate::open_loop::tests::{NOW, assert_alike, by_arithmetic, carried_out};
use crate::{Arrivals, DueQueue, DueTimes, OpenStream};

fn queue(per_second: f64) -> DueQueue {
    let due = DueTimes::Own(Arrivals::uniform(per_second, 0, 1).unwrap());
    DueQueue::new(due, NOW, 1)
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
    make_present(&setting, &states, &mut Model::default());
    interpreters(&program, &phase, &setting, &states)
        .pop()
        .unwrap()
}

fn acts() -> Vec<Act> {
    let open = act(FileOperation::Open, On::Name(around(0, Which::Present)));
    let read = moving(FileOperation::Read, MovedBytes::Law(Law::fixed(4096)), 4096);
    vec![open, read, act(FileOperation::Close, On::Handle)]
}

#[test]
fn a_stall_is_in_the_response_times_of_all_rounds_that_were_due_in_it() {
    let mut reader = reader(acts(), TransactionUnit::DueRound);
    reader.begin_when_due(queue(500.0));
    let seen = carried_out(&mut reader, 5_000_000_000);
    assert_alike(&seen.responses, &by_arithmetic(500, 5_000_000_000, || 3));
    assert_eq!(seen.responses.count(), 2500);
    assert_eq!(seen.left_count, 0);
}

#[test]
fn what_is_due_before_the_end_is_done_behind_it() {
    let mut reader = reader(acts(), TransactionUnit::DueRound);
    reader.begin_when_due(queue(500.0));
    // In the middle of the stall.
    let seen = carried_out(&mut reader, 2_000_000_000);
    assert_alike(&seen.responses, &by_arithmetic(500, 2_000_000_000, || 3));
    assert_eq!((seen.responses.count(), seen.left_count), (1000, 499));
    assert_eq!(reader.backlog().unwrap().unended_ns().count(), 1);
}

#[test]
fn a_round_with_transactions_of_its_own_is_one_as_a_whole() {
    let whole = vec![Act::Transaction(0, acts()), Act::Transaction(0, acts())];
    let mut twice = reader(whole, TransactionUnit::DueRound);
    twice.begin_when_due(queue(100.0));
    let seen = carried_out(&mut twice, 5_000_000_000);
    assert_alike(&seen.responses, &by_arithmetic(100, 5_000_000_000, || 6));
    assert_eq!(twice.amounts().rounds, 500);
    // What they are labeled with is still counted.
    assert_eq!(twice.steps()[0].count, 1000);
    assert_eq!(twice.transaction_kinds(), ["response"]);
}

#[test]
fn rounds_end_at_their_number_however_they_begin() {
    let mut phase = phase(acts());
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 100,
        of: Share::Each,
    }];
    let program = of(vec![set("files", 10)], &[]);
    for unit in [TransactionUnit::Own, TransactionUnit::Round] {
        let setting = Setting {
            present: vec![10],
            unit,
            ..Setting::default()
        };
        let seen = carry_out(&program, &phase, &setting);
        assert_eq!(seen.workers[0].amounts().rounds, 100);
    }
}
