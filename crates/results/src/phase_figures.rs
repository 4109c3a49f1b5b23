//! What a program that works on files measures of a phase, besides operations and transactions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::zero::is_zero;

/// A program's own figures of a phase that its cell is measured for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PhaseFigures {
    /// What was done, step by step, each timed as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepFigures>,
    /// What was counted of each label of a workload's own phases, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelFigures>,
    /// The rounds in their order, where the program tells of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundFigures>,
    /// The one of many rounds that the program tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_round: Option<ToldRound>,
    /// What became of a pool of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolFigures>,
    /// The files that it works on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filesets: Vec<FilesetFigures>,
    /// Figures of a record of format 1 that have no place above, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub figures_before: BTreeMap<String, serde_json::Value>,
}

/// What a step came to, all workers together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepFigures {
    /// What it is: `create`, `stat` or `remove`; `baseline` for as many programs that do nothing.
    pub label: String,
    /// How often it was done.
    pub count: u64,
    /// How often it failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Time until the last worker was done, in nanoseconds.
    pub time_ns: u64,
    /// Processor time in user mode, in nanoseconds: of pgmeter's process, or of the programs that
    /// it started.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds: of the same.
    pub system_ns: u64,
}

/// What calls or steps of a label came to, all workers together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LabelFigures {
    /// The label.
    pub label: String,
    /// How often it was done, failures included.
    pub count: u64,
    /// How often it failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Bytes read and written in it.
    pub bytes: u64,
    /// All of it together, in nanoseconds; what was done at the same time counts each.
    pub sum_ns: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Median in nanoseconds, at most 13 % too long.
    pub p50_ns: Option<u64>,
    /// 99th percentile in nanoseconds, at most 13 % too long.
    pub p99_ns: Option<u64>,
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundFigures {
    /// Files of all workers.
    pub file_count: u64,
    /// Time that its rate is of, in nanoseconds; in each part of it until the last worker was done.
    pub time_ns: u64,
    /// Time of a `sync` of all file systems, for which all workers waited, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<u64>,
    /// Space on the first worker's file system at the end of the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<FreeSpace>,
    /// Times of each worker, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerTimes>,
}

/// How much of a file system there is, and how much of it is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FreeSpace {
    /// Bytes that anybody may use.
    pub free_bytes: u64,
    /// All bytes.
    pub total_bytes: u64,
}

/// What a worker's round took.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerTimes {
    /// Time that its rate is of, in nanoseconds.
    pub time_ns: u64,
    /// Times of the calls, by kind: `create`, `write`, `fsync`, ... Where files are opened once
    /// more to be synced, `fsync` is that with opening and closing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, CallTimes>,
    /// What it did when, in a workload's own phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<WorkerWindow>,
}

/// When a worker did what in a round of a workload's own phases, and how much. All times are in
/// nanoseconds from the moment at which the first worker's window began; a ramp is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerWindow {
    /// The phase's group that it belongs to, 0-based.
    pub group: u8,
    /// When its window began.
    pub begin_ns: u64,
    /// When what it repeats began.
    pub body_ns: u64,
    /// When what it repeats was over.
    pub body_end_ns: u64,
    /// When its window was over.
    pub end_ns: u64,
    /// How often it began what it repeats, also in a ramp.
    pub rounds: u64,
    /// Calls in the window.
    pub calls: u64,
    /// Bytes read in the window.
    pub read_bytes: u64,
    /// Bytes written in the window.
    pub written_bytes: u64,
    /// Processor time of its thread in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Processor time of its thread in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// How far it was when the others' end or its own time came, where it went on behind that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<WorkerAtWall>,
}

/// How far a worker was at a moment, in all that it did until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerAtWall {
    /// When that was, in nanoseconds as of its window.
    pub at_ns: u64,
    /// How often it had begun what it repeats.
    pub rounds: u64,
    /// Calls that it had begun.
    pub calls: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// Times of the calls of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CallTimes {
    /// How many there were.
    pub count: u64,
    /// All of them together, in nanoseconds.
    pub sum_ns: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

/// The one of many rounds that a program tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToldRound {
    /// Why this one.
    pub rule: RoundRule,
    /// Its time, in nanoseconds.
    pub time_ns: u64,
    /// How many rounds it is one of; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_count: u64,
}

/// Which of many rounds a program tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundRule {
    /// The shortest.
    Best,
    /// The one in the middle by the time of a file.
    Median,
}

/// The files that a phase works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FilesetFigures {
    /// How many there are to be; of a round where it is told of one.
    pub file_count: u64,
    /// Bytes of each.
    pub file_bytes: u64,
}

/// What became of the pools of files of all workers, in all phases.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PoolFigures {
    /// Transactions; each is a pair of operations, as PostMark counts: one that creates or deletes
    /// a file, and one that reads it or appends to it.
    pub transactions_count: u64,
    /// Transactions for each second of `transactions_ns`; none in records before it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions_per_second: Option<f64>,
    /// Files created.
    pub created_count: u64,
    /// Of these, the files created before the transactions.
    pub created_before_count: u64,
    /// Files read.
    pub read_count: u64,
    /// Files appended to.
    pub appended_count: u64,
    /// Files deleted.
    pub deleted_count: u64,
    /// Of these, the files deleted after the transactions.
    pub deleted_after_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// `read_bytes` as PostMark adds them up: rounded to a 32-bit float at every addition.
    pub read_bytes_float: f64,
    /// `written_bytes` as PostMark adds them up.
    pub written_bytes_float: f64,
    /// Files and directories that could not be made because their names were taken; those were
    /// left as they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken_count: u64,
    /// Time until all files were there, their directories included, in nanoseconds.
    pub creation_ns: u64,
    /// Of this, the time until all directories were there, in nanoseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub directories_made_ns: u64,
    /// Time of the transactions, in nanoseconds.
    pub transactions_ns: u64,
    /// Time in which the files that were left were deleted, and their directories, in nanoseconds.
    pub deletion_ns: u64,
    /// Of this, the time of the directories, in nanoseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub directories_removed_ns: u64,
}

/// Files of a pool that could not be worked on in a part of what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PoolFailures {
    /// The first of them, as many as are told.
    pub told: Vec<PoolFailure>,
    /// All of them.
    pub count: u64,
}

/// A file of a pool that could not be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolFailure {
    /// The kind of the transaction: `create`, `read`, `append` or `delete`.
    pub kind: String,
    /// Its location, 0-based; 0 also where none is set.
    pub location: u32,
    /// Its subdirectory in there, 0-based, where it has one.
    pub subdirectory: Option<u32>,
    /// The number that it was made as, from 1.
    pub number: u32,
}

impl PhaseFigures {
    /// The files that it works on, where they are of one kind.
    #[must_use]
    pub fn fileset(&self) -> Option<&FilesetFigures> {
        self.filesets.first()
    }

    /// What was done, where it was one step.
    #[must_use]
    pub fn step(&self) -> Option<&StepFigures> {
        self.steps.first()
    }

    /// Files a second of the round that the program tells of by this rule.
    #[must_use]
    pub fn told_files_per_second(&self, rule: RoundRule) -> Option<f64> {
        let told = self.told_round.filter(|told| told.rule == rule)?;
        Some(files_per_second(self.fileset()?.file_count, told.time_ns))
    }
}

impl RoundFigures {
    /// Files of all workers a second.
    #[must_use]
    pub fn files_per_second(&self) -> f64 {
        files_per_second(self.file_count, self.time_ns)
    }
}

impl WorkerTimes {
    /// Times of the calls of that kind; nothing where there were none.
    #[must_use]
    pub fn of(&self, kind: &str) -> CallTimes {
        self.calls.get(kind).copied().unwrap_or_default()
    }
}

impl CallTimes {
    /// Adds the time of a call.
    #[inline]
    pub fn add(&mut self, time_ns: u64) {
        self.min_ns = match self.count {
            0 => time_ns,
            _ => self.min_ns.min(time_ns),
        };
        self.count += 1;
        self.sum_ns += time_ns;
        self.max_ns = self.max_ns.max(time_ns);
    }
}

impl PoolFigures {
    /// The same with its rate filled in.
    #[must_use]
    pub fn with_rate(self) -> Self {
        Self {
            transactions_per_second: (self.transactions_ns > 0)
                .then(|| self.transactions_per_second()),
            ..self
        }
    }

    /// Transactions a second, each a pair of operations.
    #[must_use]
    pub fn transactions_per_second(&self) -> f64 {
        let seconds = self.transactions_ns as f64 / 1e9;
        self.transactions_count as f64 / seconds.max(1e-9)
    }

    /// Time of all phases, in nanoseconds.
    #[must_use]
    pub const fn total_ns(&self) -> u64 {
        self.creation_ns
            .saturating_add(self.transactions_ns)
            .saturating_add(self.deletion_ns)
    }

    /// Files created by transactions.
    #[must_use]
    pub const fn created_mixed_count(&self) -> u64 {
        self.created_count.saturating_sub(self.created_before_count)
    }

    /// Files deleted by transactions.
    #[must_use]
    pub const fn deleted_mixed_count(&self) -> u64 {
        self.deleted_count.saturating_sub(self.deleted_after_count)
    }
}

fn files_per_second(file_count: u64, time_ns: u64) -> f64 {
    file_count as f64 * 1e9 / time_ns.max(1) as f64
}
