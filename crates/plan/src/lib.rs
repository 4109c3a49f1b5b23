//! What will be done, with every value resolved: plain numbers, the same on a thread or a rank.
//!
//! `planning` makes a plan of descriptions, options and facts; generators, engines and records
//! read it and know no description.

mod address;
mod cell;
mod diagnostic;
mod engine;
pub mod facts;
pub mod job;
mod order;
mod parts;
mod position;
pub mod program;
mod ranks;
mod repetition;
mod ring;
mod search;
mod seeds;
mod share;
mod work;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use stats::SteadyRule;

pub use address::TcpAddress;
pub use cell::Cell;
pub use diagnostic::{Diagnostic, DiagnosticCode, Severity, printable};
use job::JobPlan;
pub use order::order_of_repetition;
pub use position::{ContentPlan, CursorKind, Distribution, PositionRule, Sequence, Zone};
pub use repetition::RepetitionRule;
pub use ring::RingOptions;
pub use search::{ResponseLimit, ResponsePercentile, TRIALS_MAX};
pub use seeds::worker_seed;
pub use share::share;
pub use work::Work;

/// Everything a run will do, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The workloads asked for, in order.
    pub workloads: Vec<PlannedWorkload>,
    /// The targets of all cells; cells name them by index.
    pub targets: Vec<TargetPlan>,
    /// What will be measured, in order.
    pub cells: Vec<Cell>,
    /// The seed from which all workers' seeds come.
    pub seed: u64,
    /// Every option with its value and where that came from.
    pub settings: Vec<Setting>,
    /// Until when repetitions are added; none where the plan has all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition_rule: Option<RepetitionRule>,
}

/// A workload as the plan names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedWorkload {
    /// Kebab-case name, or the file's stem.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where the workload comes from: a publication, or the file's name.
    pub source: String,
    /// The pack that it is a part of, by which it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// The front that it comes from, whose text can be made from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontOrigin>,
}

/// Which other program's arguments or file a workload stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FrontOrigin {
    /// The other program's name.
    pub name: String,
    /// Its arguments, or the name of its file and whatever else its text needs.
    pub arguments: Vec<String>,
}

/// One option with its resolved value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The workload it belongs to.
    pub workload: String,
    /// The key as in the workload file.
    pub key: String,
    /// The value as text, in the form the workload file takes.
    pub value: String,
    /// Where the value came from.
    pub source: Source,
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The workload file says so.
    Written,
    /// Nobody said, so the documented default holds.
    Default,
    /// An option on the command line says so.
    Option,
}

impl Source {
    /// Of a value that an option gives, or the workload, or nobody; an option comes first.
    #[must_use]
    pub const fn of(by_option: bool, is_written: bool) -> Self {
        match (by_option, is_written) {
            (true, _) => Self::Option,
            (false, true) => Self::Written,
            (false, false) => Self::Default,
        }
    }
}

/// A place to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetPlan {
    /// The path as given (or the name in the workload file, for `null` and other engines that
    /// touch nothing).
    #[serde(serialize_with = "units::path_as_text")]
    pub path: PathBuf,
    /// What the path is.
    pub kind: TargetKind,
    /// Bytes of test file or device that are used, from byte 0.
    pub size_bytes: u64,
    /// Smallest unit of direct I/O, in bytes.
    pub block_bytes: u32,
}

/// What a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A directory, in which a work directory with a test file is made.
    Directory,
    /// A regular file of our own (made by pgmeter, or to be made).
    File,
    /// A block device.
    Device,
    /// `/dev/null` or `/dev/zero`: takes any number of bytes and keeps none.
    Endless,
    /// A TCP peer: `pgmeter sink`, or one that the run starts itself.
    Network,
    /// Nothing: the `null` engine.
    Null,
}

impl TargetKind {
    /// Whether the name of such a target is a path.
    #[must_use]
    pub const fn is_path(self) -> bool {
        !matches!(self, Self::Null | Self::Network)
    }
}

/// Rates below this are refused, in requests per second of all workers together.
pub const RATE_MIN: f64 = 0.001;
/// Rates above this are refused, in requests per second of all workers together.
pub const RATE_MAX: f64 = 10_000_000.0;

/// When requests are due, whatever the target does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// How many each second, of all workers together; each worker has the same share.
    pub per_second: f64,
    /// How they are spread.
    pub arrivals: ArrivalKind,
}

/// A part of a response-time curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "part")]
pub enum CurvePart {
    /// Each request follows the one before it, as fast as that is.
    Peak,
    /// Requests are due at a share of the peak's rate.
    Point {
        /// The share, in percent.
        percent: u32,
        /// How the due times are spread.
        arrivals: ArrivalKind,
    },
    /// Requests are due at a rate that follows from the trials before it: a step on the way to the
    /// highest rate at which response times hold. What is known before the last one needs no more.
    Trial {
        /// From 1.
        number: u32,
        /// What is to hold.
        limit: ResponseLimit,
        /// How the due times are spread.
        arrivals: ArrivalKind,
    },
}

impl CurvePart {
    /// Whether its rate follows from a peak.
    #[must_use]
    pub const fn follows_a_peak(self) -> bool {
        !matches!(self, Self::Peak)
    }
}

/// How the due times of a rate are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// At equal intervals.
    Uniform,
    /// As a Poisson process: at random and independent of each other.
    Poisson,
}

impl ArrivalKind {
    /// The name in workload files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Poisson => "poisson",
        }
    }
}

/// Which engine issues the I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// One system call per request; a worker of depth N is N threads that share a position.
    Psync,
    /// One ring per worker.
    IoUring,
    /// Copies to and from a memory mapping; a worker of depth N is N threads that share a position.
    Mmap,
    /// No I/O: every request completes at once.
    Null,
}

/// How the page cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheMode {
    /// `O_DIRECT`.
    Direct,
    /// Through the page cache.
    Buffered,
    /// Through the page cache, dropped from it afterwards (`RWF_DONTCACHE`).
    Dontcache,
}

/// One worker's share of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPlan {
    /// 0-based over the whole cell.
    pub worker_index: u32,
    /// The process that it works in, 0-based, where several share a run.
    #[serde(default, skip_serializing_if = "is_first")]
    pub rank: u32,
    /// The worker's name, for reports.
    pub name: String,
    /// The access specification's name.
    pub access_spec: String,
    /// The access lines with a weight above zero.
    pub lines: Vec<LinePlan>,
    /// What the worker uses of each target.
    pub spans: Vec<SpanPlan>,
    /// Seed of this worker's own streams.
    pub seed: u64,
    /// Where requests go.
    pub position: PositionRule,
    /// Who shares the position.
    pub cursor: CursorKind,
    /// What is written.
    pub content: ContentPlan,
    /// Stamp what is written and check what is read.
    pub verify: bool,
    /// Reopen each target after so many transactions; 0 means open and close only.
    pub transactions_per_connection: Option<u32>,
    /// Its targets are TCP peers: reads receive, writes send, offsets mean nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// The CPU to run on.
    pub cpu: Option<u32>,
    /// What it does in place of access lines, with an engine and an end of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Box<JobPlan>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_first(rank: &u32) -> bool {
    *rank == 0
}

/// The part of one target that a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpanPlan {
    /// Index into `Plan::targets`.
    pub target_index: u32,
    /// Requests kept in flight on this target.
    pub iodepth: u32,
    /// First byte.
    pub start_bytes: u64,
    /// How many bytes.
    pub size_bytes: u64,
    /// What an alignment of 0 means, in bytes.
    pub sector_bytes: u32,
}

/// One access line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinePlan {
    /// Bytes a request moves.
    pub size_bytes: u32,
    /// Share of the transactions, in percent; all lines' shares add up to 100.
    pub of_size_percent: f64,
    /// Share of the line's transactions that read, in percent.
    pub read_percent: f64,
    /// Share of the line's requests that start at a random position, in percent.
    pub random_percent: f64,
    /// Wait before each burst, in nanoseconds.
    pub delay_ns: u64,
    /// Transactions in a burst; 0 and 1 mean one.
    pub burst: u32,
    /// Offsets are multiples of this, in bytes; 0 means the span's sector.
    pub align_bytes: u32,
    /// Bytes of the answer in the opposite direction; 0 means none.
    pub reply_bytes: u32,
    /// Where random requests go.
    pub distribution: Distribution,
    /// Where requests that are not random go.
    pub sequence: Sequence,
}
