//! The worker's slots: which are free, and what is in flight in the others.

use engine::{Completion, Engine, EngineError, Request, Wait};
use generate::Flow;

/// Free slots, first in first out, in a ring that never grows.
pub(crate) struct SlotQueue {
    slots: Box<[u32]>,
    mask: u32,
    head: u32,
    tail: u32,
}

impl SlotQueue {
    /// A queue of `slot_count` slots, all free, in order.
    pub fn full(slot_count: u32) -> Self {
        let capacity = slot_count.max(1).next_power_of_two();
        Self {
            slots: (0..capacity).collect(),
            mask: capacity - 1,
            head: 0,
            tail: slot_count,
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The slot to use next; any slot when there is none.
    #[inline]
    pub fn first(&self) -> u32 {
        self.slots[(self.head & self.mask) as usize]
    }

    #[inline]
    pub fn pop(&mut self) {
        self.head = self.head.wrapping_add(1);
    }

    #[inline]
    pub fn push(&mut self, slot: u32) {
        self.slots[(self.tail & self.mask) as usize] = slot;
        self.tail = self.tail.wrapping_add(1);
    }
}

/// What is in flight in a slot.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    pub request: Request,
    pub issued_ns: u64,
    /// When the flow's first request was issued; 0 between flows.
    flow_ns: u64,
    /// The negated error number of the flow's last failed request; 0 where none failed.
    errno: i32,
}

impl Flight {
    #[inline]
    pub fn issue(&mut self, request: Request, now_ns: u64) {
        self.request = request;
        self.issued_ns = now_ns;
        if self.flow_ns == 0 {
            self.flow_ns = now_ns;
        }
    }
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            request: Request::NOTHING,
            issued_ns: 0,
            flow_ns: 0,
            errno: 0,
        }
    }
}

/// A flow that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndedFlow {
    pub kind: u8,
    /// As [`Flight::errno`].
    pub errno: i32,
    pub latency_ns: u64,
}

/// What the loop keeps from turn to turn, all of it allocated before the first.
pub(crate) struct Turns {
    flights: Box<[Flight]>,
    pub ready: SlotQueue,
    /// Slots to ask again after a completion.
    parked: Vec<u32>,
    /// What has completed in this turn.
    pub done: Vec<Completion>,
    pub in_flight: u32,
}

impl Turns {
    pub fn new(slot_count: u32) -> Self {
        Self {
            flights: vec![Flight::default(); slot_count as usize].into(),
            ready: SlotQueue::full(slot_count),
            parked: Vec::with_capacity(slot_count as usize),
            done: Vec::with_capacity(slot_count as usize),
            in_flight: 0,
        }
    }

    /// Takes the first free slot for a request.
    #[inline]
    pub fn issue(&mut self, request: Request, now_ns: u64) {
        self.ready.pop();
        self.in_flight += 1;
        self.flights[request.slot as usize].issue(request, now_ns);
    }

    /// Frees the slot and returns what was in flight in it.
    #[inline]
    pub fn reaped(&mut self, Completion { slot, result }: Completion) -> Request {
        self.in_flight -= 1;
        self.ready.push(slot);
        let flight = &mut self.flights[slot as usize];
        flight.errno = flight.errno.min(result);
        flight.request
    }

    /// From queued to reaped.
    #[inline]
    pub fn latency_ns(&self, slot: u32, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.flights[slot as usize].issued_ns)
    }

    /// Sets the first free slot aside until the next completion.
    #[inline]
    pub fn park(&mut self) {
        self.parked.push(self.ready.first());
        self.ready.pop();
    }

    /// Ends the slot's flow unless it goes on; the kind of what is done and how long it lasted.
    #[inline]
    pub fn end_flow(&mut self, slot: u32, flow: Flow, now_ns: u64) -> Option<EndedFlow> {
        if flow == Flow::Continues {
            return None;
        }
        let flight = &mut self.flights[slot as usize];
        let flow_ns = std::mem::take(&mut flight.flow_ns);
        let errno = std::mem::take(&mut flight.errno);
        let (kind, start_ns, errno) = match flow {
            Flow::Done(kind) => (kind, flow_ns, errno),
            Flow::Judged { kind, errno } => (kind, flow_ns, errno),
            Flow::Spanned { kind, start_ns } => (kind, start_ns, errno),
            Flow::Timed {
                kind,
                errno,
                start_ns,
            } => (kind, start_ns, errno),
            Flow::Continues | Flow::Apart => return None,
        };
        Some(EndedFlow {
            kind,
            errno,
            latency_ns: now_ns.saturating_sub(start_ns),
        })
    }

    /// Begins a turn, in which nothing has completed.
    #[inline]
    pub fn none_done(&mut self) -> &mut Vec<Completion> {
        self.done.clear();
        &mut self.done
    }

    /// Asks parked slots again, which a completion may have given something to do.
    #[inline]
    pub fn end_turn(&mut self) {
        // Few have any, and an empty drain still moves a tail of nothing by a call.
        if !self.parked.is_empty() && !self.done.is_empty() {
            self.parked.drain(..).for_each(|slot| self.ready.push(slot));
        }
    }

    /// Waits for what is in flight after the measurement, and drops it.
    pub fn drain(&mut self, engine: &mut impl Engine) -> Result<(), EngineError> {
        while self.in_flight > 0 {
            engine.reap(Wait::One { timeout_ns: 0 }, self.none_done())?;
            self.in_flight -= self.done.len() as u32;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(kind: u8, latency_ns: u64) -> Option<EndedFlow> {
        Some(EndedFlow {
            kind,
            errno: 0,
            latency_ns,
        })
    }

    #[test]
    fn slots_come_back_in_the_order_they_were_freed() {
        let mut queue = SlotQueue::full(3);
        for slot in 0..3 {
            assert_eq!(queue.first(), slot);
            queue.pop();
        }
        assert!(queue.is_empty());
        for slot in [2, 0, 1, 2, 0] {
            queue.push(slot);
            assert_eq!(queue.first(), slot);
            queue.pop();
        }
    }

    #[test]
    fn a_flow_lasts_from_its_first_request_and_a_latency_from_its_own() {
        let mut turns = Turns::new(1);
        let request = Flight::default().request;
        turns.issue(request, 10);
        assert_eq!(turns.in_flight, 1);
        turns.reaped(Completion { slot: 0, result: 1 });
        turns.issue(request, 30);
        assert_eq!(turns.latency_ns(0, 45), 15);
        assert_eq!(turns.end_flow(0, Flow::Done(0), 45), ended(0, 35));
        turns.reaped(Completion { slot: 0, result: 1 });
        turns.issue(request, 50);
        assert_eq!(turns.end_flow(0, Flow::Done(1), 51), ended(1, 1));
        assert_eq!(turns.in_flight, 1);
    }

    #[test]
    fn requests_apart_and_things_that_span_slots_leave_the_next_flow_its_own_start() {
        let mut turns = Turns::new(1);
        let request = Flight::default().request;
        for (flow, counted) in [
            (Flow::Apart, None),
            (
                Flow::Spanned {
                    kind: 1,
                    start_ns: 3,
                },
                ended(1, 17),
            ),
        ] {
            turns.issue(request, 10);
            turns.reaped(Completion { slot: 0, result: 1 });
            assert_eq!(turns.end_flow(0, flow, 20), counted);
            turns.issue(request, 30);
            turns.reaped(Completion { slot: 0, result: 1 });
            assert_eq!(turns.end_flow(0, Flow::Done(0), 31), ended(0, 1));
        }
    }

    #[test]
    fn parked_slots_are_asked_again_after_a_completion_and_not_before() {
        let mut turns = Turns::new(2);
        turns.park();
        turns.issue(
            Request {
                slot: 1,
                ..Flight::default().request
            },
            10,
        );
        turns.end_turn();
        assert!(turns.ready.is_empty());
        turns.done.push(Completion { slot: 1, result: 0 });
        turns.reaped(Completion { slot: 1, result: 1 });
        turns.end_turn();
        assert_eq!(turns.ready.first(), 1);
        turns.ready.pop();
        assert_eq!(turns.ready.first(), 0);
    }

    #[test]
    fn a_flow_in_which_a_request_failed_has_failed() {
        let mut turns = Turns::new(1);
        let request = Flight::default().request;
        turns.issue(request, 10);
        turns.reaped(Completion {
            slot: 0,
            result: -5,
        });
        turns.issue(request, 20);
        turns.reaped(Completion {
            slot: 0,
            result: 512,
        });
        let failed = EndedFlow {
            kind: 0,
            errno: -5,
            latency_ns: 20,
        };
        assert_eq!(turns.end_flow(0, Flow::Done(0), 30), Some(failed));
        turns.issue(request, 40);
        turns.reaped(Completion {
            slot: 0,
            result: 512,
        });
        assert_eq!(turns.end_flow(0, Flow::Done(0), 50), ended(0, 10));
    }

    #[test]
    fn a_flow_that_is_judged_has_failed_as_it_says() {
        let mut turns = Turns::new(1);
        let request = Flight::default().request;
        for (result, errno) in [(-17, 0), (0, -5)] {
            turns.issue(request, 10);
            turns.reaped(Completion { slot: 0, result });
            let judged = Flow::Judged { kind: 1, errno };
            let wanted = EndedFlow {
                kind: 1,
                errno,
                latency_ns: 20,
            };
            assert_eq!(turns.end_flow(0, judged, 30), Some(wanted));
        }
    }
}
