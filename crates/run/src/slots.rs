//! The worker's slots: which are free, and what is in flight in the others.

use engine::{Completion, Operation, Request};

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
        let request = Request {
            operation: Operation::Read,
            slot: 0,
            file_index: 0,
            length_bytes: 0,
            offset_bytes: 0,
        };
        Self {
            request,
            issued_ns: 0,
            flow_ns: 0,
        }
    }
}

/// What the loop keeps from turn to turn, all of it allocated before the first.
pub(crate) struct Turns {
    flights: Box<[Flight]>,
    pub ready: SlotQueue,
    pub done: Vec<Completion>,
    pub in_flight: u32,
}

impl Turns {
    pub fn new(slot_count: u32) -> Self {
        Self {
            flights: vec![Flight::default(); slot_count as usize].into(),
            ready: SlotQueue::full(slot_count),
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
    pub fn reaped(&mut self, slot: u32) -> Request {
        self.in_flight -= 1;
        self.ready.push(slot);
        self.flights[slot as usize].request
    }

    /// From queued to reaped.
    #[inline]
    pub fn latency_ns(&self, slot: u32, now_ns: u64) -> u64 {
        now_ns - self.flights[slot as usize].issued_ns
    }

    /// Ends the slot's flow and returns how long it lasted.
    #[inline]
    pub fn end_flow(&mut self, slot: u32, now_ns: u64) -> u64 {
        now_ns - std::mem::take(&mut self.flights[slot as usize].flow_ns)
    }

    /// Drops completions that came after the measurement.
    pub fn drop_done(&mut self) {
        self.in_flight -= self.done.len() as u32;
        self.done.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        turns.reaped(0);
        turns.issue(request, 30);
        assert_eq!(turns.latency_ns(0, 45), 15);
        assert_eq!(turns.end_flow(0, 45), 35);
        turns.reaped(0);
        turns.issue(request, 50);
        assert_eq!(turns.end_flow(0, 51), 1);
        assert_eq!(turns.in_flight, 1);
    }
}
