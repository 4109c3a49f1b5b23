//! The stream: next request of each slot, and effects of completions.

use std::hint::black_box;

use engine::{Completion, Operation, OperationSet, Request};

use super::Interpreter;
use super::calls::CallStart;
use crate::program::code::Instruction;
use crate::program::slot::SlotSection;
use crate::{EXPECTED_FAILURE, Flow, Generator, Step, mix};

/// Time before a waiting slot tries again, in nanoseconds.
pub(super) const PAUSE_NS: u64 = 20_000;
/// After this many consecutive acts without requests, the caller must check the clock.
const QUIET_ACTS_MAX: u32 = 100;

impl Generator for Interpreter {
    fn operations(&self) -> OperationSet {
        let calls = self.code.calls.iter().map(|call| call.operation);
        // Files left open by a failure are closed.
        calls
            .fold(OperationSet::EMPTY, OperationSet::with)
            .with(Operation::Close)
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.code.kinds.clone()
    }

    fn enter(&mut self) -> bool {
        self.alone(SlotSection::Enter, self.code.enter)
    }

    fn begin(&mut self) {
        self.begin_window();
    }

    fn leave(&mut self) -> bool {
        // Requests in flight when time was up count as done, whatever their result.
        self.in_flight = 0;
        self.alone(SlotSection::Leave, self.code.leave)
    }

    // Inlined into the loop: a step returned through memory would stall there, because its bytes
    // are stored one by one and loaded two at a time.
    #[inline(always)]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let index = slot as usize;
        for _ in 0..QUIET_ACTS_MAX {
            let state = &mut self.slots[index];
            if state.section == SlotSection::Finished {
                return Step::Finished;
            }
            let instruction = self.code.instructions[usize::from(state.instruction)];
            // A call that has begun is finished, whatever ends meanwhile.
            if state.call.is_begun
                && let Instruction::Call(number) = instruction
            {
                self.in_flight += 1;
                return Step::Issue(self.piece(index, number));
            }
            if state.is_closing {
                if let Some(request) = self.close(index) {
                    self.in_flight += 1;
                    return Step::Issue(request);
                }
                self.go_to_end(index);
                continue;
            }
            let section = state.section;
            if self.must_wait(section) {
                if section != SlotSection::Between {
                    return self.wait(now_ns + PAUSE_NS);
                }
                match self.next_round(index, now_ns) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            if section == SlotSection::Body && now_ns >= self.end_ns && self.is_time_over(now_ns) {
                self.leave_body(index, now_ns);
                continue;
            }
            match instruction {
                Instruction::Call(number) => match self.begin(index, number, now_ns) {
                    CallStart::Ready => {
                        self.in_flight += 1;
                        return Step::Issue(self.piece(index, number));
                    }
                    CallStart::Moved => {}
                    CallStart::Wait => return self.wait(now_ns + PAUSE_NS),
                },
                Instruction::Think(sampler) => {
                    if let Some(until_ns) = self.think(index, sampler, now_ns) {
                        return Step::Wait { until_ns };
                    }
                }
                Instruction::Burn(sampler) => {
                    self.burn(index, sampler);
                    // The computation took time, so the next call must see a new reading of the
                    // clock.
                    return Step::Again;
                }
                Instruction::Wait(number) => {
                    if let Some(step) = self.wait_for_others(index, number, now_ns) {
                        return step;
                    }
                }
                _ => {
                    self.settle(index, now_ns);
                }
            }
        }
        Step::Again
    }

    #[inline]
    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        let name = (request.fileset, request.file_index);
        match request.operation {
            Operation::Unlink if result < 0 && self.was_removed_before(name, result) => {
                EXPECTED_FAILURE
            }
            Operation::Read => self.slots[request.slot as usize].call.expected_bytes,
            Operation::NextEntry => 0,
            _ => request.length_bytes,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let index = completion.slot as usize;
        self.in_flight -= 1;
        if self.slots[index].is_closing {
            return self.closed(index, now_ns);
        }
        let at = self.slots[index].instruction;
        let Instruction::Call(number) = self.code.instructions[usize::from(at)] else {
            return Flow::Uncounted;
        };
        let settled = self.settle_call(index, number, completion.result);
        if settled == Ok(false) {
            return Flow::Continues;
        }
        let slot = &mut self.slots[index];
        if let Some(label) = self.code.calls[usize::from(number)].label {
            let span_ns = now_ns.saturating_sub(slot.call.start_ns);
            let counter = &mut self.steps[usize::from(label)];
            counter.record(span_ns, slot.call.moved_bytes, settled.is_err());
        }
        match settled {
            Ok(_) => {
                slot.call.is_begun = false;
                slot.instruction += 1;
            }
            Err(errno) => {
                self.fail(index, now_ns, errno);
                if self.slots[index].is_closing {
                    return Flow::Uncounted;
                }
            }
        }
        self.settle(index, now_ns)
    }
}

impl AsRef<Interpreter> for Interpreter {
    fn as_ref(&self) -> &Interpreter {
        self
    }
}

impl Interpreter {
    /// `true` if the slot has to wait for another slot or for the start of a round.
    fn must_wait(&self, section: SlotSection) -> bool {
        match section {
            SlotSection::Body => !self.is_first_done,
            SlotSection::Last => self.body_count > 0,
            SlotSection::Between => true,
            _ => false,
        }
    }

    /// Time until which the slot sleeps; `None` when it is over.
    fn think(&mut self, index: usize, sampler: u16, now_ns: u64) -> Option<u64> {
        let state = &mut self.slots[index];
        if state.wake_ns == 0 {
            let sampler = &self.code.samplers[usize::from(sampler)];
            let span_ns = sampler.amount(self.rng.next_u64());
            state.wake_ns = now_ns.saturating_add(span_ns).max(1);
            state.is_round_busy = true;
        }
        // A sleep must not outlast the window.
        let until_ns = state.wake_ns.min(self.end_ns.max(1));
        if now_ns < until_ns {
            return Some(until_ns);
        }
        state.wake_ns = 0;
        state.instruction += 1;
        None
    }

    /// Computes a number of rounds. Each takes the same time while nothing else runs.
    pub fn compute(rounds: u64) {
        let mut value = 0;
        for round in 0..rounds {
            // Keeps the compiler from removing the loop.
            value = black_box(mix(value ^ round));
        }
    }

    fn burn(&mut self, index: usize, sampler: u16) {
        let sampler = &self.code.samplers[usize::from(sampler)];
        let span_ns = sampler.amount(self.rng.next_u64());
        // The cast saturates.
        Self::compute((span_ns as f64 * self.rounds_per_us / 1000.0) as u64);
        let state = &mut self.slots[index];
        state.is_round_busy = true;
        state.instruction += 1;
    }

    /// Asks for this slot again: after a completion if a request is in flight, otherwise at
    /// `until_ns`.
    pub(super) fn wait(&self, until_ns: u64) -> Step {
        match self.in_flight {
            0 => Step::Wait { until_ns },
            _ => Step::Park,
        }
    }
}
