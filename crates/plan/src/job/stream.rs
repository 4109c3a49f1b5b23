//! Request stream of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArrivalKind, Distribution};

/// Request stream of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamPlan {
    /// Reads, writes, both, or trims.
    pub mix: ReadWriteMix,
    /// Share of the requests of a direction that start at a random offset, in percent.
    pub random_percent: PerDirection<f64>,
    /// Number of consecutive requests from each random offset on; 1 draws each offset.
    pub run_length: u32,
    /// How the requests of such a run, and sequential ones, follow each other.
    pub wrap: RunDirection,
    /// Bytes skipped after each sequential request; if negative, distance back from its start.
    pub step_bytes: i64,
    /// Sizes and alignment per direction.
    pub blocks: PerDirection<BlockRule>,
    /// Order of random offsets.
    pub visits: OffsetOrder,
    /// Order of the files.
    pub file_order: FileOrder,
    /// Number of requests to one file before the next.
    pub requests_per_file: u32,
    /// Parts of the files that are used; `None` for the whole files.
    pub zones: Option<ZoneRule>,
    /// When the stream ends.
    pub end: StreamEnd,
    /// Syncs of written data.
    pub sync: SyncRule,
    /// Pauses between requests.
    pub think: Option<ThinkRule>,
    /// Rate of requests per direction; `None` for as fast as they complete.
    pub pace: PerDirection<Option<PaceRule>>,
    /// Reading back of written data, if any.
    pub read_back: Option<ReadBack>,
    /// `true` to reproduce quirks of the original: requests of `visits` without repetition are cut
    /// where they reach blocks used before, and Poisson gaps fall on a grid.
    pub is_to_the_letter: bool,
}

/// A value for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes; for trims in a job that trims.
    pub write: T,
}

impl StreamPlan {
    /// Sequential requests, alternating between the files, as fast as they complete.
    #[must_use]
    pub fn sequential(mix: ReadWriteMix, blocks: BlockRule, end: StreamEnd) -> Self {
        Self {
            mix,
            random_percent: PerDirection::default(),
            run_length: 1,
            wrap: RunDirection::Onward,
            step_bytes: 0,
            blocks: PerDirection::both(blocks),
            visits: OffsetOrder::Once,
            file_order: FileOrder::RoundRobin,
            requests_per_file: 1,
            zones: None,
            end,
            sync: SyncRule::default(),
            think: None,
            pace: PerDirection::default(),
            read_back: None,
            is_to_the_letter: false,
        }
    }

    /// `true` if it issues writes.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.mix.writes() && !self.skips_writes()
    }

    /// `true` if it only reads what its writes would have written.
    #[must_use]
    pub const fn skips_writes(&self) -> bool {
        matches!(
            self.read_back,
            Some(ReadBack {
                skips_writes: true,
                ..
            })
        )
    }

    /// Largest number of bytes that divides the sizes of all requests whose blocks are checked: of
    /// writes, or of reads if there are none. Not 0.
    #[must_use]
    pub fn checked_unit_bytes(&self) -> u32 {
        let rule = match self.mix.writes() {
            true => &self.blocks.write,
            false => &self.blocks.read,
        };
        let sizes = rule.sizes.all_bytes().into_iter();
        sizes.fold(0, greatest_common_divisor).max(1)
    }

    /// `true` if a direction that is used has due times.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        (self.mix.reads() && self.pace.read.is_some())
            || (self.mix.modifies() && self.pace.write.is_some())
    }
}

/// Of two numbers; if one of them is 0, the other number.
const fn greatest_common_divisor(first: u32, second: u32) -> u32 {
    let (mut larger, mut smaller) = (first, second);
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

impl<T> PerDirection<T> {
    /// The same value for both.
    pub fn both(value: T) -> Self
    where
        T: Clone,
    {
        Self {
            read: value.clone(),
            write: value,
        }
    }
}

/// Reads, writes, both, or trims.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ReadWriteMix {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Each request is a read with this probability, else a write; each direction has its own
    /// sequential position. If both directions have a rate, the rates decide instead.
    Both {
        /// Probability of a read, in percent.
        read_percent: f64,
    },
    /// Trims only: blocks of devices are discarded, and holes are punched into files.
    Trim,
    /// Each block is trimmed before it is written. Both count as one request of the stream.
    TrimAndWrite,
}

impl ReadWriteMix {
    /// Whether there are reads.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Both { .. })
    }

    /// Whether there are writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Both { .. } | Self::TrimAndWrite)
    }

    /// Whether there are trims.
    #[must_use]
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimAndWrite)
    }

    /// Whether content of files changes. Such a stream uses the rules for writes.
    #[must_use]
    pub const fn modifies(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// Position of the request after another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunDirection {
    /// Right after it.
    #[default]
    Onward,
    /// At the same position; only within a run from a random offset.
    Same,
}

/// Sizes and alignment of a direction's requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockRule {
    /// Their sizes.
    pub sizes: SizeRule,
    /// Random offsets are multiples of this, in bytes, counted from the first byte of the used part
    /// of the file.
    pub align_bytes: u32,
}

/// Sizes of requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SizeRule {
    /// Always the same.
    Fixed {
        /// In bytes.
        bytes: u32,
    },
    /// Any size from the smallest to the largest, all equally likely.
    Range {
        /// Smallest size in bytes.
        min_bytes: u32,
        /// Largest size in bytes.
        max_bytes: u32,
        /// All sizes are multiples of this, in bytes.
        unit_bytes: u32,
    },
    /// One of several sizes, chosen by their shares.
    Split {
        /// The sizes; their shares add up to 100.
        shares: Vec<WeightedSize>,
    },
}

impl SizeRule {
    /// All possible sizes in bytes; for a range, both ends and the unit.
    #[must_use]
    pub fn all_bytes(&self) -> Vec<u32> {
        match self {
            Self::Fixed { bytes } => vec![*bytes],
            // All other sizes are multiples of the unit, so these three show whether direct I/O is
            // possible.
            Self::Range {
                min_bytes,
                max_bytes,
                unit_bytes,
            } => vec![*min_bytes, *max_bytes, *unit_bytes],
            Self::Split { shares } => shares.iter().map(|it| it.bytes).collect(),
        }
    }

    /// Smallest size in bytes.
    #[must_use]
    pub fn min_bytes(&self) -> u32 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range { min_bytes, .. } => *min_bytes,
            Self::Split { shares } => shares.iter().map(|it| it.bytes).min().unwrap_or(0),
        }
    }

    /// Largest size in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> u32 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range { max_bytes, .. } => *max_bytes,
            Self::Split { shares } => shares.iter().map(|it| it.bytes).max().unwrap_or(0),
        }
    }
}

/// A size and its share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeightedSize {
    /// In bytes.
    pub bytes: u32,
    /// Share of the requests, in percent.
    pub percent: f64,
}

/// Order of random offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum OffsetOrder {
    /// Every block of a file once before any repeats, in the same order in each loop.
    Once,
    /// Drawn each time.
    Drawn {
        /// Distribution of the offsets.
        distribution: Distribution,
    },
    /// Drawn each time, with a distribution per direction.
    DrawnByDirection {
        /// For reads and for writes.
        distributions: PerDirection<Distribution>,
    },
    /// Drawn each time among zones given in bytes, per direction.
    DrawnZones {
        /// For reads and for writes: share of the requests in percent, and zone size in bytes.
        zones: PerDirection<Vec<(f64, u64)>>,
    },
}

/// Order of the files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FileOrder {
    /// The files in turn.
    RoundRobin,
    /// One file until its end, then the next.
    Sequential,
    /// Drawn each time.
    Drawn {
        /// Distribution over the files.
        distribution: Distribution,
    },
}

/// Parts of files that are used, with gaps between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneRule {
    /// Bytes moved in each zone before the next one.
    pub used_bytes: u64,
    /// Size of a zone in bytes.
    pub zone_bytes: u64,
    /// Bytes skipped after each zone.
    pub skip_bytes: u64,
}

/// End of a stream; the first condition that is met ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEnd {
    /// Bytes moved in each loop, reads and writes together. A block that is trimmed and then
    /// written counts once.
    pub bytes: u64,
    /// Maximum number of requests in each loop.
    pub requests: Option<u64>,
    /// Number of loops; `None` repeats until the time is up. Each starts where the first did and
    /// visits `once` in the same order; random draws continue instead of starting over.
    pub loops: Option<u64>,
    /// `true` if a loop starts over when the end of the files is reached and bytes are left,
    /// instead of ending.
    pub starts_over: bool,
}

/// Syncs of written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SyncRule {
    /// fsync after this many writes; 0 for never. A sync due at the very end is left out.
    pub fsync_each: u32,
    /// fdatasync after this many writes; 0 for never. A sync due at the very end is left out.
    pub fdatasync_each: u32,
    /// fsync of each file at the very end.
    pub fsync_at_end: bool,
    /// Ranges written out during the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeSync>,
}

/// Writes out the range of a file that was written since the last call, without its metadata.
///
/// Source: sync_file_range(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RangeSync {
    /// Number of writes between calls. A call due at the very end is left out.
    pub write_count: u32,
    /// `true` if it waits for writeback already in progress.
    pub waits_before: bool,
    /// `true` if it starts writeback of dirty pages.
    pub writes: bool,
    /// `true` if it waits until writeback has finished.
    pub waits_after: bool,
}

/// Pauses between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkRule {
    /// Length of each pause, in nanoseconds.
    pub pause_ns: u64,
    /// Requests between pauses.
    pub requests: u64,
    /// Time between pauses in nanoseconds; 0 if requests are counted.
    pub time_ns: u64,
    /// `true` to count requests when they are issued, `false` when they complete.
    pub counts_issued: bool,
}

/// Rate of the requests of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaceRule {
    /// Requests or bytes per second.
    pub per_second: f64,
    /// `true` if the rate is in bytes.
    pub is_of_bytes: bool,
    /// Distribution of the due times.
    pub arrivals: ArrivalKind,
    /// `true` if pauses push due times back.
    pub ignores_pauses: bool,
}

/// Reading back of written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// Number of writes after which they are read back; 0 for the end of each loop.
    pub backlog: u64,
    /// Number of writes read back in one batch; 0 for all.
    pub batch: u64,
    /// `true` if nothing is written: the requests that would write are only read back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skips_writes: bool,
}
