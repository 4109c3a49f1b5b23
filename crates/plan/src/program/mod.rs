//! Programs: one description for all work on many files, phase by phase.
//!
//! Filesets, ways and labels are named once; acts refer to them by number. The same program with
//! the same seed makes the same calls.

mod act;
mod check;
mod describe;
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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use act::{
    Act, AmountScope, Call, CallObject, CallPosition, Card, Deck, DirectoryWalk, FileFilter,
    FilePath, FileSharing, ListedOrder, MovedBytes, Pick, PickOrder,
};
pub use check::{InvalidProgram, ProgramStep};
pub use done::PhaseFiles;
pub(crate) use fileset::FILE_BYTES_MAX;
pub use fileset::{
    Access, DirectoryNesting, DirectoryTree, FileNames, FilesetPlan, FilesetSharing, HashedNames,
    ListedFiles, MappedSync, NestedDirectories, OpenModePlan, OpenSync, PADDED_WORKER_MARK,
    ROUND_MARK, STAMP_MARK, StampedNames, TreeGrowth, WORKER_MARK,
};
pub use in_place::{NamesInPlace, PersistentFiles, PersistentRole};
pub use labels::LabelMeaning;
pub use law::{Band, InvalidLaw, Law, Shape};
pub use need::RequiredSpace;
pub use operation::FileOperation;
pub use pool::{
    FileChoice, FilePool, Fsync, POOL_FILES_MAX, PoolBase, PoolEnd, PoolGenerator, PoolLocation,
    PoolPart,
};
pub use requests::DirectAmount;
pub use sampling::{Calibration, TimedFiles};
pub use settings::ProgramSetting;
pub use spawn::{CommandArgument, FileCommand, Spawn};
pub use tokens::{CounterSelection, Refill, TakeAmount, Tokens};
pub use trace::{Trace, TraceCall, TraceOpenMode, TraceOperation, TraceResult};
pub use walk::ActList;

/// Maximum number of filesets in a program: requests refer to them by one byte.
pub const FILESETS_MAX: usize = 255;
/// Maximum number of ways of opening in a program.
pub const OPEN_MODES_MAX: usize = 255;
/// Maximum number of names in a fileset.
pub const FILES_MAX: u32 = 100_000_000;
/// Maximum number of names in a fileset with a grown tree.
pub const GROWN_FILES_MAX: u32 = 1 << 22;
/// Maximum number of directories over which files are distributed in turn.
pub const DIRECTORIES_MAX: u32 = 65_536;
/// Maximum size of one request in bytes: each worker has a buffer of that size.
pub const PIECE_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of registers of a flow.
pub const REGISTERS_MAX: usize = 200;
/// Maximum number of labels in a program.
pub const LABELS_MAX: usize = 254;
/// Maximum number of names of extended attributes.
pub const ATTRIBUTES_MAX: usize = 254;
/// Maximum nesting of acts.
pub const NESTING_MAX: usize = 8;
/// Maximum number of meetings in a program.
pub const MEETINGS_MAX: usize = 16;

/// Work on many files: the files, and what happens to them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FileProgram")]
pub struct Program {
    /// Names of steps and transactions; acts refer to them by number.
    pub labels: Vec<String>,
    /// The files; picks refer to them by number.
    pub filesets: Vec<FilesetPlan>,
    /// Ways in which files are opened; calls refer to them by number. The first one is the default.
    pub ways: Vec<OpenModePlan>,
    /// Counters that workers wait for; acts refer to them by number.
    #[serde(default)]
    pub tokens: Vec<Tokens>,
    /// Names of extended attributes, as in `user.comment`; calls refer to them by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// A pool of files of each worker, which continues from phase to phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Box<FilePool>>,
    /// Files that outlast the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Box<PersistentFiles>>,
    /// `true` to log every measured call with its times, for files that a front writes. The log is
    /// not part of a stored record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logs_calls: bool,
    /// Phases and rounds, in order.
    pub parts: Vec<ProgramPart>,
}

/// A part of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramPart {
    /// A phase: all of its groups run at the same time, until all are done.
    Phase(ProgramPhase),
    /// Repeated parts.
    Rounds {
        /// End of the rounds.
        until: RoundsEnd,
        /// Parts of a round.
        parts: Vec<ProgramPart>,
    },
}

/// End of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsEnd {
    /// After this number of rounds.
    Times(u32),
    /// Once the measured time of all rounds together exceeds this.
    Spent {
        /// In nanoseconds.
        ns: u64,
    },
    /// Before a round that would not fit into the file system.
    Full,
    /// After a number of rounds, or before one that would not fit into its workers' file systems.
    /// There is no check beforehand whether all rounds fit.
    Fitting {
        /// Number of rounds; `None` for as many as fit.
        times: Option<u32>,
        /// Bytes that a worker writes in a round.
        bytes: u64,
    },
    /// After a number of samples: rounds whose recorded phases together took long enough. While
    /// rounds are too short, the fileset gets more files.
    Sampled {
        /// Number of samples, at least 1.
        samples: u32,
        /// Minimum duration of a sample, in nanoseconds.
        least_ns: u64,
        /// Number of the fileset.
        fileset: u8,
    },
}

/// Work of groups of workers at the same time; it ends when all are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProgramPhase {
    /// Name in records and reports.
    pub name: String,
    /// The phase runs and is checked, but is kept out of the record.
    #[serde(default)]
    pub is_hidden: bool,
    /// Actions before the phase, in order, never timed.
    #[serde(default)]
    pub before: Vec<PhasePreparation>,
    /// Ramp time of every worker, not measured, in nanoseconds.
    #[serde(default)]
    pub ramp_ns: u64,
    /// Time in nanoseconds after the ramp at which `time_up` applies to all workers; `None` if
    /// files or quotas end the phase.
    #[serde(default)]
    pub time_ns: Option<u64>,
    /// What happens when the time is over.
    #[serde(default)]
    pub time_up: PhaseEndAction,
    /// What happens to the others when the first worker has left its body; `None` for nothing.
    #[serde(default)]
    pub first_done: Option<PhaseEndAction>,
    /// Groups of workers.
    pub groups: Vec<Group>,
}

/// What all workers of a phase do at a certain moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseEndAction {
    /// They leave their bodies at their next call.
    #[default]
    Stop,
    /// They record their progress and continue to their own ends.
    Finish,
    /// They record their progress and continue until each has done as many rounds as the worker
    /// that had done most.
    Level,
}

/// An action before a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhasePreparation {
    /// All file systems are synced.
    Sync,
    /// The page cache is dropped.
    DropCaches,
    /// The target's file system is unmounted and mounted again.
    Remount,
    /// A pause.
    Pause {
        /// In nanoseconds.
        ns: u64,
    },
    /// The run waits at a semaphore of System V for other processes: it decrements the semaphore,
    /// and continues when that is 0.
    Semaphore {
        /// Key of the set of semaphores.
        key: i32,
        /// Number of the semaphore in its set, 0-based.
        number: u16,
    },
    /// The run waits for a line on standard input.
    Prompt {
        /// Number of the phase, to print.
        number: u16,
    },
}

/// Workers that do the same work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Name in records and reports.
    pub name: String,
    /// Number of workers; `None` for the workload's number, which planning fills in.
    #[serde(default)]
    pub workers: Option<u32>,
    /// Each worker uses the copies, slices and blocks of the worker this many places later: the
    /// first uses the ones of worker number `shift`, and so on in a circle.
    #[serde(default)]
    pub shift: u32,
    /// Acts done once, before the worker's window and before all workers start together.
    #[serde(default)]
    pub enter: Vec<Act>,
    /// Acts done once at the start of the worker's window.
    #[serde(default)]
    pub first: Vec<Act>,
    /// Acts that are repeated; one pass is a round. If empty, `first` and `last` are everything.
    pub body: Vec<Act>,
    /// Acts done once at the end of the worker's window.
    #[serde(default)]
    pub last: Vec<Act>,
    /// Acts done once after the worker's window.
    #[serde(default)]
    pub leave: Vec<Act>,
    /// Quotas, of which the first that is reached ends the body; without quotas, the lack of files
    /// does.
    #[serde(default)]
    pub quotas: Vec<Quota>,
    /// What happens when a pick finds no file.
    #[serde(default)]
    pub out: OnNoFile,
    /// What happens when a call fails.
    #[serde(default)]
    pub failed: OnFailure,
    /// Recorded calls, instead of acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Trace>>,
    /// Programs that the leader of the workers starts, instead of acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn: Option<Box<Spawn>>,
    /// A part of the program's pool, instead of acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolPart>,
}

/// An amount of work after which a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// Measure of the work.
    pub what: Measure,
    /// Amount of the measure.
    pub count: u64,
    /// Whether each worker has this amount, or the group together.
    pub of: AmountScope,
}

/// Measure of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Rounds: passes through the body.
    Rounds,
    /// Bytes read and written.
    Bytes,
    /// System calls.
    Calls,
    /// Steps with a label.
    Steps(u8),
    /// Bytes read and written in steps with a label.
    StepBytes(u8),
}

/// What happens when a pick finds no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnNoFile {
    /// The worker leaves its body.
    #[default]
    EndWorker,
    /// All workers of the phase leave their bodies.
    EndPhase,
    /// The rest of the round, or of the enclosing transaction, is skipped. A round in which no pick
    /// finds a file ends the worker.
    Skip,
}

/// What happens when a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The rest of the enclosing transaction, or of the round, is skipped; files that it opened are
    /// closed.
    #[default]
    EndTransaction,
    /// The failure is counted, and the next call follows.
    Count,
    /// The worker leaves its body.
    EndWorker,
    /// All workers leave their bodies, and nothing follows: the run fails.
    EndRun,
}
