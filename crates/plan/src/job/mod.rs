//! Jobs: workers that each have their own engine, files, request order, rate and end.
//!
//! An access specification applies to all workers of a cell. A job describes what one worker does
//! with named files: the amount, the order, the pauses, and which jobs end with it. Either all
//! workers of a cell run jobs or none.

mod check;
mod goals;
mod recorded;
mod share;
mod stream;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Diagnostic;
use crate::{CacheMode, ContentPlan, EngineKind, FrontOrigin, RingOptions};

pub use check::{BlockCheck, BlockCheckKind, ContentPattern, PatternTemplate};
pub use goals::{DepthTarget, FlowShare, GoalMeasure, JobGoals, MinRate, RateFloor, SteadyGoal};
pub use recorded::{
    AddressMap, DueProfile, LoggedRequest, RecordedKind, RecordedPlan, RecordedRequest, TracePlan,
};
pub use share::FileShare;
pub use stream::{
    BlockRule, FileOrder, OffsetOrder, PaceRule, PerDirection, RangeSync, ReadBack, ReadWriteMix,
    RunDirection, SizeRule, StreamEnd, StreamPlan, SyncRule, ThinkRule, WeightedSize, ZoneRule,
};

/// Work of one worker of a cell with jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPlan {
    /// Engine that issues its requests.
    pub engine: EngineKind,
    /// Use of the page cache.
    pub cache: CacheMode,
    /// Options of the `io_uring` engine.
    pub ring: RingOptions,
    /// `true` if reads and writes that would wait fail (`RWF_NOWAIT`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nowait: bool,
    /// Durability of writes, set when files are opened.
    pub durable: DurableWrites,
    /// Requests in flight, all of its files together.
    pub iodepth: u32,
    /// Its files, in order.
    pub files: Vec<JobFile>,
    /// Delay after the start of the cell, in nanoseconds.
    pub start_delay_ns: u64,
    /// Jobs of its cell that must end before it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<JobRange>,
    /// Ramp time, not measured, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Longest measured time in nanoseconds; 0 if only its own end limits it.
    pub run_time_ns: u64,
    /// `true` if all other jobs end with it.
    pub ends_others: bool,
    /// `true` if all other jobs end when it fails: on a failed request, a failed check or a missed
    /// goal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_others_on_error: bool,
    /// `true` if it continues after a failed request.
    pub goes_on_after_errors: bool,
    /// `true` if it ends at the first read that fails verification.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_on_mismatch: bool,
    /// How blocks are verified if not by the stamps of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<BlockCheck>,
    /// Bytes that are written instead of the worker's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<ContentPattern>,
    /// Its requests.
    pub stream: StreamPlan,
    /// Log whose requests it replays, if any; sizes and directions of `stream` are then taken from
    /// the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedPlan>,
    /// Work on its files as a whole, if any; no data moves, and `stream` determines only how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<MetadataWork>,
    /// Calls on the space of its files that replace its reads, writes and trims, if any; no data
    /// moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceWork>,
    /// Scheduling parameters of its thread.
    #[serde(default, skip_serializing_if = "JobThread::is_default")]
    pub thread: JobThread,
    /// Goals, and conditions that end it.
    #[serde(default, skip_serializing_if = "JobGoals::is_empty")]
    pub goals: JobGoals,
    /// `true` if each request is recorded, for a log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_noted: bool,
    /// `true` if latencies are split into the time until submission and the time after it. Requests
    /// are then submitted by one call and awaited by another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub times_submission: bool,
}

impl JobPlan {
    /// A job without files yet: one request in flight through the page cache, from the start until
    /// the end of the stream.
    #[must_use]
    pub fn new(engine: EngineKind, stream: StreamPlan) -> Self {
        Self {
            engine,
            cache: CacheMode::Buffered,
            ring: RingOptions::default(),
            nowait: false,
            durable: DurableWrites::No,
            iodepth: 1,
            files: Vec::new(),
            start_delay_ns: 0,
            after: None,
            ramp_time_ns: 0,
            run_time_ns: 0,
            ends_others: false,
            ends_others_on_error: false,
            goes_on_after_errors: false,
            ends_on_mismatch: false,
            check: None,
            pattern: None,
            stream,
            recorded: None,
            names: None,
            space: None,
            thread: JobThread::default(),
            goals: JobGoals::default(),
            is_noted: false,
            times_submission: false,
        }
    }
}

/// Consecutive jobs of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobRange {
    /// Index of the first job in the cell, 0-based.
    pub first_index: u32,
    /// Number of jobs.
    pub count: u32,
}

/// Scheduling parameters of a job's thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JobThread {
    /// CPUs on which it may run; empty for all CPUs that pgmeter may use.
    pub cpus: Vec<u32>,
    /// Nice value, from -20 (highest priority) to 19 (lowest); 0 for pgmeter's own.
    pub nice: i32,
    /// I/O priority of its requests.
    pub io_priority: Option<IoPriority>,
}

/// I/O priority, used by some I/O schedulers.
///
/// Source: ioprio_set(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoPriority {
    /// 0 for none, 1 for real time, 2 for best effort, 3 for idle.
    pub class: u8,
    /// From 0 (highest) to 7.
    pub level: u8,
}

impl JobThread {
    /// `true` if no parameter is set.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Work on files as a whole, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MetadataWork {
    /// Creates each file by opening it, and closes it.
    Create,
    /// Reads the attributes of each file.
    Stat,
    /// Removes each file.
    Delete,
    /// Creates a directory at each name.
    Mkdir,
    /// Reads the attributes of each directory.
    StatDirectory,
    /// Removes each directory.
    Rmdir,
}

impl MetadataWork {
    /// What the names must be when the job starts.
    #[must_use]
    pub const fn layout(self) -> Layout {
        match self {
            Self::Create | Self::Mkdir => Layout::Absent,
            // stat(2) and unlink(2) need the files, but not their data.
            Self::Stat | Self::Delete => Layout::Sparse,
            Self::StatDirectory | Self::Rmdir => Layout::Directory,
        }
    }
}

/// Work on the space of files, one call per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpaceWork {
    /// Allocates the range of each request: a write extends the file, a read keeps its size, and a
    /// trim frees the range.
    Allocate,
    /// Sets the size of the file to the offset of each write.
    Truncate,
}

/// Durability of writes, set when files are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DurableWrites {
    /// No flag; writes are durable only after a sync.
    #[default]
    No,
    /// Each write is durable, metadata included (`O_SYNC`).
    Sync,
    /// The data of each write is durable (`O_DSYNC`).
    DataSync,
}

/// Part of a file that a job uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobFile {
    /// Index of the file in the cell.
    pub file_index: u32,
    /// Offset of the first byte.
    pub start_bytes: u64,
    /// Number of bytes; nothing after them is touched. 0 for all of a device.
    pub size_bytes: u64,
}

/// A file that the jobs of a cell work on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedFile {
    /// Index of the target that contains the file.
    pub target_index: u32,
    /// Name below the work directory, with one or more components; `None` if the target itself is
    /// the file.
    pub name: Option<String>,
    /// Minimum size in bytes when the cell starts.
    pub size_bytes: u64,
    /// Content when the cell starts.
    pub layout: Layout,
    /// `true` if it is removed after the cell.
    pub is_removed: bool,
    /// `true` if it is moved from the work directory to the target's directory after a complete
    /// run, unless another file has its name there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_left: bool,
    /// State in the page cache when the cell starts.
    pub cache: FileCache,
}

/// Content of a file when a cell starts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Data that was written.
    Written,
    /// Allocated space that was never written.
    Allotted,
    /// A hole of the file's length; no space is allocated.
    Sparse,
    /// An empty file, which grows as it is written.
    Empty,
    /// An empty directory instead of a file.
    Directory,
    /// No file; a job creates it.
    Absent,
}

impl Layout {
    /// `true` if there is a file before the job starts.
    #[must_use]
    pub const fn is_file(self) -> bool {
        !matches!(self, Self::Directory | Self::Absent)
    }

    /// `true` if there is a file of the planned size before the job starts.
    #[must_use]
    pub const fn has_size(self) -> bool {
        self.is_file() && !matches!(self, Self::Empty)
    }
}

/// State of a file in the page cache when a cell starts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FileCache {
    /// No pages; they are dropped.
    Dropped,
    /// Unchanged.
    Left,
    /// All pages; the file is read before.
    Warm,
}

/// The files of a cell with jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JobFiles {
    /// In the order of their indexes.
    pub files: Vec<NamedFile>,
    /// `true` if the cell only creates the files.
    pub is_layout_only: bool,
}

/// Jobs converted from another program's arguments or file; jobs that run together form one cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConvertedJobs {
    /// Source of the conversion.
    pub origin: FrontOrigin,
    /// Jobs that run together, in the order of their workers.
    pub jobs: Vec<UnplannedJob>,
    /// Their files; planning finds the target of each by its directory.
    pub files: JobFiles,
}

impl ConvertedJobs {
    /// `true` if a job replays a trace.
    #[must_use]
    pub fn is_trace(&self) -> bool {
        self.jobs.iter().any(|job| job.plan.trace().is_some())
    }
}

/// A job before its cell is planned.
#[derive(Debug, Clone, PartialEq)]
pub struct UnplannedJob {
    /// Name in results.
    pub name: String,
    /// Plan of the job.
    pub plan: JobPlan,
    /// Settings in percent of files whose sizes depend on the targets; the plan has 0 for the sizes
    /// derived from them.
    pub share: Option<FileShare>,
    /// Data that is written.
    pub content: ContentPlan,
    /// `true` if read blocks are checked: by `check` of the plan, or by stamps if it has none.
    pub verify: bool,
    /// Seed of its random streams.
    pub seed: u64,
    /// CPU on which it runs, if pinned.
    pub cpu: Option<u32>,
    /// `true` if its files fill the free space.
    pub fills: bool,
    /// Location of the key that names its files, or of its start.
    pub location: JobLocation,
}

/// Location in the source of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobLocation {
    /// File name; empty for a command line.
    pub file: String,
    /// Line, from 1; 0 for a command line.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Text of the line, as messages show it.
    pub text: String,
}

impl JobLocation {
    /// Adds the location to an error that was found later.
    #[must_use]
    pub fn put(&self, mistake: Diagnostic) -> Diagnostic {
        // A command line has no lines that a message could show.
        if self.line == 0 {
            return mistake;
        }
        let mistake = Diagnostic {
            file: self.file.clone(),
            ..mistake
        };
        mistake.at(self.line, self.column).snippet(&self.text)
    }
}

impl JobPlan {
    /// `true` if it may change its files, with writes or trims.
    #[must_use]
    pub const fn writes(&self) -> bool {
        // Also to allocate space for reads, the kernel wants a file that is open for writing.
        self.stream.mix.modifies() && !self.stream.skips_writes() || self.space.is_some()
    }

    /// `true` if its requests have due times.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        match &self.recorded {
            Some(recorded) => recorded.is_paced(),
            None => self.stream.is_paced(),
        }
    }

    /// The trace that it replays, if any.
    #[must_use]
    pub fn trace(&self) -> Option<&TracePlan> {
        self.recorded.as_ref()?.trace.as_ref()
    }

    /// Number of threads that issue its requests: one per request in flight if the engine has one
    /// at a time. Work on names uses one thread at any depth.
    #[must_use]
    pub const fn thread_count(&self) -> u32 {
        match self.engine.is_synchronous() && self.names.is_none() {
            true => self.iodepth,
            false => 1,
        }
    }

    /// Size of its largest request in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u32 {
        let blocks = &self.stream.blocks;
        blocks
            .read
            .sizes
            .max_bytes()
            .max(blocks.write.sizes.max_bytes())
    }
}
