//! Processes that say what real ones do not.

use std::time::Instant;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::*;

/// Nothing that others say may take longer, in a test that waits for no silence.
const TIME_MAX: Duration = Duration::from_secs(60);

/// A run with two processes of which one says something else than it would; how it ended.
fn run_with(
    on_lost: OnLost,
    mut says: impl FnMut(&LeaderMessage, MemberMessage) -> Option<Vec<u8>> + Send + 'static,
) -> Result<Finished, ClusterError> {
    let plan = plan_of(2, &[]);
    let (hub, ends) = hub(2);
    let (cell, planned, clock) = (plan.cells[0].clone(), plan.clone(), TscClock::new());
    play(ends, move |rank, order, send| {
        let mut reports: Vec<MemberMessage> = routine(rank, order, &clock).into_iter().collect();
        if let LeaderMessage::Start { .. } = order {
            let record = record_of(&cell, &planned, rank, 2);
            for interval in record.intervals.clone() {
                let event = Box::new(RunEvent::Interval { cell: 0, interval });
                reports.push(MemberMessage::Event { event });
            }
            reports.push(MemberMessage::Begun {
                phase: None,
                at_ns: 5,
            });
            reports.push(MemberMessage::Measured {
                records: vec![record],
                failure: None,
            });
        }
        for report in reports {
            let message = match rank {
                0 => Some(encode(&report)),
                _ => says(order, report),
            };
            message.into_iter().for_each(|it| send(rank, it));
        }
    });
    let begun = Instant::now();
    let finished = led(&plan, hub, on_lost);
    assert!(begun.elapsed() < TIME_MAX, "{:?}", begun.elapsed());
    finished
}

/// Whether an order has that name; one that says nothing else is a text.
fn is(order: &LeaderMessage, name: &str) -> bool {
    let order = serde_json::to_value(order).expect("an order");
    order == name || order.get(name).is_some()
}

fn error_of(finished: Result<Finished, ClusterError>) -> String {
    match finished {
        Err(error) => error.to_string(),
        Ok(finished) => finished.error.expect("an error").to_string(),
    }
}

#[test]
fn malformed_messages_are_an_error_that_names_the_sender() {
    for bytes in [
        vec![9; 3],
        vec![1, b'{'],
        vec![2, 7, 7],
        b"\x01\"armed".to_vec(),
    ] {
        for at in ["hello", "plan", "prepare", "cell", "start"] {
            let bytes = bytes.clone();
            let error = error_of(run_with(OnLost::Fail, move |order, report| {
                Some(if is(order, at) {
                    bytes.clone()
                } else {
                    encode(&report)
                })
            }));
            assert!(error.starts_with("rank 1"), "{at}: {error}");
            assert!(error.contains("sent"), "{at}: {error}");
        }
    }
}

#[test]
fn a_different_version_is_reported_without_control_characters() {
    let error = error_of(run_with(OnLost::Fail, |_, report| {
        Some(encode(&match report {
            MemberMessage::Hello { environment, .. } => MemberMessage::Hello {
                protocol: PROTOCOL,
                version: format!("\x1b[2J{}", "9".repeat(10_000)),
                host: "h".repeat(10_000),
                environment,
            },
            other => other,
        }))
    }));
    assert!(
        error.contains("is pgmeter") && !error.contains('\x1b'),
        "{error}"
    );
    assert!(error.len() < 2000, "{}", error.len());
}

#[test]
fn figures_of_another_cell_are_rejected() {
    let says = |_: &LeaderMessage, report| {
        Some(encode(&match report {
            MemberMessage::Measured {
                mut records,
                failure,
            } => {
                records[0].index = 7;
                MemberMessage::Measured { records, failure }
            }
            other => other,
        }))
    };
    let error = error_of(run_with(OnLost::Fail, says));
    assert!(
        error.contains("rank 1") && error.contains("unexpected report"),
        "{error}"
    );
    let finished = run_with(OnLost::Continue, says).expect("no process is lost");
    assert!(finished.error.is_none());
    let record = &finished.record.cells[0];
    assert_eq!(record.status, results::Status::Interrupted);
    let cluster = record
        .cluster
        .as_ref()
        .expect("a record of several processes");
    assert_eq!(cluster.ranks[0].count, record.total.count);
    assert!(cluster.ranks[1].lost_ns.is_some());
    let is_rank_lost = |it: &Warning| it.code == WarningCode::RankLost;
    assert!(finished.record.warnings.iter().any(is_rank_lost));
}

#[test]
fn unsolicited_reports_are_an_error() {
    for at in ["plan", "prepare"] {
        let error = error_of(run_with(OnLost::Fail, move |order, report| {
            Some(if is(order, at) {
                encode(&MemberMessage::Armed)
            } else {
                encode(&report)
            })
        }));
        assert!(
            error.contains("rank 1") && error.contains("unexpected report"),
            "{at}: {error}"
        );
    }
}

#[test]
fn a_rank_that_never_reports_its_time_is_not_awaited() {
    let says = |_: &LeaderMessage, report| match report {
        // It is there all the same.
        MemberMessage::Pong { .. } => Some(KEEPALIVE.to_vec()),
        other => Some(encode(&other)),
    };
    let error = error_of(run_with(OnLost::Fail, says));
    assert!(error.contains("did not report its time"), "{error}");
}

#[test]
fn a_silent_rank_is_lost_even_if_others_keep_reporting() {
    let plan = plan_of(2, &[]);
    let (hub, ends) = hub(2);
    let clock = TscClock::new();
    let to_leader = ends.to_leader.clone();
    play(ends, move |rank, order, send| {
        if let Some(report) = routine(rank, order, &clock) {
            send(rank, encode(&report));
        }
        if let (LeaderMessage::Start { .. }, 0) = (order, rank) {
            let to_leader = to_leader.clone();
            thread::spawn(move || {
                let sign = || LinkEvent::Message(KEEPALIVE.to_vec());
                while to_leader.send((0, sign())).is_ok() {
                    thread::sleep(Duration::from_millis(2));
                }
            });
        }
    });
    let begun = Instant::now();
    let error = error_of(led(&plan, hub, OnLost::Fail));
    assert!(
        error.contains("rank 1") && error.contains("sent nothing for 5 s"),
        "{error}"
    );
    assert!(begun.elapsed() < TIME_MAX);
}

#[test]
fn a_leader_that_slept_does_not_count_ranks_as_silent() {
    let (hub, ends) = hub(1);
    let clock = TscClock::new();
    play(ends, move |rank, order, send| {
        if let Some(report) = routine(rank, order, &clock) {
            send(rank, encode(&report));
        }
    });
    let stop = AtomicBool::new(false);
    let mut leader = Leader::greet(hub, LeaderOptions::default(), &stop).expect("it is there");
    let long_ago = Instant::now().checked_sub(Duration::from_secs(30));
    leader.last_received = long_ago.expect("the machine runs for longer");
    leader.peers[0].last_received = long_ago;
    assert!(leader.receive(Duration::from_millis(1)).is_none());
    assert!(leader.peers[0].lost.is_none());
}

/// Values that no process measures, the first ones such as are understood.
fn absurd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => Just(json!(u64::MAX)),
        4 => Just(json!(u64::MAX / 2 + 1)),
        4 => Just(json!(u32::MAX)),
        4 => Just(json!(0)),
        1 => Just(json!(i64::MIN)),
        1 => Just(json!(1e308)),
        1 => Just(Value::Null),
        1 => Just(json!("\u{1b}[2J\u{202e}")),
        1 => Just(json!([])),
    ]
}

/// All places of a document that hold a value, as pointers.
fn places(of: &Value, path: String, all: &mut Vec<String>) {
    match of {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, format!("{path}/{name}"), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, format!("{path}/{index}"), all);
            }
        }
        _ => all.push(path),
    }
}

/// Fields of 32 bits.
const U32_FIELDS: [&str; 8] = [
    "iodepth",
    "repetition",
    "ranks",
    "threads",
    "worker_index",
    "target_index",
    "first_step",
    "first_index",
];

/// A report with some of its figures changed, or all of them as large as they can be.
fn distort(
    report: &MemberMessage,
    changes: &[(prop::sample::Index, Value)],
    is_all: bool,
) -> Value {
    let mut value = serde_json::to_value(report).expect("a report");
    let mut all = Vec::new();
    places(&value, String::new(), &mut all);
    // What belongs to another cell is not taken at all.
    let ends = ["/index", "/cell", "/workers"];
    all.retain(|path| !ends.iter().any(|end| path.ends_with(end)));
    for path in all.iter().filter(|_| is_all) {
        let largest = match U32_FIELDS.iter().any(|name| path.ends_with(name)) {
            true => json!(u32::MAX),
            false => json!(u64::MAX),
        };
        if let Some(slot) = value.pointer_mut(path).filter(|it| it.is_u64()) {
            *slot = largest;
        }
    }
    for (index, with) in changes.iter().filter(|_| !all.is_empty()) {
        let path: &String = index.get(&all);
        if let Some(slot) = value.pointer_mut(path) {
            *slot = with.clone();
        }
    }
    value
}

/// A run in which one process tells of distorted figures.
fn run_distorted(changes: Vec<(prop::sample::Index, Value)>, is_all: bool) -> Finished {
    let finished = run_with(OnLost::Continue, move |_, report| {
        let is_figures = matches!(
            report,
            MemberMessage::Measured { .. } | MemberMessage::Event { .. }
        );
        if !is_figures {
            return Some(encode(&report));
        }
        let mut message = vec![1];
        message.extend(distort(&report, &changes, is_all).to_string().bytes());
        Some(message)
    });
    finished.expect("no process is lost")
}

#[test]
fn the_largest_possible_figures_are_accepted() {
    let finished = run_distorted(Vec::new(), true);
    let cluster = finished.record.cells[0]
        .cluster
        .as_ref()
        .expect("a record of several processes");
    assert_eq!(cluster.ranks.len(), 2);
    assert_eq!(
        (cluster.ranks[1].lost_ns, cluster.ranks[1].count),
        (None, u64::MAX),
        "{:?}",
        finished.record.warnings
    );
    assert_eq!(finished.record.cells[0].total.count, u64::MAX);
}

proptest! {
    #![proptest_config(Config::with_cases(24))]
    #[test]
    fn absurd_figures_never_crash_the_leader(
        changes in prop::collection::vec((any::<prop::sample::Index>(), absurd_value()), 0..4),
        is_all in any::<bool>(),
    ) {
        let finished = run_distorted(changes, is_all);
        prop_assert!(finished.record.cells.len() == 1);
        prop_assert!(serde_json::to_string(&finished.record).is_ok());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode::<MemberMessage>(&bytes);
        let _ = decode::<LeaderMessage>(&bytes);
        let mut stream = bytes.as_slice();
        while let Ok(Some(message)) = crate::message::read(&mut stream) {
            let _ = decode::<MemberMessage>(&message);
        }
    }
}
