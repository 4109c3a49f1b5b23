//! What a straight path is made of: the requests of a body, which are known but for their file.

use engine::{Operation, Request};

use super::super::Interpreter;
use super::super::calls::by_position;
use crate::program::code::{Amount, CallCode, Code, FileSizes, Form, Instruction, Place, Subject};
use crate::program::pick::{Picker, Turns};
use crate::program::states::Claim;

/// Requests of a body at most, so that they stay where the processor finds them at once.
const REQUESTS_MAX: usize = 64;

/// The body of an interpreter that goes a straight path.
#[derive(Debug)]
pub(super) struct Row {
    pub requests: Box<[RowRequest]>,
    /// As they begin, the outer one first.
    pub steps: Box<[RowStep]>,
    /// The number of the request that opens the file, if one does; else 0.
    pub opener: usize,
    /// The picker of the first call, and its fileset.
    pub picker: usize,
    pub fileset: u8,
    /// What the calls are counted as together.
    pub kind: u8,
    pub label: Option<u8>,
    /// Where the interpreter's transaction ends.
    pub end: u16,
    /// Bytes that all calls write.
    pub bytes: u64,
}

/// A call that is known but for its file, or a piece of one.
#[derive(Debug)]
pub(super) struct RowRequest {
    pub request: Request,
    /// Where in the file it begins.
    pub offset_bytes: u64,
    /// Where its instruction stands.
    pub instruction: u16,
    /// What it returns at least if all goes well.
    pub result_min: i32,
    pub naming: Naming,
    pub effect: Effect,
    pub told: Told,
    /// Calls that begin with it: one, or none with a further piece.
    pub begun_calls: u8,
}

/// How a request comes to its file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Naming {
    /// It is the next one.
    Pick,
    /// It is the one that was picked, and claimed again.
    Same(Claim),
    /// It is open.
    Open,
}

/// What a request changes of what is known of its file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect {
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
    /// As [`Self::Write`], and the call goes on.
    WriteOn,
    Close,
    Unlink,
    /// It was only named.
    LetGo(Claim),
}

/// What is counted once a request is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Told {
    Nothing,
    /// The call, under its label.
    Call(u8),
    /// The same if it has one, and steps end or begin.
    Steps(Option<u8>),
}

/// Calls that are timed together.
#[derive(Debug)]
pub(super) struct RowStep {
    pub label: u8,
    /// The numbers of its requests.
    pub first: usize,
    pub last: usize,
    /// Bytes that they write.
    pub bytes: u64,
}

impl Row {
    /// None where something else is done, or what is done is not known beforehand.
    pub(super) fn of(interpreter: &Interpreter) -> Option<Self> {
        let code = &interpreter.code;
        let begin = usize::from(code.body);
        let Instruction::TransactionBegin { kind, label, end } = code.instructions[begin] else {
            return None;
        };
        let is_body = code.instructions.get(usize::from(end) + 1) == Some(&Instruction::RoundEnd);
        let is_alone = interpreter.slots.len() == 1 && interpreter.is_empty(code.first);
        if !is_body || !is_alone {
            return None;
        }
        let inner = &code.instructions[begin + 1..usize::from(end)];
        let picker = picker(code, inner)?;
        let fileset = code.pickers[picker].fileset;
        let mut writer = Writer::new(code, fileset);
        for (instruction, at) in inner.iter().zip(code.body + 1..) {
            writer.take(instruction, at)?;
        }
        let (requests, steps) = writer.finish()?;
        let opens =
            |it: &RowRequest| matches!(it.effect, Effect::Create { .. } | Effect::Open { .. });
        Some(Self {
            bytes: written_bytes(&requests),
            opener: requests.iter().position(opens).unwrap_or(0),
            requests: requests.into(),
            steps: steps.into(),
            picker,
            fileset,
            kind,
            label,
            end,
        })
    }

    /// The requests of the call that this one belongs to.
    pub(super) fn call_around(&self, at: usize) -> &[RowRequest] {
        let begins = |index: &usize| self.requests[*index].begun_calls > 0;
        let begin = (0..=at).rev().find(begins).unwrap_or(0);
        let end = (at + 1..self.requests.len()).find(begins);
        &self.requests[begin..end.unwrap_or(self.requests.len())]
    }
}

impl RowStep {
    /// When it began: with the row, or at a time of its own.
    pub(super) const fn began_ns(&self, pick_ns: u64, own_ns: u64) -> u64 {
        match self.first {
            0 => pick_ns,
            _ => own_ns,
        }
    }
}

/// What requests write.
pub(super) fn written_bytes(requests: &[RowRequest]) -> u64 {
    let each = requests.iter().map(|it| u64::from(it.request.length_bytes));
    each.sum()
}

/// The picker of the first call, if all others are on its file, which is open then; its directory
/// may be made before.
fn picker(code: &Code, inner: &[Instruction]) -> Option<usize> {
    let calls = inner.iter().filter_map(|it| match it {
        Instruction::Call(number) => code.calls.get(usize::from(*number)),
        _ => None,
    });
    let calls: Vec<&CallCode> = calls.collect();
    let (first, rest) = calls.split_first()?;
    let Subject::Pick(picker) = first.subject else {
        return None;
    };
    let Picker { turns, .. } = &code.pickers[usize::from(picker)];
    // Those that are through stay so, however often they are asked.
    let has_end = matches!(turns, Turns::Once { .. });
    let (opener, rest) = match first.operation {
        Operation::Mkdir => {
            let (second, rest) = rest.split_first()?;
            (second.subject == Subject::Same).then_some((second, rest))?
        }
        _ => (first, rest),
    };
    let of_first = |it: &&CallCode| it.subject == Subject::Handle && it.handle == first.handle;
    let closes = |it: &CallCode| it.operation == Operation::Close;
    let opens = matches!(opener.operation, Operation::Create | Operation::Open);
    let is_closed = match rest.split_last() {
        Some((last, between)) => opens && closes(last) && !between.iter().any(|it| closes(it)),
        None => !opens,
    };
    let is_row = has_end && is_closed && opener.handle == first.handle && rest.iter().all(of_first);
    is_row.then_some(picker.into())
}

/// Takes instructions down as requests.
struct Writer<'a> {
    code: &'a Code,
    fileset: u8,
    requests: Vec<RowRequest>,
    steps: Vec<RowStep>,
    /// The numbers of the steps that go on.
    open: Vec<usize>,
    /// Files are written from their beginning on.
    here_bytes: u64,
    /// Whether a call was left out, as it has nothing to do.
    has_gap: bool,
}

impl<'a> Writer<'a> {
    fn new(code: &'a Code, fileset: u8) -> Self {
        Self {
            code,
            fileset,
            requests: Vec::new(),
            steps: Vec::new(),
            open: Vec::new(),
            here_bytes: 0,
            has_gap: false,
        }
    }

    /// None of what is not known beforehand.
    fn take(&mut self, instruction: &Instruction, at: u16) -> Option<()> {
        match instruction {
            Instruction::Call(number) => {
                let call = self.code.calls.get(usize::from(*number))?;
                match call.operation {
                    Operation::Write => self.write(call, at),
                    _ => self.whole(call, at),
                }
            }
            Instruction::StepBegin(label) => {
                self.open.push(self.steps.len());
                self.steps.push(RowStep {
                    label: *label,
                    first: self.requests.len(),
                    last: 0,
                    bytes: 0,
                });
                Some(())
            }
            Instruction::StepEnd => {
                let step = &mut self.steps[self.open.pop()?];
                step.last = self.requests.len().checked_sub(1)?;
                step.bytes = written_bytes(self.requests.get(step.first..)?);
                // One without calls begins and ends at once.
                (step.first <= step.last).then_some(())
            }
            _ => None,
        }
    }

    /// A call that moves nothing.
    fn whole(&mut self, call: &CallCode, at: u16) -> Option<()> {
        let is_emptying = call.is_emptying;
        let effect = match call.operation {
            Operation::Create => Effect::Create {
                claim: call.claim,
                is_emptying,
            },
            Operation::Open => Effect::Open { is_emptying },
            Operation::Close => Effect::Close,
            Operation::Fsync | Operation::Fdatasync => Effect::Nothing,
            Operation::Unlink => Effect::Unlink,
            Operation::Stat => Effect::LetGo(call.claim),
            Operation::Mkdir if call.is_of_directory() => Effect::LetGo(call.claim),
            _ => return None,
        };
        let (Form::Code(code), Amount::Fixed(_), None) = (call.form, call.amount, call.second)
        else {
            return None;
        };
        self.push(call, at, (code, 0), effect)
    }

    /// A call that writes so much, piece by piece.
    fn write(&mut self, call: &CallCode, at: u16) -> Option<()> {
        let bytes = match call.amount {
            Amount::Fixed(bytes) => bytes,
            Amount::SizeOf(handle) if handle == call.handle => {
                match &self.code.sizes[usize::from(self.fileset)] {
                    FileSizes::Always(bytes) => *bytes,
                    FileSizes::ByLaw(_) | FileSizes::Known(_) => return None,
                }
            }
            _ => return None,
        };
        if bytes == 0 && !matches!(call.amount, Amount::Fixed(_)) {
            self.has_gap = true;
            return call.label.is_none().then_some(());
        }
        let piece_bytes = u64::from(call.piece_bytes);
        // When a call began that is told by itself is not kept from piece to piece.
        let is_told = call.label.is_some();
        let pieces_max = if is_told { 1 } else { REQUESTS_MAX as u64 };
        if bytes.div_ceil(piece_bytes) > pieces_max || !matches!(call.place, Place::Here) {
            return None;
        }
        let end_bytes = self.here_bytes + bytes;
        let mut effect = Effect::WriteOn;
        while matches!(effect, Effect::WriteOn) {
            let here_bytes = self.here_bytes;
            let left_bytes = end_bytes - here_bytes;
            if left_bytes <= piece_bytes {
                effect = Effect::Write;
            }
            let code = match call.form {
                Form::Offset => here_bytes,
                // The open file stands behind what was written last.
                Form::Position { unit_bytes } => by_position(here_bytes, here_bytes, unit_bytes),
                _ => return None,
            };
            // No more than a piece, which is 32 bits.
            let length_bytes = left_bytes.min(piece_bytes) as u32;
            self.push(call, at, (code, length_bytes), effect)?;
        }
        Some(())
    }

    fn push(
        &mut self,
        call: &CallCode,
        instruction: u16,
        (code, length_bytes): (u64, u32),
        effect: Effect,
    ) -> Option<()> {
        let before = self.requests.last();
        let goes_on = before.is_some_and(|it| matches!(it.effect, Effect::WriteOn));
        self.requests.push(RowRequest {
            request: Request {
                operation: call.operation,
                fileset: self.fileset,
                handle: call.handle,
                length_bytes,
                offset_bytes: code,
                // The file comes with the round.
                ..Request::NOTHING
            },
            offset_bytes: self.here_bytes,
            instruction,
            naming: match call.subject {
                Subject::Handle => Naming::Open,
                Subject::Same => Naming::Same(call.claim),
                Subject::Pick(_) | Subject::Walk(_) => Naming::Pick,
            },
            result_min: i32::try_from(length_bytes).ok()?,
            effect,
            told: call.label.map_or(Told::Nothing, Told::Call),
            begun_calls: u8::from(!goes_on),
        });
        self.here_bytes += u64::from(length_bytes);
        (self.requests.len() <= REQUESTS_MAX).then_some(())
    }

    fn finish(mut self) -> Option<(Vec<RowRequest>, Vec<RowStep>)> {
        // A step may end when such a call would have been asked for, not with a call.
        if self.has_gap && !self.steps.is_empty() {
            return None;
        }
        for (index, request) in self.requests.iter_mut().enumerate() {
            let turns = |it: &RowStep| it.last == index || it.first == index + 1;
            if self.steps.iter().any(turns) {
                request.told = match request.told {
                    Told::Call(label) => Told::Steps(Some(label)),
                    _ => Told::Steps(None),
                };
            }
        }
        Some((self.requests, self.steps))
    }
}
