use proptest::prelude::*;

use super::*;
use crate::sample::{line, plan, span};

/// Plays `count` completions, each as long as its request, one slot after the other, and tells
/// what was issued with what became of its flow.
fn play(messages: &mut Messages, slot_count: u32, count: usize) -> Vec<(Request, Flow)> {
    let mut played = Vec::new();
    let mut now_ns = 1;
    while played.len() < count {
        for slot in 0..slot_count {
            let request = loop {
                match messages.next(slot, now_ns) {
                    Step::Issue(request) => break request,
                    Step::Wait { until_ns } => now_ns = until_ns,
                    step => panic!("{step:?}"),
                }
            };
            now_ns += 10;
            let result = request.length_bytes as i32;
            let flow = messages.complete(Completion { slot, result }, now_ns);
            played.push((request, flow));
        }
    }
    played
}

fn replying(size_bytes: u32, read_percent: f64, reply_bytes: u32) -> LinePlan {
    LinePlan {
        read_percent,
        reply_bytes,
        ..line(size_bytes, 100.0)
    }
}

proptest! {
    #[test]
    fn every_request_is_followed_by_its_reply_the_other_way(
        size in 1_u32..100_000,
        read in 0_u32..=100,
        reply in 0_u32..1000,
        depth in 1_u32..5,
    ) {
        let lines = vec![replying(size, read.into(), reply)];
        let mut messages = Messages::new(&plan(lines, vec![span(0, 0, depth)])).unwrap();
        let played = play(&mut messages, depth, 200);
        for slot in 0..depth {
            let mut own = played.iter().filter(|(request, _)| request.slot == slot);
            while let Some((request, flow)) = own.next() {
                prop_assert_eq!((request.length_bytes, request.offset_bytes), (size, reply.into()));
                if reply == 0 {
                    prop_assert_eq!(*flow, Flow::Done(0));
                    continue;
                }
                prop_assert_eq!(*flow, Flow::Continues);
                let Some((answer, flow)) = own.next() else { break };
                prop_assert_eq!(answer.length_bytes, reply);
                prop_assert_eq!(answer.offset_bytes, Request::REPLY);
                prop_assert_ne!(answer.operation, request.operation);
                prop_assert_eq!(*flow, Flow::Done(0));
            }
        }
    }
}

#[test]
fn the_read_share_matches_the_line() {
    let lines = vec![replying(1, 30.0, 0)];
    let mut messages = Messages::new(&plan(lines, vec![span(0, 0, 1)])).unwrap();
    let played = play(&mut messages, 1, 10_000);
    let reads = played
        .iter()
        .filter(|(it, _)| it.operation == Operation::Read);
    let reads = reads.count();
    assert!((2_800..3_200).contains(&reads), "{reads}");
}

#[test]
fn a_connection_has_its_transactions_between_open_and_close() {
    for (each_count, wanted) in [(0, "oc"), (2, "owrwrc")] {
        let lines = vec![replying(9, 0.0, 3)];
        let mut plan = plan(lines, vec![span(0, 0, 2)]);
        plan.transactions_per_connection = Some(each_count);
        let mut messages = Messages::new(&plan).unwrap();
        assert_eq!(messages.transaction_kinds(), ["transaction", "connection"]);
        let played = play(&mut messages, 2, 4 * wanted.len());
        let own = played.iter().filter(|(request, _)| request.slot == 1);
        let own: Vec<_> = own.collect();
        let letters: String = own
            .iter()
            .map(|(request, _)| match request.operation {
                Operation::Open => 'o',
                Operation::Close => 'c',
                Operation::Read => 'r',
                _ => 'w',
            })
            .collect();
        assert_eq!(letters, wanted.repeat(2));
        let (_, flow) = own[wanted.len() - 1];
        assert!(
            matches!(flow, Flow::TransactionDone { kind: 1, .. }),
            "{flow:?}"
        );
        assert_eq!(own[0].1, Flow::Uncounted);
    }
}

#[test]
fn a_slot_with_a_failed_connection_ends_and_the_others_continue() {
    let lines = vec![replying(9, 0.0, 3)];
    let mut messages = Messages::new(&plan(lines, vec![span(0, 0, 2)])).unwrap();
    assert!(matches!(messages.next(0, 1), Step::Issue(_)));
    let broken = Completion {
        slot: 0,
        result: -104,
    };
    assert_eq!(messages.complete(broken, 2), Flow::Done(0));
    assert_eq!(messages.next(0, 3), Step::Finished);
    assert!(matches!(messages.next(1, 3), Step::Issue(_)));
}

#[test]
fn the_worker_waits_before_each_burst() {
    let lines = vec![LinePlan {
        delay_ns: 1000,
        burst: 3,
        ..line(1, 100.0)
    }];
    let mut messages = Messages::new(&plan(lines, vec![span(0, 0, 1)])).unwrap();
    let mut waits = Vec::new();
    let mut now_ns = 1;
    for _ in 0..9 {
        let mut waited = false;
        while let Step::Wait { until_ns } = messages.next(0, now_ns) {
            waited = until_ns == now_ns + 1000;
            now_ns = until_ns;
        }
        waits.push(waited);
        messages.complete(Completion { slot: 0, result: 1 }, now_ns);
    }
    assert_eq!(waits, [true, false, false].repeat(3));
}
