//! A straight path: a worker that does the same few calls on one file after the other.
//!
//! What the interpreter looks at before and behind each call costs as much as a call that the
//! kernel answers at once. Of a body whose calls, amounts and places are known beforehand only the
//! file changes, so its requests are made once and filled in. Whatever is out of the ordinary (the
//! end, a failure, a write that is not whole) is left to the interpreter, which is put where it
//! would have stood.

use std::mem;

use engine::{Completion, Operation, OperationSet, Request};

use super::{Interpreter, Level};
use crate::program::code::{Amount, CallCode, Form, Instruction, Place, Subject};
use crate::program::pick::{Picked, Picker, Turns};
use crate::program::slot::{Frame, OngoingCall, Opened, Section};
use crate::program::states::Claim;
use crate::{Flow, Generator, Step};

/// The calls of a body at most.
const CALLS_MAX: usize = 16;
/// No call: the interpreter goes on by itself.
const ASIDE: usize = CALLS_MAX;

/// A worker whose body is a row of calls on the file that the first of them picks.
#[derive(Debug)]
pub struct Straight {
    interpreter: Interpreter,
    row: Row,
    /// The call that is next or in flight, or [`ASIDE`].
    at: usize,
    /// The file that was picked, and the one before it.
    file: u32,
    file_before: u32,
    /// When the first call of the row was issued; 0 before.
    begin_ns: u64,
    /// When the last one was.
    call_ns: u64,
}

/// The body of an interpreter that goes a straight path.
#[derive(Debug)]
struct Row {
    calls: Box<[StraightCall]>,
    /// The picker of the first call, and its fileset.
    picker: usize,
    fileset: u8,
    /// What the calls are counted as together.
    kind: u8,
    label: Option<u8>,
    /// Where the interpreter's transaction ends.
    end: u16,
    /// Bytes that all calls write.
    bytes: u64,
}

/// A call that is known but for its file.
#[derive(Debug)]
struct StraightCall {
    /// Where its instruction stands.
    instruction: u16,
    request: Request,
    /// What it returns at least if all goes well.
    result_min: i32,
    effect: Effect,
    label: Option<u8>,
}

/// What a call changes of what is known of its file.
#[derive(Debug, Clone, Copy)]
enum Effect {
    Nothing,
    /// It exists, is open, and may be empty now.
    Create {
        claim: Claim,
        is_emptying: bool,
    },
    Open {
        is_emptying: bool,
    },
    Write,
    Close,
    Unlink,
    /// It was only named.
    LetGo(Claim),
}

impl Straight {
    /// Takes an interpreter whose worker goes a straight path.
    ///
    /// # Errors
    /// The interpreter itself where it does not.
    pub fn of(interpreter: Interpreter) -> Result<Self, Box<Interpreter>> {
        match Row::of(&interpreter) {
            Some(row) => Ok(Self {
                interpreter,
                row,
                at: ASIDE,
                file: 0,
                file_before: 0,
                begin_ns: 0,
                call_ns: 0,
            }),
            None => Err(Box::new(interpreter)),
        }
    }

    /// The interpreter as it stands.
    #[must_use]
    pub fn into_interpreter(self) -> Interpreter {
        self.interpreter
    }
}

impl AsRef<Interpreter> for Straight {
    fn as_ref(&self) -> &Interpreter {
        &self.interpreter
    }
}

impl Row {
    /// None where something else is done, or what is done is not known beforehand.
    fn of(interpreter: &Interpreter) -> Option<Self> {
        let code = &interpreter.code;
        let begin = usize::from(code.body);
        let Instruction::TransactionBegin { kind, label, end } = code.instructions[begin] else {
            return None;
        };
        let is_body = code.instructions.get(usize::from(end) + 1) == Some(&Instruction::RoundEnd);
        let is_alone = interpreter.slots.len() == 1 && interpreter.is_empty(code.first);
        let inner = &code.instructions[begin + 1..usize::from(end)];
        if !is_body || !is_alone || inner.len() > CALLS_MAX {
            return None;
        }
        let call = |it: &Instruction| match it {
            Instruction::Call(number) => code.calls.get(usize::from(*number)),
            _ => None,
        };
        let codes: Vec<&CallCode> = inner.iter().map(call).collect::<Option<_>>()?;
        let (first, rest) = codes.split_first()?;
        let Subject::Pick(picker) = first.subject else {
            return None;
        };
        let picker = usize::from(picker);
        let Picker { turns, fileset, .. } = &code.pickers[picker];
        // Those that are through stay so, however often they are asked.
        let has_end = matches!(turns, Turns::Once { .. });
        let of_first = |it: &&CallCode| it.subject == Subject::Handle && it.handle == first.handle;
        let closes = |it: &CallCode| it.operation == Operation::Close;
        let opens = matches!(first.operation, Operation::Create | Operation::Open);
        let is_closed = match rest.split_last() {
            Some((last, between)) => opens && closes(last) && !between.iter().any(|it| closes(it)),
            None => !opens,
        };
        if !has_end || !is_closed || !rest.iter().all(of_first) {
            return None;
        }
        let mut here_bytes = 0;
        let places = code.body + 1..;
        let calls = codes.iter().zip(places);
        let calls = calls.map(|(call, at)| StraightCall::of(call, at, &mut here_bytes));
        Some(Self {
            calls: calls.collect::<Option<_>>()?,
            picker,
            fileset: *fileset,
            kind,
            label,
            end,
            bytes: here_bytes,
        })
    }
}

impl StraightCall {
    /// None of what is not known beforehand. Files are written from their beginning on.
    fn of(call: &CallCode, instruction: u16, here_bytes: &mut u64) -> Option<Self> {
        let Amount::Fixed(bytes) = call.amount else {
            return None;
        };
        let is_emptying = call.is_emptying;
        let effect = match call.operation {
            Operation::Create => Effect::Create {
                claim: call.claim,
                is_emptying,
            },
            Operation::Open => Effect::Open { is_emptying },
            Operation::Close => Effect::Close,
            Operation::Write => Effect::Write,
            Operation::Fsync | Operation::Fdatasync => Effect::Nothing,
            Operation::Unlink => Effect::Unlink,
            Operation::Stat => Effect::LetGo(call.claim),
            _ => return None,
        };
        let is_write = call.operation == Operation::Write;
        let (offset_bytes, length_bytes) = match (&call.form, &call.place) {
            (Form::Code(code), _) if !is_write => (*code, 0),
            (Form::Offset, Place::Here) if is_write => (*here_bytes, u32::try_from(bytes).ok()?),
            _ => return None,
        };
        let is_one_piece = length_bytes <= call.piece_bytes && (length_bytes > 0) == is_write;
        if call.second.is_some() || !is_one_piece {
            return None;
        }
        *here_bytes += u64::from(length_bytes);
        Some(Self {
            instruction,
            request: Request {
                operation: call.operation,
                handle: call.handle,
                length_bytes,
                offset_bytes,
                // The file comes with the round.
                ..Request::NOTHING
            },
            result_min: i32::try_from(length_bytes).ok()?,
            effect,
            label: call.label,
        })
    }
}

/// What calls write.
fn bytes(calls: &[StraightCall]) -> u64 {
    let each = calls.iter().map(|it| u64::from(it.request.length_bytes));
    each.sum()
}

impl Generator for Straight {
    fn operations(&self) -> OperationSet {
        self.interpreter.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.interpreter.transaction_kinds()
    }

    fn enter(&mut self) -> bool {
        self.at = ASIDE;
        self.interpreter.enter()
    }

    fn begin(&mut self) {
        self.interpreter.begin_window();
        let is_in_body = self.interpreter.slots[0].section == Section::Body;
        self.at = if is_in_body { 0 } else { ASIDE };
        self.begin_ns = 0;
    }

    fn leave(&mut self) -> bool {
        self.at = ASIDE;
        self.interpreter.leave()
    }

    #[inline(always)]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let Some(call) = self.row.calls.get(self.at) else {
            return self.next_aside(slot, now_ns);
        };
        let inner = &mut self.interpreter;
        let is_over = now_ns >= inner.end_ns && inner.is_time_over(now_ns);
        if is_over || !inner.phase_end.is_quiet() {
            return self.next_aside(slot, now_ns);
        }
        if self.at == 0 {
            let states = &inner.states[usize::from(self.row.fileset)];
            match inner.code.pickers[self.row.picker].next(states, &mut inner.rng) {
                Picked::File(file) => self.file_before = mem::replace(&mut self.file, file),
                Picked::Busy | Picked::Nothing => return self.next_aside(slot, now_ns),
            }
        }
        inner.amounts.calls += 1;
        if self.begin_ns == 0 {
            self.begin_ns = now_ns;
        }
        self.call_ns = now_ns;
        Step::Issue(Request {
            fileset: self.row.fileset,
            file_index: self.file,
            ..call.request
        })
    }

    #[inline]
    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        match self.at {
            ASIDE => self.interpreter.expected_bytes(request, result),
            _ => request.length_bytes,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let call = match self.row.calls.get(self.at) {
            Some(call) if completion.result >= call.result_min => call,
            _ => return self.complete_aside(completion, now_ns),
        };
        let inner = &mut self.interpreter;
        let bytes = u64::from(call.request.length_bytes);
        let states = &inner.states[usize::from(self.row.fileset)];
        match call.effect {
            Effect::Nothing => {}
            Effect::Create { claim, is_emptying } => {
                match claim {
                    Claim::Alone => states.appear(self.file, true),
                    Claim::Use => states.appear_in_use(self.file),
                }
                if is_emptying {
                    states.set_size(self.file, 0);
                }
            }
            Effect::Open { is_emptying } => {
                if is_emptying {
                    states.set_size(self.file, 0);
                }
            }
            Effect::Write => {
                inner.amounts.written_bytes += bytes;
                states.reach(self.file, call.request.offset_bytes + bytes);
            }
            Effect::Close => states.release(self.file, Claim::Use),
            Effect::Unlink => states.vanish(self.file),
            Effect::LetGo(claim) => states.release(self.file, claim),
        }
        if let Some(label) = call.label {
            let span_ns = now_ns.saturating_sub(self.call_ns);
            inner.steps[usize::from(label)].record(span_ns, bytes, false);
        }
        self.at += 1;
        match self.at < self.row.calls.len() {
            true => Flow::Apart,
            false => self.end_round(now_ns),
        }
    }
}

impl Straight {
    /// The row is done, and another one begins if there is to be one.
    #[inline]
    fn end_round(&mut self, now_ns: u64) -> Flow {
        let start_ns = mem::take(&mut self.begin_ns);
        self.at = 0;
        let flow = match start_ns {
            0 => Flow::Apart,
            _ => Flow::Timed {
                kind: self.row.kind,
                errno: 0,
                start_ns,
            },
        };
        if let (Some(label), 1..) = (self.row.label, start_ns) {
            let span_ns = now_ns.saturating_sub(start_ns);
            let counter = &mut self.interpreter.steps[usize::from(label)];
            counter.record(span_ns, self.row.bytes, false);
        }
        if self.interpreter.level == Level::Awaited || !self.interpreter.claim_round() {
            self.last_round(now_ns);
        }
        flow
    }

    /// No further round, as far as is known.
    #[cold]
    #[inline(never)]
    fn last_round(&mut self, now_ns: u64) {
        self.step_aside(false);
        match self.interpreter.level {
            Level::Awaited => self.interpreter.begin_round(0, now_ns),
            _ => self.interpreter.leave_body(0, now_ns),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_aside(&mut self, slot: u32, now_ns: u64) -> Step {
        self.step_aside(false);
        self.interpreter.next(slot, now_ns)
    }

    #[cold]
    #[inline(never)]
    fn complete_aside(&mut self, completion: Completion, now_ns: u64) -> Flow {
        self.step_aside(true);
        self.interpreter.complete(completion, now_ns)
    }

    /// The interpreter goes on from here by itself, unless it does already; it stands before the
    /// call that is next, or waits for it.
    fn step_aside(&mut self, is_in_flight: bool) {
        let at = mem::replace(&mut self.at, ASIDE);
        let Some(call) = self.row.calls.get(at) else {
            return;
        };
        let is_in_row = at > 0 || is_in_flight;
        let frame = self.frame(at, self.begin_ns);
        let row_bytes = self.row.bytes;
        let inner = &mut self.interpreter;
        let slot = &mut inner.slots[0];
        slot.idle_rounds = 0;
        slot.is_round_busy = is_in_row;
        slot.at = inner.code.body;
        inner.in_flight = u32::from(is_in_flight);
        let request = &call.request;
        let wrote = |it: &&StraightCall| it.request.operation == Operation::Write;
        let register = &mut slot.registers[usize::from(request.handle)];
        // What the row before has left there.
        let last = self.row.calls.iter().rev().find(wrote);
        let (mut here_bytes, mut last_bytes) = (row_bytes, last.map(|it| it.request.offset_bytes));
        register.fileset = self.row.fileset;
        register.file = match (at, is_in_flight) {
            (0, true) => self.file_before,
            _ => self.file,
        };
        let begun = at as u64 + u64::from(is_in_flight);
        if at > 0 || inner.amounts.calls == begun {
            (here_bytes, last_bytes) = (frame.bytes, None);
        }
        if at > 0 {
            register.is_open = true;
            register.opened = Opened::InTransaction;
            let begun = self.row.calls[..at]
                .iter()
                .chain(is_in_flight.then_some(call));
            last_bytes = begun.rev().find(wrote).map(|it| it.request.offset_bytes);
        }
        (register.here_bytes, register.stands_bytes) = (here_bytes, here_bytes);
        register.last_bytes = last_bytes.unwrap_or(0);
        if !is_in_row {
            return;
        }
        slot.at = call.instruction;
        slot.frame = frame;
        if is_in_flight {
            slot.call = OngoingCall {
                is_begun: true,
                offset_bytes: match wrote(&call) {
                    true => request.offset_bytes,
                    false => 0,
                },
                left_bytes: request.length_bytes.into(),
                start_ns: self.call_ns,
                fileset: self.row.fileset,
                file: self.file,
                is_claimed: at == 0,
                expected_bytes: request.length_bytes,
                ..OngoingCall::default()
            };
        }
    }

    /// The transaction of the row, of which so many calls are done.
    fn frame(&self, done: usize, start_ns: u64) -> Frame {
        Frame {
            kind: Some(self.row.kind),
            label: self.row.label,
            bytes: bytes(&self.row.calls[..done]),
            end: self.row.end,
            loop_count: 0,
            step_count: 0,
            start_ns,
            errno: 0,
        }
    }
}
