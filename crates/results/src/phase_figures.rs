//! Results of a program's phase in addition to its operations and transactions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::zero::is_zero;

/// A program's own results of a phase that its cell is measured for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PhaseFigures {
    /// Steps, each timed as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepFigures>,
    /// Results per label of a workload's own phases, in the order of the labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelFigures>,
    /// All rounds in order, if the program reports each round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundFigures>,
    /// The reported round, if the program reports only one of its rounds.
    #[serde(rename = "told_round", skip_serializing_if = "Option::is_none")]
    pub reported_round: Option<ReportedRound>,
    /// Results of a pool of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolFigures>,
    /// The files used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filesets: Vec<FilesetFigures>,
    /// Results from a record of format 1 that have no field above, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub figures_before: BTreeMap<String, serde_json::Value>,
}

/// Results of a step, all workers together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepFigures {
    /// Name of the step: `create`, `stat` or `remove`; `baseline` for starting the same number of
    /// programs that do nothing.
    pub label: String,
    /// Number of successful executions.
    pub count: u64,
    /// Number of failures.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Time until the last worker was done, in nanoseconds.
    pub time_ns: u64,
    /// CPU time in user mode, in nanoseconds: of pgmeter's process, or of the programs that it
    /// started.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds, of the same processes.
    pub system_ns: u64,
}

/// Results of the calls or steps with one label, all workers together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LabelFigures {
    /// The label.
    pub label: String,
    /// Number of executions, including failures.
    pub count: u64,
    /// Number of failures.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Sum of all durations, in nanoseconds; parallel executions count separately.
    pub sum_ns: u64,
    /// Shortest duration, in nanoseconds.
    pub min_ns: u64,
    /// Longest duration, in nanoseconds.
    pub max_ns: u64,
    /// Median duration in nanoseconds, at most 13 % too high.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the duration in nanoseconds, at most 13 % too high.
    pub p99_ns: Option<u64>,
}

/// Results of a round.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundFigures {
    /// Number of files, all workers together.
    pub file_count: u64,
    /// Duration used for the rate, in nanoseconds. Each part of the round lasts until its last
    /// worker is done.
    pub time_ns: u64,
    /// Duration of a `sync` of all file systems, in nanoseconds; all workers waited for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<u64>,
    /// Space on the first worker's file system at the end of the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<FreeSpace>,
    /// Times per worker, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerTimes>,
}

/// Size and free space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FreeSpace {
    /// Bytes available to unprivileged users.
    pub free_bytes: u64,
    /// Total bytes.
    pub total_bytes: u64,
}

/// Times of one worker in a round.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerTimes {
    /// Duration used for the rate, in nanoseconds.
    pub time_ns: u64,
    /// Times of the calls, by kind: `create`, `write`, `fsync`, ... If files are opened again to
    /// sync them, `fsync` includes opening and closing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, CallTimes>,
    /// Timeline of the worker, in a workload's own phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<WorkerWindow>,
}

/// Timeline and amounts of a worker in a round of a workload's own phases. All times are in
/// nanoseconds from the start of the first worker's window. The ramp is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerWindow {
    /// Group of workers in the phase that it belongs to, 0-based.
    pub group: u8,
    /// Start of its window.
    pub begin_ns: u64,
    /// Start of its repeated part.
    pub body_ns: u64,
    /// End of its repeated part.
    pub body_end_ns: u64,
    /// End of its window.
    pub end_ns: u64,
    /// Number of repetitions started, including those in the ramp.
    pub rounds: u64,
    /// Calls in the window.
    pub calls: u64,
    /// Bytes read in the window.
    pub read_bytes: u64,
    /// Bytes written in the window.
    pub written_bytes: u64,
    /// CPU time of its thread in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time of its thread in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Progress when the other workers ended or its own time was up, if it continued after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<WorkerAtStonewall>,
}

/// Progress of a worker up to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerAtStonewall {
    /// The moment, in nanoseconds as in its window.
    pub at_ns: u64,
    /// Number of repetitions started.
    pub rounds: u64,
    /// Number of calls started.
    pub calls: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// Durations of the calls of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CallTimes {
    /// Number of calls.
    pub count: u64,
    /// Sum of all durations, in nanoseconds.
    pub sum_ns: u64,
    /// Shortest duration, in nanoseconds.
    pub min_ns: u64,
    /// Longest duration, in nanoseconds.
    pub max_ns: u64,
}

/// The round that a program reports, of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedRound {
    /// Rule that selected the round.
    pub rule: RoundRule,
    /// Duration, in nanoseconds.
    pub time_ns: u64,
    /// Total number of rounds; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_count: u64,
}

/// Rule that selects the reported round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundRule {
    /// The shortest round.
    Best,
    /// The median round by time per file.
    Median,
}

/// The files of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FilesetFigures {
    /// Planned number of files; per round if the program reports one round.
    pub file_count: u64,
    /// Size of each file, in bytes.
    pub file_bytes: u64,
}

/// Results of the file pools of all workers, over all phases.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PoolFigures {
    /// Number of transactions, as PostMark counts them. Each is a pair of operations: one creates
    /// or deletes a file, the other reads a file or appends to it.
    pub transactions_count: u64,
    /// Transactions per second of `transactions_ns`; none in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions_per_second: Option<f64>,
    /// Files created.
    pub created_count: u64,
    /// Files created before the transactions; part of `created_count`.
    pub created_before_count: u64,
    /// Files read.
    pub read_count: u64,
    /// Files appended to.
    pub appended_count: u64,
    /// Files deleted.
    pub deleted_count: u64,
    /// Files deleted after the transactions; part of `deleted_count`.
    pub deleted_after_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// `read_bytes` added up as in PostMark: rounded to a 32-bit float at every addition.
    pub read_bytes_float: f64,
    /// `written_bytes` added up as in PostMark.
    pub written_bytes_float: f64,
    /// Files and directories that were not created because their names already existed. The
    /// existing ones were left unchanged.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken_count: u64,
    /// Time until all files and directories were created, in nanoseconds.
    pub creation_ns: u64,
    /// Time until all directories were created, in nanoseconds; part of `creation_ns`.
    #[serde(skip_serializing_if = "is_zero")]
    pub directories_made_ns: u64,
    /// Duration of the transactions, in nanoseconds.
    pub transactions_ns: u64,
    /// Time to delete the remaining files and the directories, in nanoseconds.
    pub deletion_ns: u64,
    /// Time to remove the directories, in nanoseconds; part of `deletion_ns`.
    #[serde(skip_serializing_if = "is_zero")]
    pub directories_removed_ns: u64,
}

/// Files of a pool that could not be processed in a part of the work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PoolFailures {
    /// The first failures, up to the reporting limit.
    #[serde(rename = "told")]
    pub listed: Vec<PoolFailure>,
    /// Number of all failures.
    pub count: u64,
}

/// A file of a pool that could not be processed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoolFailure {
    /// Kind of operation: `create`, `read`, `append` or `delete`.
    pub kind: String,
    /// Number of its location, 0-based; 0 also if no location is set.
    pub location: u32,
    /// Number of its subdirectory in the location, 0-based, if it has one.
    pub subdirectory: Option<u32>,
    /// Number of the file in order of creation, from 1.
    pub number: u32,
}

impl PhaseFigures {
    /// The files, if they are of one kind.
    #[must_use]
    pub fn fileset(&self) -> Option<&FilesetFigures> {
        self.filesets.first()
    }

    /// The step, if there was only one.
    #[must_use]
    pub fn step(&self) -> Option<&StepFigures> {
        self.steps.first()
    }

    /// Files per second of the round that the program reports by this rule.
    #[must_use]
    pub fn reported_files_per_second(&self, rule: RoundRule) -> Option<f64> {
        let reported = self.reported_round.filter(|round| round.rule == rule)?;
        Some(files_per_second(
            self.fileset()?.file_count,
            reported.time_ns,
        ))
    }
}

impl RoundFigures {
    /// Files per second, all workers together.
    #[must_use]
    pub fn files_per_second(&self) -> f64 {
        files_per_second(self.file_count, self.time_ns)
    }
}

impl WorkerTimes {
    /// Times of the calls of this kind; all 0 if there were none.
    #[must_use]
    pub fn of(&self, kind: &str) -> CallTimes {
        self.calls.get(kind).copied().unwrap_or_default()
    }
}

impl CallTimes {
    /// Adds the duration of a call.
    #[inline]
    pub fn add(&mut self, time_ns: u64) {
        // The default minimum is 0, which no call could undercut.
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
    /// Fills in the rate.
    #[must_use]
    pub fn with_rate(self) -> Self {
        Self {
            transactions_per_second: (self.transactions_ns > 0)
                .then(|| self.transactions_per_second()),
            ..self
        }
    }

    /// Transactions per second; each is a pair of operations.
    #[must_use]
    pub fn transactions_per_second(&self) -> f64 {
        let seconds = self.transactions_ns as f64 / 1e9;
        // A record from elsewhere may have a time of 0.
        self.transactions_count as f64 / seconds.max(1e-9)
    }

    /// Duration of all phases, in nanoseconds.
    #[must_use]
    pub const fn total_ns(&self) -> u64 {
        self.creation_ns
            .saturating_add(self.transactions_ns)
            .saturating_add(self.deletion_ns)
    }

    /// Number of files created by transactions.
    #[must_use]
    pub const fn created_mixed_count(&self) -> u64 {
        self.created_count.saturating_sub(self.created_before_count)
    }

    /// Number of files deleted by transactions.
    #[must_use]
    pub const fn deleted_mixed_count(&self) -> u64 {
        self.deleted_count.saturating_sub(self.deleted_after_count)
    }
}

fn files_per_second(file_count: u64, time_ns: u64) -> f64 {
    file_count as f64 * 1e9 / time_ns.max(1) as f64
}
