//! Compiled acts of a group: a sequence of instructions.

use std::sync::Arc;

use engine::{Operation, RequestObject};
use plan::program::{Card, CounterSelection, Law, TakeAmount};

use super::file_cursor::FileCursor;
use super::pick::{Picker, TurnCounter};
use super::sampler::Sampler;
use super::states::FileClaim;
use super::walks::WalkCode;
use crate::choice::AliasTable;
use crate::position::Draw;
use crate::{GenerateError, mix};

/// One instruction. Places are indexes of the code's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    /// Makes the call with this number.
    Call(u16),
    /// Draws the number of repetitions of the following instructions; they end before `end`.
    LoopBegin {
        sampler: u16,
        end: u16,
    },
    /// Repeats from `body`, unless that was the last time.
    LoopEnd {
        body: u16,
    },
    /// Continues at one of several places, drawn at random.
    Mix(u16),
    /// Takes a card and continues at the place that it selects.
    Deal(u16),
    Jump(u16),
    /// Goes to the first directory.
    WalkBegin(u16),
    /// Goes to the next directory, which is read from the instruction at `read` on.
    WalkNext {
        walk: u16,
        read: u16,
    },
    StepBegin(u8),
    StepEnd,
    /// The transaction ends at `end`.
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
    /// Waits for other workers.
    Wait(u16),
    /// Ends a round of the body.
    RoundEnd,
    SectionEnd,
}

/// An instruction that waits for other workers, or gives tokens to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitCode {
    Put {
        tokens: u8,
        count: u32,
        whose: CounterSelection,
        /// Number of times it was executed.
        turn: u32,
    },
    Take {
        tokens: u8,
        count: TakeAmount,
        whose: CounterSelection,
        turn: u32,
    },
    Meet(u8),
}

/// A call to the engine.
#[derive(Debug)]
pub(super) struct CallCode {
    pub operation: Operation,
    pub subject: CallSubject,
    /// Number of the picker for the other name.
    pub second_picker: Option<u16>,
    pub handle: u8,
    pub amount: CallLength,
    /// Maximum length of one request in bytes; not 0.
    pub piece_bytes: u32,
    pub offset: CallOffset,
    pub form: OffsetForm,
    /// Use of the name during the call.
    pub claim: FileClaim,
    /// `true` if opening empties the file.
    pub is_truncating: bool,
    pub label: Option<u8>,
}

/// Object of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallSubject {
    /// The file that is open in the register.
    Handle,
    /// A name, selected by the picker with this number.
    Pick(u16),
    /// The name in the register.
    Same,
    /// A name in the directory that is being read.
    Walk(u16),
}

/// Meaning of the offset in the call's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OffsetForm {
    /// A fixed code.
    Code(u64),
    /// Code of the other name.
    Second,
    /// New length of the file.
    Length,
    /// Whether to open the directory first.
    Entry(u16),
    /// Number of an extended attribute.
    Attribute(u8),
    /// Offset in the file.
    Offset,
    /// Offset in the file, given only if it differs from the position of the open file. Each system
    /// call of a request moves `unit_bytes`; 0 means one call.
    Position { unit_bytes: u32 },
    /// Offset in the file, always reached by an `lseek`.
    Seek,
}

/// Number of bytes that a call moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallLength {
    /// A fixed number, 0 if nothing is moved.
    Fixed(u64),
    /// Drawn by the sampler with this number.
    Drawn(u16),
    /// All bytes until a read returns nothing.
    Rest,
    /// Intended size of the file in a register.
    SizeOf(u8),
}

/// Position in a file.
#[derive(Debug)]
pub(super) enum CallOffset {
    Here,
    Same,
    End,
    /// The end of the file as far as it is known, as an explicit offset.
    KnownEnd,
    At(u64),
    /// Given by the last card.
    Dealt(u32),
    Random {
        /// Covers the number of starts in a file of the largest size.
        draw: Draw,
        starts: u64,
        align_bytes: u32,
        span: FileSpan,
    },
    /// By a distribution over ranks of the file's starts.
    Ranked {
        draw: Draw,
        scatter_seed: u64,
        align_bytes: u32,
        span: FileSpan,
    },
    Cursor(FileCursor, FileSpan),
}

/// Part of a file from which a position is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileSpan {
    /// The bytes that the file has.
    Present,
    /// The bytes that the file has, and at least the size that its fileset specifies.
    AtLeastNominal,
    /// The size that its fileset specifies, if the call fits into it.
    Nominal,
}

impl FileSpan {
    /// Default span of a call.
    pub(super) const fn of(operation: Operation) -> Self {
        match operation {
            // A new file is still empty, so all of its writes would go to offset 0.
            Operation::Write => Self::AtLeastNominal,
            _ => Self::Present,
        }
    }

    /// Length of the span in bytes; computes the wanted size only if it matters.
    #[inline]
    pub(super) fn bytes(self, present: u64, amount: u64, wanted: impl FnOnce() -> u64) -> u64 {
        match self {
            Self::Present => present,
            Self::AtLeastNominal => present.max(wanted()),
            Self::Nominal => match wanted() {
                wanted if wanted >= amount => wanted,
                wanted => present.max(wanted),
            },
        }
    }
}

/// Compiled program of a worker in a group.
#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Box<[Instruction]>,
    pub calls: Box<[CallCode]>,
    pub samplers: Box<[Sampler]>,
    pub pickers: Box<[Picker]>,
    pub mixes: Box<[(AliasTable, Box<[u16]>)]>,
    pub decks: Box<[DeckCode]>,
    pub waits: Box<[WaitCode]>,
    pub walks: Box<[WalkCode]>,
    /// First instruction of each section.
    pub enter: u16,
    pub first: u16,
    pub body: u16,
    pub last: u16,
    pub leave: u16,
    /// Names of the transactions, by kind.
    pub kinds: Vec<String>,
    /// Number of registers that calls use.
    pub register_count: usize,
    /// Length of the largest request in bytes.
    pub buffer_bytes: u32,
    /// Intended sizes of the files, by fileset.
    pub sizes: Box<[FileSizes]>,
}

/// Cards that are taken in turn.
#[derive(Debug)]
pub(super) struct DeckCode {
    pub cards: Arc<[Card]>,
    pub turn: TurnCounter,
    /// First instruction of each choice.
    pub entries: Box<[u16]>,
}

impl DeckCode {
    /// Number of the next card, and first instruction of the choice that it selects.
    #[inline]
    pub(super) fn next(&mut self) -> (u32, u16) {
        // After 2^32 cards, every further one is the first.
        let turn = self.turn.next(u32::MAX).unwrap_or(0) as usize;
        let card = self.cards.get(turn % self.cards.len().max(1));
        card.map_or((0, self.entries[0]), |card| {
            (card.number, self.entries[usize::from(card.choice)])
        })
    }
}

/// Intended sizes of the files in a fileset, in bytes.
#[derive(Debug)]
pub(super) enum FileSizes {
    Fixed(u64),
    Sampled(Sampler),
    /// By file number.
    PerFile(Arc<[u64]>),
}

impl FileSizes {
    /// Sizes by a fileset's law.
    pub(super) fn by_law(law: &Law) -> Result<Self, GenerateError> {
        Ok(match law.always() {
            Some(bytes) => Self::Fixed(bytes),
            None => Self::Sampled(Sampler::new(law)?),
        })
    }

    /// Intended size of a file; drawn sizes are determined by seed, fileset and file.
    #[inline]
    pub(super) fn of(&self, seed: u64, fileset: u8, file: u32) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Sampled(sampler) => {
                let fileset = mix(seed ^ u64::from(fileset));
                sampler.amount(mix(fileset ^ u64::from(file)))
            }
            Self::PerFile(sizes) => sizes.get(file as usize).copied().unwrap_or(0),
        }
    }
}

impl Code {
    /// End of the section that contains a place.
    pub(super) fn end_of(&self, at: u16) -> u16 {
        let is_end =
            |it: &Instruction| matches!(it, Instruction::RoundEnd | Instruction::SectionEnd);
        let distance = self.instructions[usize::from(at)..].iter().position(is_end);
        // `compile` ends each section with one of these, so it is found.
        at + distance.unwrap_or(0) as u16
    }
}

impl WaitCode {
    /// Turn counter, which selects among several token counters; `None` for a meeting.
    pub(super) const fn turn(&mut self) -> Option<&mut u32> {
        match self {
            Self::Put { turn, .. } | Self::Take { turn, .. } => Some(turn),
            Self::Meet(_) => None,
        }
    }
}

impl CallCode {
    /// `true` if the call works on the directory of its name.
    pub(super) fn is_of_directory(&self) -> bool {
        self.form == OffsetForm::Code(RequestObject::Directory.code())
    }
}
