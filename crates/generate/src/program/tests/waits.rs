//! Workers that wait for each other.

use plan::program::{CounterSelection, Refill, TakeAmount, Tokens};

use super::*;

fn tokens(room: Option<u32>) -> Tokens {
    Tokens {
        name: "turns".to_owned(),
        counters: 1,
        start: 0,
        room,
        refill: None,
    }
}

fn put(tokens: u8, count: u32) -> Act {
    Act::Put {
        tokens,
        count,
        whose: CounterSelection::Mine,
    }
}

fn take(tokens: u8, count: u32) -> Act {
    Act::Take {
        tokens,
        count: TakeAmount::Fixed(count),
        whose: CounterSelection::Mine,
    }
}

fn look() -> Act {
    act(
        FileOperation::Stat,
        CallObject::Name(around(0, FileFilter::Present)),
    )
}

fn rounds(count: u64) -> Vec<Quota> {
    vec![Quota {
        what: Measure::Rounds,
        count,
        of: AmountScope::Each,
    }]
}

#[test]
fn workers_that_take_clocked_tokens_keep_the_rate() {
    let mut program = of(vec![set("files", 1)], &[]);
    program.tokens = vec![Tokens {
        refill: Some(Refill {
            per_second: 1000.0,
            at_once: 1,
            most: 5,
        }),
        ..tokens(None)
    }];
    let mut phase = phase(vec![take(0, 1), look()]);
    phase.time_ns = Some(1_000_000_000);
    let setting = Setting {
        workers: 2,
        present: vec![1],
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    assert!(
        (950..=1001).contains(&outcome.model.count),
        "{}",
        outcome.model.count
    );
}

#[test]
fn the_number_of_due_tokens_follows_the_completed_calls() {
    let mut program = of(vec![set("files", 1)], &[]);
    program.tokens = vec![Tokens {
        start: 10,
        ..tokens(None)
    }];
    let due = TakeAmount::Since {
        what: Measure::Calls,
        each: 3,
    };
    let phase = phase(vec![
        look(),
        Act::Take {
            tokens: 0,
            count: due,
            whose: CounterSelection::Mine,
        },
    ]);
    let setting = Setting {
        present: vec![1],
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    // Nobody puts an eleventh.
    assert!(outcome.is_ended);
    assert_eq!(outcome.model.count, 33);
}

#[test]
fn workers_leave_a_barrier_together() {
    let program = of(vec![set("files", 1)], &[]);
    let mut phase = phase(vec![
        look(),
        Act::Think(Law::of(Shape::Exponential { mean: 1e6 })),
        Act::Meet(0),
    ]);
    phase.groups[0].quotas = rounds(40);
    let setting = Setting {
        workers: 3,
        present: vec![1],
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    assert_eq!(outcome.model.count, 120);
    let ends = outcome.workers.iter().map(|it| it.stamps().body_end_ns);
    let (first, last) = (ends.clone().min().unwrap(), ends.max().unwrap());
    assert!(last - first < 3_000_000, "{first} {last}");
}

#[test]
fn a_group_that_serves_another_ends_with_it() {
    let mut program = of(vec![set("files", 4)], &["make", "remove"]);
    program.tokens = vec![tokens(Some(1)), tokens(Some(1))];
    let make = vec![create_and_close(0), put(0, 1), take(1, 1)];
    let remove = vec![
        take(0, 1),
        Act::Transaction(
            1,
            vec![act(
                FileOperation::Unlink,
                CallObject::Name(around(0, FileFilter::Present)),
            )],
        ),
        put(1, 1),
    ];
    let mut phase = phase(make);
    // The second worker of the phase is one of another group.
    phase.groups.push(Group {
        name: "remover".to_owned(),
        body: remove,
        ..Group::default()
    });
    phase.groups[0].quotas = rounds(4);
    let setting = Setting {
        separate_groups: true,
        workers: 2,
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    assert_eq!(outcome.model.violations, Vec::<String>::new());
    assert!(outcome.is_ended);
    assert_eq!((outcome.done[&0], outcome.done[&1]), ((4, 0), (4, 0)));
}

#[test]
fn a_worker_without_a_request_is_polled_again() {
    let mut program = of(vec![set("files", 1)], &[]);
    program.tokens = vec![tokens(None)];
    let loops = Act::Times(
        Law::fixed(u64::MAX),
        vec![Act::Times(Law::fixed(0), vec![look()])],
    );
    for body in [
        vec![put(0, 1)],
        vec![Act::Burn(Law::fixed(1000))],
        vec![loops],
    ] {
        let states = [Arc::new(FileStates::new(1, false))];
        let setting = Setting::default();
        let phase = phase(body);
        let mut workers = interpreters(&program, &phase, &setting, &states);
        for now_ns in 1..100 {
            assert_eq!(workers[0].next(0, now_ns), Step::Again);
        }
    }
}

#[test]
fn a_call_after_a_burn_starts_later() {
    let program = of(vec![set("files", 1)], &[]);
    let phase = phase(vec![Act::Burn(Law::fixed(1000)), look()]);
    let states = [Arc::new(FileStates::new(1, false))];
    states[0].mark_present(0, false);
    let mut workers = interpreters(&program, &phase, &Setting::default(), &states);
    assert_eq!(workers[0].next(0, 1), Step::Again);
    assert!(matches!(workers[0].next(0, 2000), Step::Issue(_)));
}
