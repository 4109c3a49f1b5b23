//! The plan of a run with every value resolved to plain numbers, identical for threads and ranks.
//!
//! `planning` makes a plan from descriptions, options and facts. Generators, engines and records
//! read plans and do not depend on descriptions.

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
    /// Requested workloads, in order.
    pub workloads: Vec<PlannedWorkload>,
    /// Targets of all cells, which refer to them by index.
    pub targets: Vec<TargetPlan>,
    /// Cells to measure, in order.
    pub cells: Vec<Cell>,
    /// Seed from which all workers' seeds are derived.
    pub seed: u64,
    /// Every option with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// When to stop adding repetitions; `None` if the plan contains all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition_rule: Option<RepetitionRule>,
}

/// A workload of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedWorkload {
    /// Name in kebab case, or the file's stem.
    pub name: String,
    /// Title in one line.
    pub title: String,
    /// Origin of the workload: a publication, or the file's name.
    pub source: String,
    /// Pack that it is a part of, by which it can be selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// Front end that it comes from; the record can be rendered as that program's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontOrigin>,
    /// Settings that vary, if the workload is measured with several values of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varied: Option<Variant>,
}

/// One combination of the values of settings with several values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name of the workload that is measured with all combinations.
    pub of: String,
    /// The settings that vary, in the order of the command line, with the values of this
    /// combination.
    pub settings: Vec<VariedSetting>,
}

/// A setting that varies, with one of its values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariedSetting {
    /// Key as in the workload file, or name of the option without dashes.
    pub key: String,
    /// The value as it was given.
    pub value: String,
}

/// Other program whose arguments or file a workload was converted from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FrontOrigin {
    /// Name of the other program.
    pub name: String,
    /// Its arguments, or the name of its file and further values needed for its output.
    pub arguments: Vec<String>,
}

/// One option with its resolved value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Workload to which it belongs.
    pub workload: String,
    /// Key as in the workload file.
    pub key: String,
    /// Value as text, in the form used in workload files.
    pub value: String,
    /// Source of the value.
    pub source: Source,
}

/// Source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The workload file.
    Written,
    /// The documented default.
    Default,
    /// An option on the command line.
    Option,
}

impl Source {
    /// The source of a value that an option or the workload may set; an option takes precedence.
    #[must_use]
    pub const fn of(has_option: bool, is_written: bool) -> Self {
        match (has_option, is_written) {
            (true, _) => Self::Option,
            (false, true) => Self::Written,
            (false, false) => Self::Default,
        }
    }
}

/// A target to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetPlan {
    /// Path as given; for the `null` engine and others that access nothing, the name in the
    /// workload file.
    #[serde(serialize_with = "units::path_as_text")]
    pub path: PathBuf,
    /// Kind of the target.
    pub kind: TargetKind,
    /// Used bytes of the test file or device, from byte 0.
    pub size_bytes: u64,
    /// Smallest block for direct I/O, in bytes.
    pub block_bytes: u32,
}

/// Kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A directory in which pgmeter creates a work directory with a test file.
    Directory,
    /// A regular file that pgmeter created or will create.
    File,
    /// A block device.
    Device,
    /// `/dev/null` or `/dev/zero`: accepts any number of bytes and stores none.
    Endless,
    /// A TCP peer: `pgmeter sink`, or a peer that the run starts itself.
    Network,
    /// No target: the `null` engine.
    Null,
}

impl TargetKind {
    /// `true` if the name of such a target is a path.
    #[must_use]
    pub const fn is_path(self) -> bool {
        !matches!(self, Self::Null | Self::Network)
    }
}

/// Smallest accepted rate, in requests per second of all workers together.
pub const RATE_MIN: f64 = 0.001;
/// Largest accepted rate, in requests per second of all workers together.
pub const RATE_MAX: f64 = 10_000_000.0;

/// Rate of an open loop: requests are due independently of the target's speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// Requests per second of all workers together; each worker has the same share.
    pub per_second: f64,
    /// Distribution of the due times.
    pub arrivals: ArrivalKind,
}

/// A part of a response-time curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "part")]
pub enum CurvePart {
    /// A closed loop that measures the peak rate.
    Peak,
    /// An open loop at a fraction of the peak rate.
    Point {
        /// Share of the peak rate, in percent.
        percent: u32,
        /// Distribution of the due times.
        arrivals: ArrivalKind,
    },
    /// An open loop at a rate derived from the previous trials, in the search for the highest rate
    /// that keeps the limit. Trials are skipped once the result is known.
    Trial {
        /// Number of the trial, from 1.
        number: u32,
        /// Limit of the response time.
        limit: ResponseLimit,
        /// Distribution of the due times.
        arrivals: ArrivalKind,
    },
}

impl CurvePart {
    /// `true` if its rate is derived from a peak.
    #[must_use]
    pub const fn depends_on_peak(self) -> bool {
        !matches!(self, Self::Peak)
    }
}

/// Distribution of the due times of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// Equal intervals.
    Uniform,
    /// A Poisson process: random and independent.
    Poisson,
    /// The recorded times of a trace. Only replays have them; a workload file does not.
    Recorded,
}

impl ArrivalKind {
    /// The name in workload files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Poisson => "poisson",
            Self::Recorded => "recorded",
        }
    }
}

/// Engine that issues the I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// One system call per request; a worker with depth N runs N threads that share a position.
    Psync,
    /// One ring per worker.
    IoUring,
    /// Copies to and from a memory mapping; a worker with depth N runs N threads that share a
    /// position.
    Mmap,
    /// No I/O: every request completes immediately.
    Null,
}

/// Use of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheMode {
    /// Bypasses the page cache (`O_DIRECT`).
    Direct,
    /// Uses the page cache.
    Buffered,
    /// Uses the page cache and drops the pages afterwards (`RWF_DONTCACHE`).
    Dontcache,
}

/// Work of one worker in a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPlan {
    /// 0-based index in the cell.
    pub worker_index: u32,
    /// 0-based rank of its process, if several processes share the run.
    #[serde(default, skip_serializing_if = "is_first")]
    pub rank: u32,
    /// Name of the worker, for reports.
    pub name: String,
    /// Name of the access specification.
    pub access_spec: String,
    /// Access lines with a share above zero.
    pub lines: Vec<LinePlan>,
    /// Part of each target that the worker uses.
    pub spans: Vec<SpanPlan>,
    /// Seed of this worker's random streams.
    pub seed: u64,
    /// How random offsets are drawn.
    pub position: PositionRule,
    /// Which workers share the position for sequential requests.
    pub cursor: CursorKind,
    /// Data that is written.
    pub content: ContentPlan,
    /// Stamp written blocks and check read blocks.
    pub verify: bool,
    /// Reopen each target after this many transactions; 0 means open and close only; `None` keeps
    /// it open.
    pub transactions_per_connection: Option<u32>,
    /// Its targets are TCP peers: reads receive, writes send, and offsets have no meaning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// CPU on which it runs, if pinned.
    pub cpu: Option<u32>,
    /// Job that it runs instead of access lines, with its own engine and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Box<JobPlan>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_first(rank: &u32) -> bool {
    *rank == 0
}

/// Part of a target that a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpanPlan {
    /// Index into `Plan::targets`.
    pub target_index: u32,
    /// Requests kept in flight on this target.
    pub iodepth: u32,
    /// Offset of the first byte.
    pub start_bytes: u64,
    /// Number of bytes.
    pub size_bytes: u64,
    /// Alignment in bytes that an `align_bytes` of 0 stands for.
    pub sector_bytes: u32,
}

/// One access line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinePlan {
    /// Bytes per request.
    pub size_bytes: u32,
    /// Share of the transactions, in percent; all lines' shares add up to 100.
    pub of_size_percent: f64,
    /// Share of the line's transactions that read, in percent.
    pub read_percent: f64,
    /// Share of the line's requests that start at a random position, in percent.
    pub random_percent: f64,
    /// Pause before each burst, in nanoseconds.
    pub delay_ns: u64,
    /// Number of transactions in a burst; 0 and 1 mean one.
    pub burst: u32,
    /// Offsets are multiples of this, in bytes; 0 means the span's `sector_bytes`.
    pub align_bytes: u32,
    /// Bytes of the reply in the opposite direction; 0 means none.
    pub reply_bytes: u32,
    /// Distribution of random requests.
    pub distribution: Distribution,
    /// Order of requests that are not random.
    pub sequence: Sequence,
}
