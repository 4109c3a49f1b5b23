//! Jobs: workers that each have an engine, files, an order, a pace and an end of their own.
//!
//! Where an access specification says what all workers of a cell ask of a target, a job says what
//! one worker does with named files: how much it moves, which part comes next, when it rests, and
//! who ends with it. A cell either has jobs or has none.

mod goals;
mod recorded;
mod share;
mod stream;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Diagnostic;
use crate::{CacheMode, ContentPlan, EngineKind, FrontOrigin, RingOptions};

pub use goals::{DepthTarget, FlowShare, GoalMeasure, JobGoals, LeastRate, RateFloor, SteadyGoal};
pub use recorded::{NotedRequest, RecordedAct, RecordedKind, RecordedPlan};
pub use share::FileShare;
pub use stream::{
    BlockRule, FileOrder, Mix, PaceRule, PerDirection, RangeSync, ReadBack, ShareOfSize, SizeRule,
    StreamEnd, StreamPlan, SyncRule, ThinkRule, Visits, Wrap, ZoneRule,
};

/// What one worker of a cell with jobs does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPlan {
    /// Which engine issues its requests.
    pub engine: EngineKind,
    /// How it uses the page cache.
    pub cache: CacheMode,
    /// Options of its ring.
    pub ring: RingOptions,
    /// How its files are opened for writing.
    pub durable: DurableWrites,
    /// Requests in flight, over all its files.
    pub iodepth: u32,
    /// Its files, in their order.
    pub files: Vec<JobFile>,
    /// So long after the others it begins, in nanoseconds.
    pub start_delay_ns: u64,
    /// The jobs of its cell that have ended when it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<JobsBefore>,
    /// What is not measured at its beginning, in nanoseconds.
    pub ramp_time_ns: u64,
    /// How long it is measured at most, in nanoseconds; 0 where only its end says.
    pub run_time_ns: u64,
    /// Whether all others end with it.
    pub ends_others: bool,
    /// Whether all others end when it fails: a request, a check, or what it is to keep to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_others_on_error: bool,
    /// Whether a failed request does not end it.
    pub goes_on_after_errors: bool,
    /// Whether the first read that does not verify ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_on_mismatch: bool,
    /// What it asks of its files.
    pub stream: StreamPlan,
    /// The log whose requests it makes instead, if any: then sizes and directions of `stream` are
    /// those of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedPlan>,
    /// What it does to its files as such; nothing moves then, and `stream` says only how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NameWork>,
    /// What its thread asks of the kernel's schedulers.
    #[serde(default, skip_serializing_if = "JobThread::is_default")]
    pub thread: JobThread,
    /// What it is to keep to, and what ends it when it is reached.
    #[serde(default, skip_serializing_if = "JobGoals::is_empty")]
    pub goals: JobGoals,
    /// Whether its requests are taken down one by one, for a log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_noted: bool,
}

impl JobPlan {
    /// One request in flight through the page cache, from the beginning until the stream's end; of
    /// no files yet.
    #[must_use]
    pub fn new(engine: EngineKind, stream: StreamPlan) -> Self {
        Self {
            engine,
            cache: CacheMode::Buffered,
            ring: RingOptions::default(),
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
            stream,
            recorded: None,
            names: None,
            thread: JobThread::default(),
            goals: JobGoals::default(),
            is_noted: false,
        }
    }
}

/// Jobs of a cell that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobsBefore {
    /// The first one, by its number in the cell from 0 on.
    pub first_index: u32,
    /// How many.
    pub count: u32,
}

/// What the thread of a job asks of the kernel's schedulers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JobThread {
    /// The CPUs that it may run on; empty for all that pgmeter may.
    pub cpus: Vec<u32>,
    /// How it gives way to others, from -20, hardly, to 19, always; 0 for as pgmeter does.
    pub nice: i32,
    /// Priority of its requests.
    pub io_priority: Option<IoPriority>,
}

/// Priority of requests, which some I/O schedulers heed.
///
/// Source: ioprio_set(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoPriority {
    /// 0 for none, 1 for real time, 2 for best effort, 3 for idle.
    pub class: u8,
    /// From 0, the highest, to 7.
    pub level: u8,
}

impl JobThread {
    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Work on files as such, each in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameWork {
    /// They are opened so that they are made, and closed.
    Create,
    /// Their attributes are read.
    Stat,
    /// They are removed.
    Delete,
}

/// How files are opened for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DurableWrites {
    /// As they are.
    #[default]
    No,
    /// Each write is durable, metadata included (`O_SYNC`).
    Sync,
    /// The data of each write is durable (`O_DSYNC`).
    DataSync,
}

/// A part of a file that a job works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobFile {
    /// Which of the cell's files.
    pub file_index: u32,
    /// First byte.
    pub start_bytes: u64,
    /// How many bytes; nothing behind them is touched. 0 for all that a device has.
    pub size_bytes: u64,
}

/// A file that jobs of a cell work on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedFile {
    /// The target below which it lies.
    pub target_index: u32,
    /// Its name below the work directory, of one component or several; none where the target
    /// itself is the file.
    pub name: Option<String>,
    /// How long it is at least, in bytes, when the cell begins.
    pub size_bytes: u64,
    /// What is in it when the cell begins.
    pub layout: Layout,
    /// Whether it is removed behind the cell.
    pub is_removed: bool,
    /// What the page cache holds of it when the cell begins.
    pub cache: FileCache,
}

/// What is in a file when a cell begins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Data that was written.
    Written,
    /// Allotted room that nobody has written to.
    Allotted,
    /// The length alone.
    Sparse,
    /// Nothing: it grows as it is written.
    Empty,
    /// There is no file: a job makes it.
    Absent,
}

/// What the page cache holds of a file when a cell begins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FileCache {
    /// Nothing.
    Dropped,
    /// What there is.
    Left,
    /// All of it.
    Warm,
}

/// The files of a cell with jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JobFiles {
    /// In the order of their numbers.
    pub files: Vec<NamedFile>,
    /// Whether nothing is done but to make them.
    pub is_layout_only: bool,
}

/// Jobs that another program's arguments or file stand for, one cell for those that run together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BuiltJobs {
    /// Where they come from.
    pub origin: FrontOrigin,
    /// The jobs that run together, in the order of their workers.
    pub jobs: Vec<BuiltJob>,
    /// Their files; which target each lies below is known by its directory.
    pub files: JobFiles,
}

/// A job before its cell is planned.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltJob {
    /// As results tell it.
    pub name: String,
    /// What it does.
    pub plan: JobPlan,
    /// What it says in percent of files whose sizes only the targets tell; its plan has 0 for
    /// sizes that follow.
    pub share: Option<FileShare>,
    /// What it writes.
    pub content: ContentPlan,
    /// Whether what it writes is stamped and what it reads is checked.
    pub verify: bool,
    /// Seed of its streams.
    pub seed: u64,
    /// The CPU that it runs on.
    pub cpu: Option<u32>,
    /// Whether its files take the room that there is.
    pub fills: bool,
    /// Where its files are named, or where it begins.
    pub place: JobPlace,
}

/// Where something is said about a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobPlace {
    /// The file; empty for a command line.
    pub file: String,
    /// The line, from 1; 0 on a command line.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The line as messages show it.
    pub shown: String,
}

impl JobPlace {
    /// A mistake that was found later, with the place.
    #[must_use]
    pub fn put(&self, mistake: Diagnostic) -> Diagnostic {
        if self.line == 0 {
            return mistake;
        }
        let mistake = Diagnostic {
            file: self.file.clone(),
            ..mistake
        };
        mistake.at(self.line, self.column).snippet(&self.shown)
    }
}

impl JobPlan {
    /// Whether it may write to its files.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.stream.mix.writes()
    }

    /// Whether its requests are due at times of their own.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        match &self.recorded {
            Some(recorded) => recorded.is_paced(),
            None => self.stream.is_paced(),
        }
    }

    /// How many threads issue its requests: one for each request in flight if the engine has one at
    /// a time. Names are worked on by one thread whatever the depth.
    #[must_use]
    pub const fn thread_count(&self) -> u32 {
        match self.engine.is_one_at_a_time() && self.names.is_none() {
            true => self.iodepth,
            false => 1,
        }
    }

    /// Bytes of its largest request.
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
