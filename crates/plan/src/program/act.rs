//! Acts of a worker: calls, and control flow around them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CounterSelection, FileOperation, Law, TakeAmount};
use crate::Distribution;

/// One act of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// A call on the file system.
    Call(Call),
    /// Repeats acts; the number of times is drawn when they start.
    Times(Law, Vec<Act>),
    /// Does one of several branches, drawn by their weights.
    Mix(Vec<(u32, Vec<Act>)>),
    /// Visits the directories of a fileset.
    Walk(DirectoryWalk),
    /// Takes the next card of a deck and does the acts that it selects.
    Deal(Deck),
    /// Acts that are counted and timed as one unit under this label, waits included.
    Step(u8, Vec<Act>),
    /// As a step, and counted in the phase's rate; it lasts from its first call until its last is
    /// done.
    Transaction(u8, Vec<Act>),
    /// Sleeps for this many nanoseconds.
    Think(Law),
    /// Computes for this many nanoseconds.
    Burn(Law),
    /// Adds to a counter.
    Put {
        /// Number of the tokens.
        tokens: u8,
        /// Amount to add; at least 1.
        count: u32,
        /// The counter to add to.
        whose: CounterSelection,
    },
    /// Takes from a counter, and waits until it holds enough.
    Take {
        /// Number of the tokens.
        tokens: u8,
        /// Amount to take.
        count: TakeAmount,
        /// The counter to take from.
        whose: CounterSelection,
    },
    /// Waits for all workers of the phase that take part in the meeting with this number and are
    /// not done.
    Meet(u8),
}

/// A list of cards in an arbitrary order; after the last card follows the first. Stored plans do
/// not contain the cards; without them the first choice is always taken, with the number 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deck {
    /// The cards.
    #[serde(skip)]
    pub cards: Arc<[Card]>,
    /// `true` if all workers of the group take cards from one deck, else each has its own.
    #[serde(default)]
    pub is_shared: bool,
    /// Lists of acts from which a card chooses.
    pub choices: Vec<Vec<Act>>,
}

/// A card: a choice of acts and a number for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card {
    /// Index of the choice.
    pub choice: u8,
    /// Number that gives the offset of calls with [`CallPosition::Dealt`].
    pub number: u32,
}

/// Visits the directories that contain the files of a fileset, one after the other. If there are
/// acts for each file, each directory is read name by name, as with C's `readdir`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryWalk {
    /// Number of the fileset.
    pub fileset: u8,
    /// Register that holds the current file, or a name in the directory before the first file.
    #[serde(default)]
    pub handle: u8,
    /// Acts for each listed file, while its directory is open.
    #[serde(default)]
    pub each: Vec<Act>,
    /// Acts for each directory, after it is closed.
    #[serde(default)]
    pub after: Vec<Act>,
}

/// A call on the file system: one request, or several if it is split into pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// The operation.
    pub operation: FileOperation,
    /// The object of the operation.
    pub on: CallObject,
    /// Second name, for renaming and linking; may be of another fileset.
    #[serde(default)]
    pub second: Option<Pick>,
    /// Register: the file that was last picked in it, and its descriptor if it is open.
    #[serde(default)]
    pub handle: u8,
    /// Number of the way in which the file is opened or created.
    #[serde(default)]
    pub way: u8,
    /// Number of the extended attribute to set or read.
    #[serde(default, skip_serializing_if = "is_first")]
    pub attribute: u8,
    /// Total number of bytes to read or write, or of the attribute's value.
    #[serde(default)]
    pub bytes: MovedBytes,
    /// Bytes per request; 0 for all at once.
    #[serde(default)]
    pub piece_bytes: u32,
    /// Position in the file.
    #[serde(default)]
    pub place: CallPosition,
    /// Number of the label under which it is counted in addition to its operation.
    #[serde(default)]
    pub label: Option<u8>,
}

impl Call {
    /// An operation on the first register that moves no data and has no label.
    #[must_use]
    pub const fn new(operation: FileOperation, on: CallObject) -> Self {
        Self {
            operation,
            on,
            second: None,
            handle: 0,
            way: 0,
            attribute: 0,
            bytes: MovedBytes::Law(Law::fixed(0)),
            piece_bytes: 0,
            place: CallPosition::Here,
            label: None,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_first(number: &u8) -> bool {
    *number == 0
}

/// Object of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallObject {
    /// The file that is open in the register.
    Handle,
    /// A name that is picked now and stored in the register.
    Name(Pick),
    /// The name stored in the register.
    Same,
    /// The directory that contains the name in the register.
    Directory,
}

/// Choice of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pick {
    /// Number of the fileset.
    pub fileset: u8,
    /// Files that qualify.
    pub which: FileFilter,
    /// Order in which files are picked.
    #[serde(default)]
    pub order: PickOrder,
    /// How workers divide the files.
    #[serde(default)]
    pub turn: FileSharing,
}

/// Files that qualify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileFilter {
    /// All names, existing or not.
    Any,
    /// Existing files.
    Present,
    /// Names without a file.
    Absent,
}

/// Order in which files are picked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PickOrder {
    /// In the order of their numbers, once per phase.
    #[default]
    Next,
    /// From the last number to the first, once per phase.
    Back,
    /// In a random order derived from the seed, each once per phase.
    Shuffled,
    /// In the order of their numbers, starting over after the last.
    Around,
    /// At random: the first of at most 64 draws that qualifies, else the next file that does.
    Drawn(Distribution),
    /// Always the file with this number.
    Index(u32),
    /// The file with a drawn number, modulo their count, or the next one that qualifies.
    ByLaw(Law),
    /// In the listed order, each once per phase.
    Listed(ListedOrder),
}

impl PickOrder {
    /// `true` if it yields each file at most once per phase.
    pub(super) const fn is_single_pass(&self) -> bool {
        matches!(
            self,
            Self::Next | Self::Back | Self::Shuffled | Self::Listed(_)
        )
    }
}

/// File numbers in an arbitrary order. Stored plans do not contain them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListedOrder {
    /// The numbers.
    #[serde(skip)]
    pub files: Arc<[u32]>,
}

/// How workers divide the files of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileSharing {
    /// Each worker goes through all files.
    #[default]
    Own,
    /// Each worker goes through its own share of the files.
    Slice,
    /// The workers go through the files together.
    Shared,
}

/// Whose amounts count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AmountScope {
    /// The amounts of each worker.
    #[default]
    Each,
    /// The amounts of all workers of the group together.
    Group,
}

/// Number of bytes to read or write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MovedBytes {
    /// An amount drawn at each call. A drawn 0 makes no request; a fixed 0 makes one request of 0
    /// bytes.
    Law(Law),
    /// The rest of the file, until a read returns nothing.
    Rest,
    /// The size that the fileset gives the file in the register.
    Size,
    /// The size that the fileset gives the file in another register.
    SizeOf {
        /// The other register.
        handle: u8,
    },
}

impl Default for MovedBytes {
    fn default() -> Self {
        Self::Law(Law::fixed(0))
    }
}

/// Position of a call in a file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallPosition {
    /// After the last call with `Here` since the file was opened.
    #[default]
    Here,
    /// At the position of the last call.
    Same,
    /// At the end of the file.
    End,
    /// At this offset in bytes.
    At(u64),
    /// At a random multiple of `align_bytes` such that the call fits into the file. For a write,
    /// the file counts as at least as long as its fileset makes it.
    Random {
        /// Distribution of the multiples.
        distribution: Distribution,
        /// At least 1.
        align_bytes: u32,
        /// Use the size that the fileset gives the file instead of its length.
        #[serde(default)]
        is_nominal: bool,
    },
    /// At a multiple of the step; the factor is the number of the last card.
    Dealt {
        /// At least 1.
        step_bytes: u32,
    },
    /// At the next position of a path through the file. Each worker follows its own path and starts
    /// it again in each phase.
    Along(FilePath),
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A path through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PathInFile")]
pub enum FilePath {
    /// Backward from the last multiple of the step at which a call of one step fits, to the
    /// beginning; then again.
    Backward {
        /// At least 1.
        step_bytes: u32,
    },
    /// Forward in strides from the beginning. If another stride would come closer to the end than
    /// the margin, it starts over, each time one shift later.
    Strided {
        /// Distance from one call to the next; at least 1.
        stride_bytes: u64,
        /// Distance from one start to the next.
        shift_bytes: u64,
        /// Bytes that stay free after the last call before the path starts over.
        margin_bytes: u64,
    },
    /// Sequential calls within a block, then in the next block, one stride later. A read that would
    /// start after the end of the file ends the path, as a pick that finds nothing does.
    Blocks {
        /// At least 1.
        block_bytes: u64,
        /// Distance from the start of one block to the next.
        stride_bytes: u64,
        /// Distance between the first blocks of consecutive workers of the group.
        each_bytes: u64,
        /// Number of blocks after which the path starts over; 0 if it never does.
        #[serde(default, skip_serializing_if = "is_zero")]
        block_count: u64,
    },
    /// Each multiple of the step once, in a random order derived from the seed; then again.
    Shuffled {
        /// At least 1.
        step_bytes: u32,
    },
    /// Like `Shuffled`, but the workers of the group share one order and take its steps in turn, so
    /// that together they visit each multiple once.
    Dealt {
        /// At least 1.
        step_bytes: u32,
    },
}
