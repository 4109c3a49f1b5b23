//! Slots of a worker: the free ones, and the requests in flight in the others.

use engine::{Completion, Request};
use generate::Flow;

/// Free slots in FIFO order, in a ring of fixed size.
pub(crate) struct SlotQueue {
    slots: Box<[u32]>,
    mask: u32,
    head: u32,
    tail: u32,
}

impl SlotQueue {
    /// Creates a queue of `slot_count` slots, all free, in order.
    pub fn full(slot_count: u32) -> Self {
        // A power of two, so that positions wrap by a mask instead of a division.
        let capacity = slot_count.max(1).next_power_of_two();
        Self {
            // Places from `slot_count` on are written before they are read.
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

    /// Next slot to use; any slot if the queue is empty.
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

#[derive(Clone, Copy)]
pub(crate) struct InFlightRequest {
    pub request: Request,
    pub issued_ns: u64,
}

impl Default for InFlightRequest {
    fn default() -> Self {
        Self {
            request: Request::EMPTY,
            issued_ns: 0,
        }
    }
}

/// A flow with completed requests and more to come.
#[derive(Clone, Copy, Default)]
struct OpenFlow {
    /// Time at which its first request was issued; 0 between flows.
    start_ns: u64,
    /// Negative error number of a failed request; 0 if none failed.
    errno: i32,
}

/// A flow that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndedFlow {
    pub kind: u8,
    /// As in [`OpenFlow::errno`].
    pub errno: i32,
    pub latency_ns: u64,
}

/// State that the loop keeps between turns, all of it allocated before the first turn.
pub(crate) struct LoopState {
    flights: Box<[InFlightRequest]>,
    /// Separate from the flights, because most flows have a single request and store nothing here.
    flows: Box<[OpenFlow]>,
    pub ready: SlotQueue,
    /// Slots that the loop tries again after a completion.
    parked: Vec<u32>,
    /// Completions of this turn.
    pub done: Vec<Completion>,
    pub in_flight: u32,
}

impl LoopState {
    pub fn new(slot_count: u32) -> Self {
        Self {
            flights: vec![InFlightRequest::default(); slot_count as usize].into(),
            flows: vec![OpenFlow::default(); slot_count as usize].into(),
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
        self.flights[request.slot as usize] = InFlightRequest {
            request,
            issued_ns: now_ns,
        };
    }

    /// Frees the slot and returns its request.
    #[inline]
    pub fn reaped(&mut self, slot: u32) -> InFlightRequest {
        self.in_flight -= 1;
        self.ready.push(slot);
        self.flights[slot as usize]
    }

    /// Sets the first free slot aside until the next completion.
    #[inline]
    pub fn park(&mut self) {
        // A slot without work, for example of a target that is closing, must not hold up the
        // others.
        self.parked.push(self.ready.first());
        self.ready.pop();
    }

    /// Ends the slot's flow unless it continues; returns its kind and duration.
    #[inline]
    pub fn end_flow(
        &mut self,
        Completion { slot, result }: Completion,
        issued_ns: u64,
        flow: Flow,
        now_ns: u64,
    ) -> Option<EndedFlow> {
        let open = &mut self.flows[slot as usize];
        let (mut flow_ns, mut errno) = (issued_ns, result.min(0));
        if open.start_ns > 0 {
            flow_ns = open.start_ns;
            // Error numbers are negative, so the minimum keeps a failure.
            errno = errno.min(open.errno);
            *open = OpenFlow::default();
        }
        let (kind, start_ns, errno) = match flow {
            Flow::Done(kind) => (kind, flow_ns, errno),
            Flow::DoneWithErrno { kind, errno } => (kind, flow_ns, errno),
            Flow::TransactionDone { kind, start_ns } => (kind, start_ns, errno),
            Flow::Timed {
                kind,
                errno,
                start_ns,
            } => (kind, start_ns, errno),
            Flow::Uncounted => return None,
            Flow::Continues => {
                *open = OpenFlow {
                    start_ns: flow_ns,
                    errno,
                };
                return None;
            }
        };
        Some(EndedFlow {
            kind,
            errno,
            latency_ns: now_ns.saturating_sub(start_ns),
        })
    }

    /// Starts a turn with an empty list of completions.
    #[inline]
    pub fn clear_done(&mut self) -> &mut Vec<Completion> {
        self.done.clear();
        &mut self.done
    }

    /// Makes parked slots ready again, because a completion may have created work for them.
    #[inline]
    pub fn end_turn(&mut self) {
        // Parked slots are rare, and even an empty `drain` costs a call that moves its tail.
        if !self.parked.is_empty() && !self.done.is_empty() {
            self.parked.drain(..).for_each(|slot| self.ready.push(slot));
        }
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

    /// Issues a request and completes it.
    fn turn(
        turns: &mut LoopState,
        (issued_ns, now_ns): (u64, u64),
        result: i32,
        flow: Flow,
    ) -> Option<EndedFlow> {
        turns.issue(Request::EMPTY, issued_ns);
        assert_eq!(turns.in_flight, 1);
        let flight = turns.reaped(0);
        assert_eq!((flight.issued_ns, turns.in_flight), (issued_ns, 0));
        turns.end_flow(
            Completion { slot: 0, result },
            flight.issued_ns,
            flow,
            now_ns,
        )
    }

    #[test]
    fn a_flow_lasts_from_its_first_request() {
        let mut turns = LoopState::new(1);
        assert_eq!(turn(&mut turns, (10, 20), 1, Flow::Continues), None);
        assert_eq!(turn(&mut turns, (25, 28), 1, Flow::Continues), None);
        assert_eq!(turn(&mut turns, (30, 45), 1, Flow::Done(0)), ended(0, 35));
        assert_eq!(turn(&mut turns, (50, 51), 1, Flow::Done(1)), ended(1, 1));
    }

    #[test]
    fn separate_requests_and_spanned_flows_do_not_start_the_next_flow() {
        let mut turns = LoopState::new(1);
        for (flow, counted) in [
            (Flow::Uncounted, None),
            (
                Flow::TransactionDone {
                    kind: 1,
                    start_ns: 3,
                },
                ended(1, 17),
            ),
        ] {
            assert_eq!(turn(&mut turns, (5, 8), 1, Flow::Continues), None);
            assert_eq!(turn(&mut turns, (10, 20), 1, flow), counted);
            assert_eq!(turn(&mut turns, (30, 31), 1, Flow::Done(0)), ended(0, 1));
        }
    }

    #[test]
    fn parked_slots_are_polled_again_only_after_a_completion() {
        let mut turns = LoopState::new(2);
        turns.park();
        turns.issue(
            Request {
                slot: 1,
                ..InFlightRequest::default().request
            },
            10,
        );
        turns.end_turn();
        assert!(turns.ready.is_empty());
        turns.done.push(Completion { slot: 1, result: 0 });
        turns.reaped(1);
        turns.end_turn();
        assert_eq!(turns.ready.first(), 1);
        turns.ready.pop();
        assert_eq!(turns.ready.first(), 0);
    }

    #[test]
    fn a_flow_in_which_a_request_failed_has_failed() {
        let mut turns = LoopState::new(1);
        assert_eq!(turn(&mut turns, (10, 15), -5, Flow::Continues), None);
        let failed = EndedFlow {
            kind: 0,
            errno: -5,
            latency_ns: 20,
        };
        let last = turn(&mut turns, (20, 30), 512, Flow::Done(0));
        assert_eq!(last, Some(failed));
        assert_eq!(turn(&mut turns, (40, 50), 512, Flow::Done(0)), ended(0, 10));
    }

    #[test]
    fn a_judged_flow_has_the_error_that_it_gives() {
        let mut turns = LoopState::new(1);
        for (result, errno) in [(-17, 0), (0, -5)] {
            let wanted = EndedFlow {
                kind: 1,
                errno,
                latency_ns: 20,
            };
            let judged = Flow::DoneWithErrno { kind: 1, errno };
            assert_eq!(turn(&mut turns, (10, 30), result, judged), Some(wanted));
        }
    }
}
