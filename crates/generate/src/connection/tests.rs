//! Connections played against the loop's rules: park, ask again after any completion.

use std::collections::VecDeque;

use engine::{Completion, Operation, Request};
use plan::WorkerPlan;
use proptest::prelude::*;

use super::Connections;
use crate::sample::{GIB, line, plan, span};
use crate::{Flow, Generator, OwnCursor, Step, Transfer};

/// What happened, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    Issued(Request, u64),
    Ended(Request, Flow, u64),
}

/// The measurement loop in small: one request completes at a time, the oldest or by `pick`.
struct LoopModel<G> {
    generator: G,
    ready: VecDeque<u32>,
    parked: Vec<u32>,
    in_flight: Vec<Request>,
    now_ns: u64,
    events: Vec<Event>,
}

impl<G: Generator> LoopModel<G> {
    fn new(generator: G, slot_count: u32) -> Self {
        Self {
            generator,
            ready: (0..slot_count).collect(),
            parked: Vec::new(),
            in_flight: Vec::new(),
            now_ns: 1,
            events: Vec::new(),
        }
    }

    fn fill(&mut self) {
        while let Some(slot) = self.ready.pop_front() {
            match self.generator.next(slot, self.now_ns) {
                Step::Issue(request) => {
                    assert_eq!(request.slot, slot);
                    self.in_flight.push(request);
                    self.events.push(Event::Issued(request, self.now_ns));
                }
                Step::Park => self.parked.push(slot),
                Step::Wait { until_ns } => {
                    assert!(until_ns > self.now_ns);
                    self.ready.push_front(slot);
                    self.now_ns = until_ns;
                }
                Step::Again | Step::Finished => panic!("connections never finish"),
            }
        }
        assert!(
            !self.in_flight.is_empty(),
            "a parked worker has something in flight"
        );
    }

    fn turn(&mut self, pick: usize, fails: impl Fn(&Request) -> bool) {
        self.fill();
        self.now_ns += 10;
        let request = self.in_flight.remove(pick % self.in_flight.len());
        let result = if fails(&request) {
            -5
        } else {
            request.length_bytes as i32
        };
        let slot = request.slot;
        let flow = self
            .generator
            .complete(Completion { slot, result }, self.now_ns);
        self.events.push(Event::Ended(request, flow, self.now_ns));
        self.ready.push_back(slot);
        self.ready.extend(self.parked.drain(..));
    }

    fn operations(&self) -> Vec<Operation> {
        let issued = |event: &Event| match event {
            Event::Issued(request, _) => Some(request.operation),
            Event::Ended(..) => None,
        };
        self.events.iter().filter_map(issued).collect()
    }
}

fn play(plan: &WorkerPlan, each_count: u32) -> LoopModel<Connections<Transfer<OwnCursor>>> {
    let cursors = OwnCursor::one_per_span(plan);
    let transfer = Transfer::new(plan, cursors).unwrap();
    let slot_count = plan.spans.iter().map(|span| span.iodepth).sum();
    LoopModel::new(Connections::new(transfer, plan, each_count), slot_count)
}

const READ: Operation = Operation::Read;
const OPEN: Operation = Operation::Open;
const CLOSE: Operation = Operation::Close;

#[test]
fn a_connection_is_an_open_n_transactions_and_a_close() {
    let plan = plan(vec![line(4096, 100.0)], vec![span(0, GIB, 1)]);
    let mut play = play(&plan, 3);
    (0..10).for_each(|_| play.turn(0, |_| false));
    let connection = [OPEN, READ, READ, READ, CLOSE];
    assert_eq!(play.operations(), [connection, connection].concat());
}

#[test]
fn a_connection_lasts_from_its_open_to_the_end_of_its_close() {
    let plan = plan(vec![line(4096, 100.0)], vec![span(0, GIB, 1)]);
    let mut play = play(&plan, 2);
    (0..4).for_each(|_| play.turn(0, |_| false));
    let flows: Vec<Flow> = play
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Ended(_, flow, _) => Some(*flow),
            Event::Issued(..) => None,
        })
        .collect();
    let connection = Flow::TransactionDone {
        kind: 1,
        start_ns: 1,
    };
    assert_eq!(
        flows,
        [Flow::Uncounted, Flow::Done(0), Flow::Done(0), connection]
    );
    assert_eq!(play.generator.transaction_kinds()[1], "connection");
}

#[test]
fn zero_transactions_mean_only_open_and_close() {
    let plan = plan(vec![line(4096, 100.0)], vec![span(0, GIB, 4)]);
    let mut play = play(&plan, 0);
    (0..6).for_each(|_| play.turn(0, |_| false));
    assert_eq!(play.operations(), [OPEN, CLOSE, OPEN, CLOSE, OPEN, CLOSE]);
}

#[test]
fn a_reply_belongs_to_its_transaction() {
    let mut with_reply = line(4096, 100.0);
    with_reply.reply_bytes = 512;
    let plan = plan(vec![with_reply], vec![span(0, GIB, 1)]);
    let mut play = play(&plan, 1);
    (0..4).for_each(|_| play.turn(0, |_| false));
    assert_eq!(play.operations(), [OPEN, READ, Operation::Write, CLOSE]);
}

#[test]
fn a_failed_open_makes_no_connection_and_is_retried() {
    let plan = plan(vec![line(4096, 100.0)], vec![span(0, GIB, 1)]);
    let mut play = play(&plan, 1);
    (0..3).for_each(|_| play.turn(0, |_| true));
    assert_eq!(play.operations(), [OPEN, OPEN, OPEN]);
    (0..2).for_each(|_| play.turn(0, |_| false));
    play.turn(0, |request| request.operation == CLOSE);
    let Some(Event::Ended(request, flow, _)) = play.events.last() else {
        panic!("a turn ends with an event");
    };
    assert_eq!((request.operation, *flow), (CLOSE, Flow::Uncounted));
    play.turn(0, |_| false);
    assert_eq!(play.operations().last(), Some(&OPEN));
}

#[test]
fn a_closing_target_does_not_delay_others() {
    let spans = vec![span(0, GIB, 2), span(0, GIB, 2)];
    let plan = plan(vec![line(4096, 100.0)], spans);
    let mut play = play(&plan, 1);
    // The oldest request of target 1 completes always, so nothing of target 0 ever does.
    for _ in 0..100 {
        play.fill();
        let index = play.in_flight.iter().position(|it| it.file_index == 1);
        play.turn(index.expect("target 1 goes on"), |_| false);
    }
    let ended_count = |wanted| {
        let counts = |event: &&Event| {
            matches!(event, Event::Ended(request, Flow::TransactionDone { .. }, _)
                if request.file_index == wanted)
        };
        play.events.iter().filter(counts).count()
    };
    assert_eq!((ended_count(0), ended_count(1)), (0, 33));
}

/// What a target's user sees: nothing outside of a connection, and each as long as it should be.
fn check_events(events: &[Event], target_count: usize, each_count: u32) {
    let mut begun = vec![0; target_count];
    let mut open = vec![false; target_count];
    let mut busy = vec![0_i32; target_count];
    for event in events {
        match *event {
            Event::Issued(request, _) => {
                let target = request.file_index as usize;
                match request.operation {
                    Operation::Open => assert!(!open[target] && busy[target] == 0),
                    Operation::Close => {
                        assert!(open[target] && busy[target] == 0);
                        assert_eq!(begun[target], each_count);
                        open[target] = false;
                    }
                    _ => {
                        assert!(open[target]);
                        begun[target] += 1;
                        assert!(begun[target] <= each_count);
                    }
                }
                busy[target] += 1;
            }
            Event::Ended(request, _, _) => {
                let target = request.file_index as usize;
                busy[target] -= 1;
                if request.operation == Operation::Open {
                    open[target] = true;
                    begun[target] = 0;
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn transactions_are_within_a_connection_in_any_completion_order(
        depths in proptest::collection::vec(1_u32..5, 1..4),
        each_count in 0_u32..6,
        picks in proptest::collection::vec(any::<usize>(), 300),
        delay_ns in 0_u64..100,
    ) {
        let spans: Vec<_> = depths.iter().map(|depth| span(0, GIB, *depth)).collect();
        let mut delayed = line(4096, 100.0);
        delayed.delay_ns = delay_ns;
        let plan = plan(vec![delayed], spans);
        let mut play = play(&plan, each_count);
        for pick in picks {
            play.turn(pick, |_| false);
        }
        check_events(&play.events, depths.len(), each_count);
        let closes = play.operations().into_iter().filter(|it| *it == CLOSE).count();
        prop_assert!(closes > 0);
    }
}
