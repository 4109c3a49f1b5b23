//! A group's acts in the form in which they are carried out: instructions one after the other.

use std::sync::Arc;

use engine::Operation;
use workload::program::{Due, Whose};

use super::pick::Picker;
use super::sampler::Sampler;
use super::states::Claim;
use super::trail::Trail;
use crate::choice::Weighted;
use crate::position::Draw;

/// What is done next. Places are indexes of the code's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    /// A call, by its number.
    Call(u16),
    /// Draws how often what follows is done; `end` is behind it.
    Times {
        sampler: u16,
        end: u16,
    },
    /// Once more from `body`, unless that was the last time.
    Again {
        body: u16,
    },
    /// Draws one of several places.
    Mix(u16),
    Jump(u16),
    StepBegin(u8),
    StepEnd,
    /// `end` is its end.
    TransactionBegin {
        kind: u8,
        label: Option<u8>,
        end: u16,
    },
    TransactionEnd,
    /// Sleeps.
    Think(u16),
    /// Computes.
    Burn(u16),
    /// Waits for others.
    Wait(u16),
    /// The body is done once.
    RoundEnd,
    /// Nothing follows.
    SectionEnd,
}

/// What a worker waits for, or gives to those who wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitCode {
    Put {
        tokens: u8,
        count: u32,
        whose: Whose,
        /// How often it was done.
        turn: u32,
    },
    Take {
        tokens: u8,
        count: Due,
        whose: Whose,
        turn: u32,
    },
    Meet(u8),
}

/// What is asked of the engine.
#[derive(Debug)]
pub(super) struct CallCode {
    pub operation: Operation,
    pub subject: Subject,
    /// The picker of the other name.
    pub second: Option<u16>,
    pub handle: u8,
    pub amount: Amount,
    /// Bytes of one request, at most; not 0.
    pub piece_bytes: u32,
    pub place: Place,
    pub form: Form,
    /// Whether the file is empty once it is open, whatever it was before.
    pub is_emptying: bool,
    pub label: Option<u8>,
}

/// What a call works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// What is open in the register.
    Handle,
    /// A name, by the number of its picker.
    Pick(u16),
    /// The name in the register.
    Same,
}

/// What its requests say as their offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// What it is for: always this.
    Code(u64),
    /// The other name.
    Second,
    /// The file's new length.
    Length,
    /// Where in the file bytes are moved.
    Offset,
    /// The same, only where that is not where the open file stands. Requests are of so many bytes
    /// in each system call; 0 for one call.
    Position { unit_bytes: u32 },
}

/// How much a call moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    /// Nothing is moved, or so much.
    Fixed(u64),
    /// By the number of its sampler.
    Drawn(u16),
    /// Until a read returns nothing.
    Rest,
    /// As much as the file of a register is to have.
    SizeOf(u8),
}

/// Where in a file.
#[derive(Debug)]
pub(super) enum Place {
    Here,
    Same,
    End,
    At(u64),
    Random {
        /// Over as many starts as a file of the largest size has.
        draw: Draw,
        starts: u64,
        align_bytes: u32,
    },
    Along(Trail),
}

/// Everything that a worker of a group does.
#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Box<[Instruction]>,
    pub calls: Box<[CallCode]>,
    pub samplers: Box<[Sampler]>,
    pub pickers: Box<[Picker]>,
    pub mixes: Box<[(Weighted, Box<[u16]>)]>,
    pub waits: Box<[WaitCode]>,
    /// Where each section begins.
    pub enter: u16,
    pub first: u16,
    pub body: u16,
    pub last: u16,
    pub leave: u16,
    /// Names of the transactions, by their kinds.
    pub kinds: Vec<String>,
    /// Registers that calls use.
    pub register_count: usize,
    /// Bytes of the largest request.
    pub buffer_bytes: u32,
    /// For each fileset, what its files are to have.
    pub sizes: Box<[FileSizes]>,
}

/// How many bytes the files of a fileset are to have.
#[derive(Debug)]
pub(super) enum FileSizes {
    ByLaw(Sampler),
    /// By the number of the file.
    Known(Arc<[u64]>),
}

impl FileSizes {
    /// Those of a file, by bits that follow from seed, fileset and file.
    #[inline]
    pub(super) fn of(&self, file: u32, bits: u64) -> u64 {
        match self {
            Self::ByLaw(sampler) => sampler.amount(bits),
            Self::Known(sizes) => sizes.get(file as usize).copied().unwrap_or(0),
        }
    }
}

impl Code {
    /// The end of the section that a place is in.
    pub(super) fn end_of(&self, at: u16) -> u16 {
        let is_end =
            |it: &Instruction| matches!(it, Instruction::RoundEnd | Instruction::SectionEnd);
        let behind = self.instructions[usize::from(at)..].iter().position(is_end);
        at + behind.unwrap_or(0) as u16
    }
}

impl WaitCode {
    /// Which of several counters is next, of those that come in turn.
    pub(super) const fn turn(&mut self) -> Option<&mut u32> {
        match self {
            Self::Put { turn, .. } | Self::Take { turn, .. } => Some(turn),
            Self::Meet(_) => None,
        }
    }
}

impl CallCode {
    /// How it has its name while it goes on.
    pub(super) const fn claim(&self) -> Claim {
        match self.operation {
            Operation::Create
            | Operation::Unlink
            | Operation::Mkdir
            | Operation::Rmdir
            | Operation::Rename => Claim::Alone,
            _ => Claim::Use,
        }
    }
}
