//! A group's acts in the form in which they are carried out: instructions one after the other.

use std::sync::Arc;

use engine::{Aim, Operation};
use plan::program::{Card, Due, Law, Whose};

use super::pick::{Counter, Picker};
use super::sampler::Sampler;
use super::states::Claim;
use super::trail::Trail;
use super::walks::WalkCode;
use crate::choice::Weighted;
use crate::position::Draw;
use crate::{GenerateError, mix};

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
    /// Takes a card, which says one of several places.
    Deal(u16),
    Jump(u16),
    /// Goes to the first directory.
    WalkBegin(u16),
    /// To the next directory, which is read from `read` on.
    WalkOn {
        walk: u16,
        read: u16,
    },
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
    /// How it has its name while it goes on.
    pub claim: Claim,
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
    /// A name in the directory that is read.
    Walk(u16),
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
    /// Whether the directory is to be opened.
    Entry(u16),
    /// Where in the file bytes are moved.
    Offset,
    /// The same, only where that is not where the open file stands. Requests are of so many bytes
    /// in each system call; 0 for one call.
    Position { unit_bytes: u32 },
    /// Where bytes are moved, always behind an `lseek`.
    Sought,
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
    /// The end of the file as far as it is known, as an explicit offset.
    KnownEnd,
    At(u64),
    /// By the last card.
    Dealt(u32),
    Random {
        /// Over as many starts as a file of the largest size has.
        draw: Draw,
        starts: u64,
        align_bytes: u32,
        span: FileSpan,
    },
    /// By a law of ranks over the starts of the file.
    Ranked {
        draw: Draw,
        scatter_seed: u64,
        align_bytes: u32,
        span: FileSpan,
    },
    Along(Trail, FileSpan),
}

/// Part of a file from which a place is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileSpan {
    /// Those that it has.
    Present,
    /// The same, and at least the size that its fileset gives it.
    Whole,
    /// The size that its fileset gives it, if the call fits into that.
    Nominal,
}

impl FileSpan {
    /// The span of a call that names none.
    pub(super) const fn of(operation: Operation) -> Self {
        match operation {
            Operation::Write => Self::Whole,
            _ => Self::Present,
        }
    }

    /// Bytes of the span; computes the wanted size only if it matters.
    #[inline]
    pub(super) fn bytes(self, present: u64, amount: u64, wanted: impl FnOnce() -> u64) -> u64 {
        match self {
            Self::Present => present,
            Self::Whole => present.max(wanted()),
            Self::Nominal => match wanted() {
                wanted if wanted >= amount => wanted,
                wanted => present.max(wanted),
            },
        }
    }
}

/// Everything that a worker of a group does.
#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Box<[Instruction]>,
    pub calls: Box<[CallCode]>,
    pub samplers: Box<[Sampler]>,
    pub pickers: Box<[Picker]>,
    pub mixes: Box<[(Weighted, Box<[u16]>)]>,
    pub decks: Box<[DeckCode]>,
    pub waits: Box<[WaitCode]>,
    pub walks: Box<[WalkCode]>,
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

/// Cards that are taken in turn.
#[derive(Debug)]
pub(super) struct DeckCode {
    pub cards: Arc<[Card]>,
    pub turn: Counter,
    /// Where each choice begins.
    pub places: Box<[u16]>,
}

impl DeckCode {
    /// The number of the next card, and where what it chooses begins.
    #[inline]
    pub(super) fn next(&mut self) -> (u32, u16) {
        // Behind 2^32 cards it is the first one for ever.
        let turn = self.turn.next(u32::MAX).unwrap_or(0) as usize;
        let card = self.cards.get(turn % self.cards.len().max(1));
        card.map_or((0, self.places[0]), |card| {
            (card.number, self.places[usize::from(card.choice)])
        })
    }
}

/// How many bytes the files of a fileset are to have.
#[derive(Debug)]
pub(super) enum FileSizes {
    Always(u64),
    ByLaw(Sampler),
    /// By the number of the file.
    Known(Arc<[u64]>),
}

impl FileSizes {
    /// Sizes that follow a fileset's law.
    pub(super) fn by_law(law: &Law) -> Result<Self, GenerateError> {
        Ok(match law.always() {
            Some(bytes) => Self::Always(bytes),
            None => Self::ByLaw(Sampler::new(law)?),
        })
    }

    /// Bytes that a file is to have; drawn sizes follow from seed, fileset and file.
    #[inline]
    pub(super) fn of(&self, seed: u64, fileset: u8, file: u32) -> u64 {
        match self {
            Self::Always(bytes) => *bytes,
            Self::ByLaw(sampler) => {
                let fileset = mix(seed ^ u64::from(fileset));
                sampler.amount(mix(fileset ^ u64::from(file)))
            }
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
    /// Whether it is the directory of its name that is meant.
    pub(super) fn is_of_directory(&self) -> bool {
        self.form == Form::Code(Aim::Directory.code())
    }
}
