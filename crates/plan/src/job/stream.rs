//! What a job asks of its files, one request after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArrivalKind, Distribution};

/// What a job asks of its files, one request after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamPlan {
    /// Reads, writes, or both.
    pub mix: Mix,
    /// Share of the requests of a direction that begin at a random place, in percent.
    pub random_percent: PerDirection<f64>,
    /// Requests from each random place on, one behind the other; 1 for a random place each.
    pub run_length: u32,
    /// What the requests of such a run have in common, and sequential ones.
    pub wrap: Wrap,
    /// Bytes left out behind each sequential request; where negative, so far back from its start.
    pub step_bytes: i64,
    /// Sizes and places by direction.
    pub blocks: PerDirection<BlockRule>,
    /// Which random places come when.
    pub visits: Visits,
    /// Which file is next.
    pub file_order: FileOrder,
    /// Requests to one file before the next.
    pub requests_per_file: u32,
    /// Parts of the files that are used; the whole where there are none.
    pub zones: Option<ZoneRule>,
    /// When it has done enough.
    pub end: StreamEnd,
    /// How what is written comes to rest.
    pub sync: SyncRule,
    /// Pauses between requests.
    pub think: Option<ThinkRule>,
    /// When requests of a direction are due; as fast as they are done where that is none.
    pub pace: PerDirection<Option<PaceRule>>,
    /// Whether what was written is read back.
    pub read_back: Option<ReadBack>,
    /// Whether the original's slips are done, too: sizes of `visits` without repetition are cut
    /// where blocks were met before, Poisson gaps are those of a grid.
    pub is_to_the_letter: bool,
}

/// A value for reads and one for writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
}

impl StreamPlan {
    /// Requests one behind the other, of one file after the other, as fast as they are done.
    #[must_use]
    pub fn sequential(mix: Mix, blocks: BlockRule, end: StreamEnd) -> Self {
        Self {
            mix,
            random_percent: PerDirection::default(),
            run_length: 1,
            wrap: Wrap::Onward,
            step_bytes: 0,
            blocks: PerDirection::both(blocks),
            visits: Visits::Once,
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

    /// Whether requests of any direction that is used are due at times of their own.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        (self.mix.reads() && self.pace.read.is_some())
            || (self.mix.writes() && self.pace.write.is_some())
    }
}

impl<T> PerDirection<T> {
    /// The same for both.
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

/// Reads, writes, or both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Mix {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Each request is a read with this probability, else a write; sequential ones of each have a
    /// position of their own. Where both directions have a pace, that decides.
    Both {
        /// In percent.
        read_percent: f64,
    },
}

impl Mix {
    /// Whether there are reads.
    #[must_use]
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }

    /// Whether there are writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// Where the request behind one goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wrap {
    /// Behind it.
    #[default]
    Onward,
    /// To the same place again; within a run of a random place only.
    Same,
}

/// Sizes and places of a direction's requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockRule {
    /// Their sizes.
    pub sizes: SizeRule,
    /// Random places are multiples of this, counted from the first byte of the part of the file
    /// that is used, in bytes.
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
    /// Any from the least to the most, all alike likely.
    Range {
        /// The least in bytes.
        min_bytes: u32,
        /// The most in bytes.
        max_bytes: u32,
        /// They are multiples of this, in bytes.
        unit_bytes: u32,
    },
    /// One of some.
    Split {
        /// The sizes; their shares add up to 100.
        shares: Vec<ShareOfSize>,
    },
}

impl SizeRule {
    /// All sizes that there may be, in bytes; of a range both ends and the unit.
    #[must_use]
    pub fn all_bytes(&self) -> Vec<u32> {
        match self {
            Self::Fixed { bytes } => vec![*bytes],
            Self::Range {
                min_bytes,
                max_bytes,
                unit_bytes,
            } => vec![*min_bytes, *max_bytes, *unit_bytes],
            Self::Split { shares } => shares.iter().map(|it| it.bytes).collect(),
        }
    }

    /// The smallest in bytes.
    #[must_use]
    pub fn min_bytes(&self) -> u32 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range { min_bytes, .. } => *min_bytes,
            Self::Split { shares } => shares.iter().map(|it| it.bytes).min().unwrap_or(0),
        }
    }

    /// The largest in bytes.
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
pub struct ShareOfSize {
    /// In bytes.
    pub bytes: u32,
    /// Of the requests, in percent.
    pub percent: f64,
}

/// Which random places come when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Visits {
    /// Every place of a file once before any comes again, always in the same order.
    Once,
    /// Drawn each time.
    Drawn {
        /// By this law.
        distribution: Distribution,
    },
    /// Drawn each time, by a law for each direction.
    DrawnByDirection {
        /// For reads and for writes.
        distributions: PerDirection<Distribution>,
    },
    /// Drawn each time among zones that are told in bytes, by direction.
    DrawnZones {
        /// For reads and for writes: share of the requests in percent, and bytes.
        zones: PerDirection<Vec<(f64, u64)>>,
    },
}

/// Which file is next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FileOrder {
    /// One after the other.
    RoundRobin,
    /// The next one when one is done.
    Sequential,
    /// Drawn each time.
    Drawn {
        /// By this law over the files.
        distribution: Distribution,
    },
}

/// Parts of files that are used, with gaps between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneRule {
    /// Bytes moved in each zone before the next.
    pub used_bytes: u64,
    /// Bytes of a zone.
    pub zone_bytes: u64,
    /// Bytes left out behind each.
    pub skip_bytes: u64,
}

/// When a stream has done enough; whatever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEnd {
    /// Bytes moved in each loop, reads and writes together.
    pub bytes: u64,
    /// Requests in each loop.
    pub requests: Option<u64>,
    /// Loops. Each begins where the first did and visits `once` in the same order; what is drawn
    /// is drawn on. None for as long as there is time.
    pub loops: Option<u64>,
    /// Whether a loop starts over where its files have no more for it and bytes are left, and
    /// does not end there.
    pub starts_over: bool,
}

/// How what is written comes to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SyncRule {
    /// fsync behind so many writes; 0 for never. One that is due at the very end is left out.
    pub fsync_each: u32,
    /// fdatasync behind so many writes; 0 for never. One that is due at the very end is left out.
    pub fdatasync_each: u32,
    /// fsync of each file behind all else.
    pub fsync_at_end: bool,
    /// Ranges that are written out as the job goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeSync>,
}

/// What was written to a file since the last time is written out as one range, metadata left alone.
///
/// Source: sync_file_range(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RangeSync {
    /// Behind so many writes. One that is due at the very end is left out.
    pub write_count: u32,
    /// Whether it waits for what is being written out before.
    pub waits_before: bool,
    /// Whether it begins to write out what is not yet.
    pub writes: bool,
    /// Whether it waits until all is written out.
    pub waits_after: bool,
}

/// Pauses between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkRule {
    /// How long each pause is, in nanoseconds.
    pub pause_ns: u64,
    /// Requests between pauses.
    pub requests: u64,
    /// Time between pauses in nanoseconds; 0 where requests are counted.
    pub time_ns: u64,
    /// Whether issued requests count, not completed ones.
    pub counts_issued: bool,
}

/// When requests are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaceRule {
    /// So many each second.
    pub per_second: f64,
    /// Whether bytes are counted, not requests.
    pub is_of_bytes: bool,
    /// How due times are spread.
    pub arrivals: ArrivalKind,
    /// Whether pauses push due times back.
    pub ignores_pauses: bool,
}

/// What was written is read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// Behind so many writes each time; 0 for at the end of each loop.
    pub backlog: u64,
    /// So many at once; 0 for all.
    pub batch: u64,
}
