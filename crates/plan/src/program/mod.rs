//! One description for all work on files: which files there are, and what happens to them, phase
//! by phase.
//!
//! A program holds numbers and no names of what it stands for: filesets, ways and labels are named
//! once, and what happens refers to them by their place. The same program on the same seed asks
//! for the same.

mod act;
mod check;
mod done;
mod fileset;
mod filling;
mod in_place;
mod labels;
mod law;
mod need;
mod operation;
mod pool;
mod ramp;
mod requests;
mod reshape;
#[cfg(test)]
pub(crate) mod samples;
mod sampling;
mod scale;
mod settings;
mod shared;
mod spawn;
mod tokens;
mod trace;
mod walk;
mod warm;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use act::{
    Act, Bytes, Call, Card, Deck, DirectoryWalk, FilePath, ListedOrder, On, Order, Pick, Share,
    Turn, Where, Which,
};
pub use check::{ProgramFlaw, ProgramStep};
pub use done::FilesDone;
pub(crate) use fileset::FILE_BYTES_MAX;
pub use fileset::{
    Access, Copies, DirectoryNesting, DirectoryTree, FileNames, FilesetPlan, ListedFiles,
    NestedDirectories, OpenSync, PADDED_WORKER_MARK, ROUND_MARK, STAMP_MARK, StampedNames,
    TreeGrowth, WORKER_MARK, Way,
};
pub use in_place::{LastingFiles, LastingRole, NamesInPlace};
pub use labels::LabelMeaning;
pub use law::{Band, Law, LawFlaw, Shape};
pub use need::SpaceNeed;
pub use operation::FileOperation;
pub use pool::{
    FileChoice, FilePool, Fsync, POOL_FILES_MAX, PoolDraws, PoolEnd, PoolLocation, PoolPart,
    PoolPlace,
};
pub use requests::DirectAmount;
pub use sampling::{Calibration, Sample};
pub use settings::ProgramSetting;
pub use spawn::{CommandWord, FileCommand, Spawn};
pub use tokens::{Due, Refill, Tokens, Whose};
pub use trace::{Trace, TraceCall, TraceEnd, TraceOperation, TraceWay};
pub use walk::ActList;

/// How many filesets a program may have: requests name them by one byte.
pub const FILESETS_MAX: usize = 255;
/// How many ways of opening a program may have.
pub const WAYS_MAX: usize = 255;
/// How many names a fileset may have.
pub const FILES_MAX: u32 = 100_000_000;
/// How many names a fileset with a grown tree may have.
pub const GROWN_FILES_MAX: u32 = 1 << 22;
/// How many directories the files of a set may be dealt to in turn.
pub const DIRECTORIES_MAX: u32 = 65_536;
/// The most bytes of one request: a worker has a buffer of that size.
pub const PIECE_BYTES_MAX: u64 = 64 << 20;
/// How many registers a flow may have.
pub const REGISTERS_MAX: usize = 200;
/// How many labels a program may have.
pub const LABELS_MAX: usize = 254;
/// How deep acts may be nested.
pub const NESTING_MAX: usize = 8;
/// How many meetings a program may have.
pub const MEETINGS_MAX: usize = 16;

/// What is done to many files: which there are, and what happens to them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FileProgram")]
pub struct Program {
    /// Names of steps and transactions; acts say their number.
    pub labels: Vec<String>,
    /// The files; picks say their number.
    pub filesets: Vec<FilesetPlan>,
    /// How files are opened; calls say their number. The first is that of calls which say none.
    pub ways: Vec<Way>,
    /// Counters that workers wait for; acts say their number.
    #[serde(default)]
    pub tokens: Vec<Tokens>,
    /// A pool of files of each worker, which goes on from phase to phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Box<FilePool>>,
    /// Files that outlast the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Box<LastingFiles>>,
    /// What happens, in order.
    pub parts: Vec<ProgramPart>,
}

/// A part of what happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramPart {
    /// All groups of it at once, until all are done.
    Phase(ProgramPhase),
    /// Parts over and over.
    Rounds {
        /// When it is enough.
        until: Until,
        /// What a round is.
        parts: Vec<ProgramPart>,
    },
}

/// When rounds are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// After so many.
    Times(u32),
    /// Once the measured times of all rounds together exceed this.
    Spent {
        /// In nanoseconds.
        ns: u64,
    },
    /// When another round would not fit into the file system.
    Full,
    /// After so many, and before one that would not fit into the file systems of its workers.
    /// Nobody looks beforehand whether they all fit.
    Fitting {
        /// How many; none for as many as fit.
        times: Option<u32>,
        /// What a worker takes in a round.
        bytes: u64,
    },
    /// After so many samples: rounds whose phases that are not hidden took long enough together.
    /// As long as they are too short, the fileset gets more files.
    Sampled {
        /// How many, at least 1.
        samples: u32,
        /// How long a sample takes at least, in nanoseconds.
        least_ns: u64,
        /// The number of the fileset.
        fileset: u8,
    },
}

/// What groups of workers do at the same time; it is over when all are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProgramPhase {
    /// As in records and reports.
    pub name: String,
    /// Done and checked, but kept out of the record.
    #[serde(default)]
    pub is_hidden: bool,
    /// What is done before, in order, and never timed.
    #[serde(default)]
    pub before: Vec<Before>,
    /// Beginning of every worker's window that does not count, in nanoseconds.
    #[serde(default)]
    pub ramp_ns: u64,
    /// When all workers leave what they repeat, in nanoseconds after the ramp; none where files
    /// or quotas end it.
    #[serde(default)]
    pub time_ns: Option<u64>,
    /// What the end of that time means.
    #[serde(default)]
    pub time_up: Ending,
    /// What it means to all others that the first worker has left what it repeats; nothing where
    /// none.
    #[serde(default)]
    pub first_done: Option<Ending>,
    /// Who works.
    pub groups: Vec<Group>,
}

/// What one moment means to all workers of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// They leave what they repeat at their next call.
    #[default]
    Stop,
    /// They note how far they are, and go on to their own ends.
    Finish,
    /// They note how far they are, and go on until each did as many rounds as the one that had
    /// done most.
    Level,
}

/// What is done before a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Before {
    /// All file systems are synced.
    Sync,
    /// The page cache is dropped.
    DropCaches,
    /// The target's file system is mounted again.
    Remount,
    /// A pause.
    Pause {
        /// In nanoseconds.
        ns: u64,
    },
}

/// Workers that do the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// As in records and reports.
    pub name: String,
    /// How many; none for as many as the workload says, which planning puts in.
    #[serde(default)]
    pub workers: Option<u32>,
    /// By how many workers on each takes another's copies, slices and blocks: the first takes
    /// those of worker number `shift`, and so around.
    #[serde(default)]
    pub shift: u32,
    /// What each does once, before its window and before all begin.
    #[serde(default)]
    pub enter: Vec<Act>,
    /// What each does once at the beginning of its window.
    #[serde(default)]
    pub first: Vec<Act>,
    /// What each repeats: a round. Without any, `first` and `last` are all.
    pub body: Vec<Act>,
    /// What each does once at the end of its window.
    #[serde(default)]
    pub last: Vec<Act>,
    /// What each does once behind its window.
    #[serde(default)]
    pub leave: Vec<Act>,
    /// The first that is reached ends the body; without any, the lack of files does.
    #[serde(default)]
    pub quotas: Vec<Quota>,
    /// What a pick that finds nothing comes to.
    #[serde(default)]
    pub out: Out,
    /// What a call that fails comes to.
    #[serde(default)]
    pub failed: Failed,
    /// Recorded calls in the place of acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Trace>>,
    /// Programs that are started in the place of acts, by whoever leads the workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn: Option<Box<Spawn>>,
    /// A part of what becomes of the program's pool, in the place of acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolPart>,
}

/// How much is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// Of what.
    pub what: Measure,
    /// How much of it.
    pub count: u64,
    /// Whose.
    pub of: Share,
}

/// What is counted toward a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Times that the body was done.
    Rounds,
    /// Bytes read and written.
    Bytes,
    /// Calls.
    Calls,
    /// Steps of a label.
    Steps(u8),
    /// Bytes read and written in steps of a label.
    StepBytes(u8),
}

/// What a pick that finds nothing comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Out {
    /// The worker leaves its body.
    #[default]
    EndWorker,
    /// All workers of the phase leave their bodies.
    EndPhase,
    /// The rest of the round, or of the transaction around, is left out; a round of nothing but
    /// such picks ends the worker.
    Skip,
}

/// What a call that fails comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Failed {
    /// The rest of the transaction around, or of the round, is left out; what it opened is closed.
    #[default]
    EndTransaction,
    /// It is counted, and the next call follows.
    Count,
    /// The worker leaves its body.
    EndWorker,
    /// All workers leave their bodies, and nothing follows: the run has failed.
    EndRun,
}
