//! Prepared requests of a fast path: the requests of a body without their file.

use engine::{Operation, Request};

use super::super::Interpreter;
use super::super::calls::offset_at_position;
use crate::program::code::{
    CallCode, CallLength, CallOffset, CallSubject, Code, FileSizes, Instruction, OffsetForm,
};
use crate::program::pick::{PickSequence, Picker};
use crate::program::states::FileClaim;

/// Maximum number of requests in a body, so that they stay in the processor's cache.
const REQUESTS_MAX: usize = 64;

/// The body of an interpreter that uses the fast path.
#[derive(Debug)]
pub(super) struct RequestRow {
    pub requests: Box<[RowRequest]>,
    /// In order of their starts, outer steps first.
    pub steps: Box<[RowStep]>,
    /// Index of the request that opens the file; 0 if none does.
    pub opener: usize,
    /// Picker of the first call, with its fileset.
    pub picker: usize,
    pub fileset: u8,
    /// Transaction kind and label of the whole row.
    pub kind: u8,
    pub label: Option<u8>,
    /// Index of the instruction that ends the transaction.
    pub end: u16,
    /// Number of bytes that all calls write.
    pub bytes: u64,
}

/// A call without its file, or one piece of a call.
#[derive(Debug)]
pub(super) struct RowRequest {
    pub request: Request,
    /// Offset in the file.
    pub offset_bytes: u64,
    /// Index of its instruction.
    pub instruction: u16,
    /// Minimum result of a successful request.
    pub result_min: i32,
    pub naming: RequestNaming,
    pub effect: RequestEffect,
    pub count: RowCount,
    /// Number of calls that begin with this request: 1, or 0 for a further piece.
    pub begun_calls: u8,
}

/// Determines the file of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum RequestNaming {
    /// Picks the next file.
    Pick,
    /// Uses the picked file and claims it again.
    Same(FileClaim),
    /// Uses the open file.
    Open,
}

/// Effect of a request on the state of its file.
#[derive(Debug, Clone, Copy)]
pub(super) enum RequestEffect {
    None,
    /// The file exists, is open, and may be empty now.
    Create {
        claim: FileClaim,
        is_emptying: bool,
    },
    Open {
        is_emptying: bool,
    },
    Write,
    /// As [`Self::Write`], but the call continues.
    WriteMore,
    Close,
    Unlink,
    /// Releases a claim; there is no other effect.
    Release(FileClaim),
}

/// What is counted after a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowCount {
    None,
    /// The call, under its label.
    Call(u8),
    /// The call if it has a label, and steps that end or begin.
    Steps(Option<u8>),
}

/// Calls that are timed together.
#[derive(Debug)]
pub(super) struct RowStep {
    pub label: u8,
    /// Indexes of the first and last request.
    pub first: usize,
    pub last: usize,
    /// Number of bytes that the requests write.
    pub bytes: u64,
}

impl RequestRow {
    /// `None` if the body has other acts, or acts that are not known in advance.
    pub(super) fn of(interpreter: &Interpreter) -> Option<Self> {
        let code = &interpreter.code;
        let begin = usize::from(code.body);
        let Instruction::TransactionBegin { kind, label, end } = code.instructions[begin] else {
            return None;
        };
        let is_body = code.instructions.get(usize::from(end) + 1) == Some(&Instruction::RoundEnd);
        // A row keeps the state of a single slot and has no other section in the window.
        let is_alone = interpreter.slots.len() == 1 && interpreter.is_empty(code.first);
        if !is_body || !is_alone {
            return None;
        }
        let inner = &code.instructions[begin + 1..usize::from(end)];
        let picker = picker(code, inner)?;
        let fileset = code.pickers[picker].fileset;
        let mut writer = RowWriter::new(code, fileset);
        for (instruction, at) in inner.iter().zip(code.body + 1..) {
            writer.take(instruction, at)?;
        }
        let (requests, steps) = writer.finish()?;
        let opens = |it: &RowRequest| {
            matches!(
                it.effect,
                RequestEffect::Create { .. } | RequestEffect::Open { .. }
            )
        };
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
    /// Start of the step: that of the row, or its own time.
    pub(super) const fn began_ns(&self, pick_ns: u64, own_ns: u64) -> u64 {
        match self.first {
            0 => pick_ns,
            _ => own_ns,
        }
    }
}

/// Number of bytes that requests write.
pub(super) fn written_bytes(requests: &[RowRequest]) -> u64 {
    let lengths = requests.iter().map(|it| u64::from(it.request.length_bytes));
    lengths.sum()
}

/// The picker of the first call, if that call opens the file and all others use it. A call that
/// makes the directory may precede it.
fn picker(code: &Code, inner: &[Instruction]) -> Option<usize> {
    let calls = inner.iter().filter_map(|it| match it {
        Instruction::Call(number) => code.calls.get(usize::from(*number)),
        _ => None,
    });
    let calls: Vec<&CallCode> = calls.collect();
    let (first, rest) = calls.split_first()?;
    let CallSubject::Pick(picker) = first.subject else {
        return None;
    };
    let Picker { turns, .. } = &code.pickers[usize::from(picker)];
    // Only for picks with an end: once they have ended, asking again changes nothing.
    let has_end = matches!(turns, PickSequence::Once { .. });
    let (opener, rest) = match first.operation {
        Operation::Mkdir => {
            let (second, rest) = rest.split_first()?;
            (second.subject == CallSubject::Same).then_some((second, rest))?
        }
        _ => (first, rest),
    };
    let on_first = |it: &&CallCode| it.subject == CallSubject::Handle && it.handle == first.handle;
    let closes = |it: &CallCode| it.operation == Operation::Close;
    let opens = matches!(opener.operation, Operation::Create | Operation::Open);
    let is_closed = match rest.split_last() {
        Some((last, between)) => opens && closes(last) && !between.iter().any(|it| closes(it)),
        None => !opens,
    };
    let is_row = has_end && is_closed && opener.handle == first.handle && rest.iter().all(on_first);
    is_row.then_some(picker.into())
}

/// Converts instructions to requests.
struct RowWriter<'a> {
    code: &'a Code,
    fileset: u8,
    requests: Vec<RowRequest>,
    steps: Vec<RowStep>,
    /// Indexes of the open steps.
    open: Vec<usize>,
    /// Position in the file; files are written from the start.
    position_bytes: u64,
    /// `true` if a call was omitted because it writes nothing.
    has_gap: bool,
}

impl<'a> RowWriter<'a> {
    fn new(code: &'a Code, fileset: u8) -> Self {
        Self {
            code,
            fileset,
            requests: Vec::new(),
            steps: Vec::new(),
            open: Vec::new(),
            position_bytes: 0,
            has_gap: false,
        }
    }

    /// `None` if the instruction is not known in advance.
    fn take(&mut self, instruction: &Instruction, at: u16) -> Option<()> {
        match instruction {
            Instruction::Call(number) => {
                let call = self.code.calls.get(usize::from(*number))?;
                match call.operation {
                    Operation::Write => self.write(call, at),
                    _ => self.without_data(call, at),
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
                // A step without calls begins and ends at the same time, which the row cannot
                // express.
                (step.first <= step.last).then_some(())
            }
            _ => None,
        }
    }

    /// A call that moves no bytes.
    fn without_data(&mut self, call: &CallCode, at: u16) -> Option<()> {
        let is_emptying = call.is_truncating;
        let effect = match call.operation {
            Operation::Create => RequestEffect::Create {
                claim: call.claim,
                is_emptying,
            },
            Operation::Open => RequestEffect::Open { is_emptying },
            Operation::Close => RequestEffect::Close,
            Operation::Fsync | Operation::Fdatasync => RequestEffect::None,
            Operation::Unlink => RequestEffect::Unlink,
            Operation::Stat => RequestEffect::Release(call.claim),
            Operation::Mkdir if call.is_of_directory() => RequestEffect::Release(call.claim),
            _ => return None,
        };
        let (OffsetForm::Code(code), CallLength::Fixed(_), None) =
            (call.form, call.amount, call.second_picker)
        else {
            return None;
        };
        self.push(call, at, (code, 0), effect)
    }

    /// A call that writes a fixed number of bytes, piece by piece.
    fn write(&mut self, call: &CallCode, at: u16) -> Option<()> {
        let bytes = match call.amount {
            CallLength::Fixed(bytes) => bytes,
            CallLength::SizeOf(handle) if handle == call.handle => {
                match &self.code.sizes[usize::from(self.fileset)] {
                    FileSizes::Fixed(bytes) => *bytes,
                    FileSizes::Sampled(_) | FileSizes::PerFile(_) => return None,
                }
            }
            _ => return None,
        };
        if bytes == 0 && !matches!(call.amount, CallLength::Fixed(_)) {
            self.has_gap = true;
            return call.label.is_none().then_some(());
        }
        let piece_bytes = u64::from(call.piece_bytes);
        // The start of a labeled call is not kept across pieces.
        let is_labeled = call.label.is_some();
        let pieces_max = if is_labeled { 1 } else { REQUESTS_MAX as u64 };
        if bytes.div_ceil(piece_bytes) > pieces_max || !matches!(call.offset, CallOffset::Here) {
            return None;
        }
        let end_bytes = self.position_bytes + bytes;
        let mut effect = RequestEffect::WriteMore;
        while matches!(effect, RequestEffect::WriteMore) {
            let here_bytes = self.position_bytes;
            let left_bytes = end_bytes - here_bytes;
            if left_bytes <= piece_bytes {
                effect = RequestEffect::Write;
            }
            let code = match call.form {
                OffsetForm::Offset => here_bytes,
                // The file's position is at the end of the last write.
                OffsetForm::Position { unit_bytes } => {
                    offset_at_position(here_bytes, here_bytes, unit_bytes)
                }
                _ => return None,
            };
            // At most one piece, whose length has 32 bits.
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
        effect: RequestEffect,
    ) -> Option<()> {
        let before = self.requests.last();
        let goes_on = before.is_some_and(|it| matches!(it.effect, RequestEffect::WriteMore));
        self.requests.push(RowRequest {
            request: Request {
                operation: call.operation,
                fileset: self.fileset,
                handle: call.handle,
                length_bytes,
                offset_bytes: code,
                // The file is filled in for each round.
                ..Request::EMPTY
            },
            offset_bytes: self.position_bytes,
            instruction,
            naming: match call.subject {
                CallSubject::Handle => RequestNaming::Open,
                CallSubject::Same => RequestNaming::Same(call.claim),
                CallSubject::Pick(_) | CallSubject::Walk(_) => RequestNaming::Pick,
            },
            result_min: i32::try_from(length_bytes).ok()?,
            effect,
            count: call.label.map_or(RowCount::None, RowCount::Call),
            begun_calls: u8::from(!goes_on),
        });
        self.position_bytes += u64::from(length_bytes);
        (self.requests.len() <= REQUESTS_MAX).then_some(())
    }

    fn finish(mut self) -> Option<(Vec<RowRequest>, Vec<RowStep>)> {
        // A step could end at an omitted call, which no request marks.
        if self.has_gap && !self.steps.is_empty() {
            return None;
        }
        for (index, request) in self.requests.iter_mut().enumerate() {
            let turns = |it: &RowStep| it.last == index || it.first == index + 1;
            if self.steps.iter().any(turns) {
                request.count = match request.count {
                    RowCount::Call(label) => RowCount::Steps(Some(label)),
                    _ => RowCount::Steps(None),
                };
            }
        }
        Some((self.requests, self.steps))
    }
}
