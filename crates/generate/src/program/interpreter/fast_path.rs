//! Fast path for a worker that repeats the same few calls, each time on another file.
//!
//! The checks of the interpreter before and after each call cost as much as a call that the kernel
//! completes immediately. If all calls, amounts and positions of a body are known in advance, only
//! the file changes, so its requests are prepared once and filled in. Exceptions (the end, a
//! failure, a short write) are left to the interpreter, which is put into the state that it would
//! have.

mod row;

use std::mem;

use engine::{Completion, Operation, OperationSet, Request};
use plan::program::FileFilter;

use super::{Interpreter, RoundLimit};
use crate::program::pick::Picked;
use crate::program::slot::{CallFrame, OngoingCall, OpenScope, OpenStep, SlotSection};
use crate::program::states::{ClaimResult, FileClaim};
use crate::program::steps::StepCounter;
use crate::{Flow, Generator, Step};

use row::{RequestEffect, RequestNaming, RequestRow, RowCount, RowRequest, written_bytes};

/// Index that means no prepared request: the interpreter is in control.
const INTERPRETED: usize = usize::MAX;

/// A worker whose body is a sequence of calls on the file that the first call picks.
#[derive(Debug)]
pub struct FastPath {
    interpreter: Interpreter,
    row: RequestRow,
    /// Index of the request that is next or in flight, or [`INTERPRETED`].
    request_index: usize,
    /// The file that was picked, and the previous one.
    file: u32,
    previous_file: u32,
    /// Time when the file was picked.
    pick_ns: u64,
    /// Time when the first call of the row was issued; 0 before.
    begin_ns: u64,
    /// Time when the last request was issued.
    request_ns: u64,
    /// Start of each step in the row; not used for steps that begin with the row.
    step_starts_ns: Box<[u64]>,
    /// Completed rows that are not yet merged into the counter of their label.
    rounds: StepCounter,
}

impl FastPath {
    /// Wraps an interpreter whose worker can use the fast path.
    ///
    /// # Errors
    /// The interpreter itself if its worker cannot use the fast path.
    pub fn of(interpreter: Interpreter) -> Result<Self, Box<Interpreter>> {
        match RequestRow::of(&interpreter) {
            Some(row) => Ok(Self {
                interpreter,
                step_starts_ns: vec![0; row.steps.len()].into(),
                row,
                request_index: INTERPRETED,
                file: 0,
                previous_file: 0,
                pick_ns: 0,
                begin_ns: 0,
                request_ns: 0,
                rounds: StepCounter::default(),
            }),
            None => Err(Box::new(interpreter)),
        }
    }

    /// Returns the interpreter in its current state.
    #[must_use]
    pub fn into_interpreter(mut self) -> Interpreter {
        if let Some(label) = self.row.label {
            self.rounds.set_bytes_per_execution(self.row.bytes);
            self.interpreter.steps[usize::from(label)].merge(&self.rounds);
        }
        self.interpreter
    }
}

impl AsRef<Interpreter> for FastPath {
    fn as_ref(&self) -> &Interpreter {
        &self.interpreter
    }
}

impl Generator for FastPath {
    fn operations(&self) -> OperationSet {
        self.interpreter.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.interpreter.transaction_kinds()
    }

    fn enter(&mut self) -> bool {
        self.request_index = INTERPRETED;
        self.interpreter.enter()
    }

    fn begin(&mut self) {
        self.interpreter.begin_window();
        let is_in_body = self.interpreter.slots[0].section == SlotSection::Body;
        self.request_index = if is_in_body { 0 } else { INTERPRETED };
        self.begin_ns = 0;
    }

    fn leave(&mut self) -> bool {
        self.request_index = INTERPRETED;
        self.interpreter.leave()
    }

    #[inline(always)]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let Some(request) = self.row.requests.get(self.request_index) else {
            return self.next_by_interpreter(slot, now_ns);
        };
        let inner = &mut self.interpreter;
        // This is cheaper than the exact test, which is a call: `is_over` is not inlined.
        let may_be_over = now_ns >= inner.end_ns || !inner.phase_end.is_quiet();
        if may_be_over && request.is_over(inner, now_ns) {
            return self.next_by_interpreter(slot, now_ns);
        }
        match request.naming {
            RequestNaming::Open => {}
            RequestNaming::Pick => {
                let states = &inner.states[usize::from(self.row.fileset)];
                match inner.code.pickers[self.row.picker].next(states, &mut inner.rng) {
                    Picked::File(file) => self.previous_file = mem::replace(&mut self.file, file),
                    Picked::Busy | Picked::None => {
                        return self.next_by_interpreter(slot, now_ns);
                    }
                }
                self.pick_ns = now_ns;
            }
            RequestNaming::Same(claim) => {
                let states = &inner.states[usize::from(self.row.fileset)];
                if states.claim(self.file, FileFilter::Any, claim) != ClaimResult::Claimed {
                    return self.next_by_interpreter(slot, now_ns);
                }
            }
        }
        inner.amounts.calls += u64::from(request.begun_calls);
        if self.begin_ns == 0 {
            self.begin_ns = now_ns;
        }
        self.request_ns = now_ns;
        // Only one field is replaced: fields stored separately and then read together would stall
        // the processor.
        Step::Issue(Request {
            file_index: self.file,
            ..request.request
        })
    }

    #[inline]
    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        match self.request_index {
            INTERPRETED => self.interpreter.expected_bytes(request, result),
            _ if result < 0 => self.interpreter.expected_bytes(request, result),
            _ => request.length_bytes,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let request = match self.row.requests.get(self.request_index) {
            Some(request) if completion.result >= request.result_min => request,
            _ => return self.complete_by_interpreter(completion, now_ns),
        };
        let inner = &mut self.interpreter;
        let bytes = u64::from(request.request.length_bytes);
        let states = &inner.states[usize::from(self.row.fileset)];
        match request.effect {
            RequestEffect::None => {}
            RequestEffect::Create { claim, is_emptying } => {
                match claim {
                    FileClaim::Exclusive => states.mark_present(self.file, true),
                    FileClaim::Shared => states.mark_present_in_use(self.file),
                }
                if is_emptying {
                    states.set_size(self.file, 0);
                }
            }
            RequestEffect::Open { is_emptying } => {
                if is_emptying {
                    states.set_size(self.file, 0);
                }
            }
            RequestEffect::Write => {
                inner.amounts.written_bytes += bytes;
                states.reach(self.file, request.offset_bytes + bytes);
            }
            RequestEffect::WriteMore => {
                inner.amounts.written_bytes += bytes;
                states.reach(self.file, request.offset_bytes + bytes);
                self.request_index += 1;
                return Flow::Continues;
            }
            RequestEffect::Close => states.release(self.file, FileClaim::Shared),
            RequestEffect::Unlink => states.mark_absent(self.file),
            RequestEffect::Release(claim) => states.release(self.file, claim),
        }
        match request.count {
            RowCount::None => {}
            RowCount::Call(label) => {
                let span_ns = now_ns.saturating_sub(self.request_ns);
                inner.steps[usize::from(label)].record(span_ns, bytes, false);
            }
            RowCount::Steps(label) => self.advance_steps(label, bytes, now_ns),
        }
        self.request_index += 1;
        match self.request_index < self.row.requests.len() {
            true => Flow::Uncounted,
            false => self.end_round(now_ns),
        }
    }
}

impl RowRequest {
    /// `true` if the request must not be issued any more. A call that has begun is completed.
    #[cold]
    #[inline(never)]
    fn is_over(&self, inner: &mut Interpreter, now_ns: u64) -> bool {
        let is_time_over =
            |inner: &mut Interpreter| now_ns >= inner.end_ns && inner.is_time_over(now_ns);
        self.begun_calls > 0 && (is_time_over(inner) || !inner.phase_end.is_quiet())
    }
}

impl FastPath {
    /// Counts the completed call, if it has a label, and the steps that end with it. Starts the
    /// steps that begin after it.
    fn advance_steps(&mut self, label: Option<u8>, bytes: u64, now_ns: u64) {
        let counters = &mut self.interpreter.steps;
        if let Some(label) = label {
            let span_ns = now_ns.saturating_sub(self.request_ns);
            counters[usize::from(label)].record(span_ns, bytes, false);
        }
        for (step, start_ns) in self.row.steps.iter().zip(&mut self.step_starts_ns) {
            if step.last == self.request_index {
                let start_ns = step.began_ns(self.pick_ns, *start_ns);
                let span_ns = now_ns.saturating_sub(start_ns);
                counters[usize::from(step.label)].record(span_ns, step.bytes, false);
            }
            if step.first == self.request_index + 1 {
                *start_ns = now_ns;
            }
        }
    }

    /// Ends the row, and begins another one if there is to be one.
    #[inline]
    fn end_round(&mut self, now_ns: u64) -> Flow {
        let start_ns = mem::take(&mut self.begin_ns);
        self.request_index = 0;
        let flow = match start_ns {
            0 => Flow::Uncounted,
            _ => Flow::Timed {
                kind: self.row.kind,
                errno: 0,
                start_ns,
            },
        };
        if self.row.label.is_some() && start_ns > 0 {
            self.rounds.record_time(now_ns.saturating_sub(start_ns));
        }
        if self.interpreter.round_limit == RoundLimit::Pending || !self.interpreter.claim_round() {
            self.last_round(now_ns);
        }
        flow
    }

    /// Returns control to the interpreter if there is no further round, or it is not known yet.
    #[cold]
    #[inline(never)]
    fn last_round(&mut self, now_ns: u64) {
        self.return_control(false);
        match self.interpreter.round_limit {
            RoundLimit::Pending => self.interpreter.begin_round(0, now_ns),
            _ => self.interpreter.leave_body(0, now_ns),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_by_interpreter(&mut self, slot: u32, now_ns: u64) -> Step {
        self.return_control(false);
        self.interpreter.next(slot, now_ns)
    }

    #[cold]
    #[inline(never)]
    fn complete_by_interpreter(&mut self, completion: Completion, now_ns: u64) -> Flow {
        self.return_control(true);
        self.interpreter.complete(completion, now_ns)
    }

    /// Returns control to the interpreter, unless it has it already. The interpreter is then before
    /// the next request, or waits for the one in flight.
    fn return_control(&mut self, is_in_flight: bool) {
        let at = mem::replace(&mut self.request_index, INTERPRETED);
        let Some(request) = self.row.requests.get(at) else {
            return;
        };
        let (instruction, bytes) = (request.instruction, request.offset_bytes);
        let is_in_row = at > 0 || is_in_flight;
        self.hand_over_register(at, is_in_flight);
        let inner = &mut self.interpreter;
        // The interpreter has not counted the requests of the row.
        inner.in_flight = u32::from(is_in_flight);
        let slot = &mut inner.slots[0];
        slot.idle_rounds = 0;
        slot.is_round_busy = is_in_row;
        slot.instruction = inner.code.body;
        if !is_in_row {
            return;
        }
        slot.instruction = instruction;
        slot.frame = CallFrame {
            kind: Some(self.row.kind),
            label: self.row.label,
            bytes,
            end: self.row.end,
            loop_count: 0,
            step_count: 0,
            start_ns: self.begin_ns,
            errno: 0,
        };
        self.hand_over_steps(at);
        if is_in_flight {
            self.interpreter.slots[0].call = self.ongoing_call(at);
        }
    }

    /// Sets the register as the interpreter would have left it.
    fn hand_over_register(&mut self, at: usize, is_in_flight: bool) {
        let (row, requests) = (&self.row, &self.row.requests);
        let inner = &mut self.interpreter;
        // Until a row has opened its file, the register is as the previous row left it.
        let (begun, is_before_open) = (at + usize::from(is_in_flight), at <= row.opener);
        let is_as_before = is_before_open && inner.amounts.calls > begun as u64;
        let (here_bytes, stands_bytes, begun) = match is_as_before {
            true => (row.bytes, row.bytes, requests.len()),
            // The bytes of a call in progress are added when it is done.
            false => (
                row.call_around(at)[0].offset_bytes,
                requests[at].offset_bytes,
                begun,
            ),
        };
        let begins =
            |it: &&RowRequest| it.request.operation == Operation::Write && it.begun_calls > 0;
        let last = requests[..begun].iter().rev().find(begins);
        let handle = usize::from(requests[at].request.handle);
        let register = &mut inner.slots[0].registers[handle];
        register.fileset = self.row.fileset;
        register.file = match (at, is_in_flight) {
            // The picked file enters the register only when the first call completes.
            (0, true) => self.previous_file,
            _ => self.file,
        };
        (register.next_offset_bytes, register.position_bytes) = (here_bytes, stands_bytes);
        register.last_offset_bytes = last.map_or(0, |it| it.offset_bytes);
        if !is_before_open {
            register.is_open = true;
            register.scope = OpenScope::InTransaction;
        }
    }

    /// Passes on the steps that are open before a request.
    fn hand_over_steps(&mut self, at: usize) {
        let slot = &mut self.interpreter.slots[0];
        slot.step_count = 0;
        for (step, start_ns) in self.row.steps.iter().zip(&self.step_starts_ns) {
            if (step.first..=step.last).contains(&at) {
                slot.steps[usize::from(slot.step_count)] = OpenStep {
                    label: step.label,
                    start_ns: step.began_ns(self.pick_ns, *start_ns),
                    bytes: written_bytes(&self.row.requests[step.first..at]),
                    has_failed: false,
                };
                slot.step_count += 1;
            }
        }
    }

    /// The call of a request that is in flight.
    fn ongoing_call(&self, at: usize) -> OngoingCall {
        let request = &self.row.requests[at];
        let call = self.row.call_around(at);
        let is_write = request.request.operation == Operation::Write;
        let moved_bytes = request.offset_bytes - call[0].offset_bytes;
        OngoingCall {
            is_begun: true,
            offset_bytes: if is_write { request.offset_bytes } else { 0 },
            left_bytes: written_bytes(call) - moved_bytes,
            moved_bytes,
            // Used only for calls with labels, which have one request each.
            start_ns: self.request_ns,
            fileset: self.row.fileset,
            file: self.file,
            is_claimed: at <= self.row.opener,
            expected_bytes: request.request.length_bytes,
            ..OngoingCall::default()
        }
    }
}
