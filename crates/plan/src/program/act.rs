//! What a worker does: calls, and what is around them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Due, FileOperation, Law, Whose};
use crate::Distribution;

/// One thing that a worker does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Something is asked of the file system.
    Call(Call),
    /// Acts so many times; how many is drawn when they begin.
    Times(Law, Vec<Act>),
    /// One of several, drawn by their weights.
    Mix(Vec<(u32, Vec<Act>)>),
    /// Goes through directories.
    Walk(DirectoryWalk),
    /// Takes the next card of a deck and does what it says.
    Deal(Deck),
    /// Acts that are counted as one thing by the number of a label, waits included.
    Step(u8, Vec<Act>),
    /// As a step, and the phase's rate counts it: from its first call on until its last is done.
    Transaction(u8, Vec<Act>),
    /// Sleeps, in nanoseconds.
    Think(Law),
    /// Computes, in nanoseconds.
    Burn(Law),
    /// Puts to a counter.
    Put {
        /// The number of the tokens.
        tokens: u8,
        /// How many; at least 1.
        count: u32,
        /// In which counter.
        whose: Whose,
    },
    /// Takes from a counter, and waits until so many lie there.
    Take {
        /// The number of the tokens.
        tokens: u8,
        /// How many.
        count: Due,
        /// From which counter.
        whose: Whose,
    },
    /// Waits for all workers of the phase that have a meeting of this number and are not done.
    Meet(u8),
}

/// Cards in an order that follows from no rule; behind the last comes the first. They do not go
/// with a stored plan, where the first choice is always taken, with the number 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deck {
    /// The cards.
    #[serde(skip)]
    pub cards: Arc<[Card]>,
    /// Whether all workers of the group take from one deck, else each from its own.
    #[serde(default)]
    pub is_shared: bool,
    /// What cards choose from.
    pub choices: Vec<Vec<Act>>,
}

/// What is done once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card {
    /// The number of the choice.
    pub choice: u8,
    /// For the places of calls.
    pub number: u32,
}

/// The directories that the files of a set are in, one after the other. Where there is something
/// to do for files, each is read name by name, as C's `readdir` does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryWalk {
    /// The number of the fileset.
    pub fileset: u8,
    /// The register that remembers the file, or a name in the directory before the first.
    #[serde(default)]
    pub handle: u8,
    /// For each file that is listed, while its directory is open.
    #[serde(default)]
    pub each: Vec<Act>,
    /// For each directory, once it is closed.
    #[serde(default)]
    pub after: Vec<Act>,
}

/// Something that is asked of the file system: one request, or as many as its pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// What is asked.
    pub operation: FileOperation,
    /// Of what.
    pub on: On,
    /// The other name of renaming and linking, also of another fileset.
    #[serde(default)]
    pub second: Option<Pick>,
    /// The register: the file that was last picked in it, and its descriptor where it is open.
    #[serde(default)]
    pub handle: u8,
    /// The number of the way of opening and creating.
    #[serde(default)]
    pub way: u8,
    /// How much is read or written in all.
    #[serde(default)]
    pub bytes: Bytes,
    /// How much of it in one request; 0 for all.
    #[serde(default)]
    pub piece_bytes: u32,
    /// Where in the file.
    #[serde(default)]
    pub place: Where,
    /// The number of the label that it is counted under besides its operation.
    #[serde(default)]
    pub label: Option<u8>,
}

impl Call {
    /// An operation in the first register, which moves nothing and has no label.
    #[must_use]
    pub const fn new(operation: FileOperation, on: On) -> Self {
        Self {
            operation,
            on,
            second: None,
            handle: 0,
            way: 0,
            bytes: Bytes::Law(Law::fixed(0)),
            piece_bytes: 0,
            place: Where::Here,
            label: None,
        }
    }
}

/// What a call works on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// What is open in the register.
    Handle,
    /// A name that is picked now; the register remembers it.
    Name(Pick),
    /// The name that the register remembers.
    Same,
    /// The directory that the register's name is in.
    Directory,
}

/// Which file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pick {
    /// The number of the fileset.
    pub fileset: u8,
    /// Which of its files qualify.
    pub which: Which,
    /// In which order they are taken.
    #[serde(default)]
    pub order: Order,
    /// Whose turn it is.
    #[serde(default)]
    pub turn: Turn,
}

/// Which files qualify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// All names.
    Any,
    /// Those that exist.
    Present,
    /// Those that do not exist.
    Absent,
}

/// In which order files are taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PickOrder")]
pub enum Order {
    /// As they are numbered, once in a phase.
    #[default]
    Next,
    /// From the last to the first, once in a phase.
    Back,
    /// Each once in a phase, in a random order that follows from the seed.
    Shuffled,
    /// As they are numbered, from the start again behind the last.
    Around,
    /// By chance; among at most 64 draws the first that qualifies, else the next that does.
    Drawn(Distribution),
    /// Always this one.
    Index(u32),
    /// The one of a drawn number, counted around, or the next one that qualifies.
    ByLaw(Law),
    /// As listed, each once in a phase.
    Listed(ListedOrder),
}

impl Order {
    /// Whether it takes each file once in a phase at most.
    pub(super) const fn is_once(&self) -> bool {
        matches!(
            self,
            Self::Next | Self::Back | Self::Shuffled | Self::Listed(_)
        )
    }
}

/// Numbers of files in an order that follows from no rule. They do not go with a stored plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListedOrder {
    /// The numbers.
    #[serde(skip)]
    pub files: Arc<[u32]>,
}

/// Whose turn it is in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// Each worker goes through all files.
    #[default]
    Own,
    /// Each worker goes through its share of the files.
    Slice,
    /// The workers go through the files together.
    Shared,
}

/// Whose amounts are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// Each worker's.
    #[default]
    Each,
    /// Those of all workers of the group.
    Group,
}

/// How much is read or written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "MovedBytes")]
pub enum Bytes {
    /// So much, drawn at each call. A drawn 0 asks for nothing; a fixed 0 is one request of no
    /// bytes.
    Law(Law),
    /// Until a read returns nothing.
    Rest,
    /// As much as the file of the register is to have by its fileset.
    Size,
    /// As much as the file of another register is to have by its fileset.
    SizeOf {
        /// The other register.
        handle: u8,
    },
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Law(Law::fixed(0))
    }
}

/// Where in a file a call reads or writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    /// Behind the last call that said so, since the file was opened.
    #[default]
    Here,
    /// Where the last call was.
    Same,
    /// At the end of the file.
    End,
    /// From this byte on.
    At(u64),
    /// At a random multiple of `align_bytes` such that the call fits into the file. For a write the
    /// file counts as at least as long as its fileset makes it.
    Random {
        /// How the multiples are drawn.
        distribution: Distribution,
        /// At least 1.
        align_bytes: u32,
        /// Use the size that the fileset gives the file, whatever its length.
        #[serde(default)]
        is_nominal: bool,
    },
    /// At that multiple of a step which the last card has as its number.
    Dealt {
        /// At least 1.
        step_bytes: u32,
    },
    /// Where a path through the file leads next, which each worker follows for itself, in each
    /// phase from its beginning on.
    Along(FilePath),
}

/// A path through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PathInFile")]
pub enum FilePath {
    /// From the last multiple of a step that a call of one step fits at, to the beginning; then
    /// again.
    Backward {
        /// At least 1.
        step_bytes: u32,
    },
    /// From the beginning in strides; where another would come nearer to the end than the margin,
    /// from the beginning again, each time a shift further on.
    Strided {
        /// From one call to the next; at least 1.
        stride_bytes: u64,
        /// From one beginning to the next.
        shift_bytes: u64,
        /// What stays free behind a call that another stride leads to.
        margin_bytes: u64,
    },
    /// One call behind the other within a block, then the block that begins a stride further on.
    /// A read that would begin behind the end of the file finds nothing, as a pick does.
    Blocks {
        /// At least 1.
        block_bytes: u64,
        /// From one block to the next.
        stride_bytes: u64,
        /// How much further on each worker of the group begins than the one before.
        each_bytes: u64,
    },
    /// Each multiple of a step once, in a random order that follows from the seed; then again.
    Shuffled {
        /// At least 1.
        step_bytes: u32,
    },
}
