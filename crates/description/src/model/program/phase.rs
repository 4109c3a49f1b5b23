//! What happens to files, phase by phase.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use super::ActChoice;
use crate::model::OneOrMany;
use plan::program::{Ending, Failed, Out};

/// What groups of workers do to files at the same time; the next phase begins when all are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhaseTable {
    /// Name in records and reports. Must be written.
    pub name: Option<String>,
    /// Whether it is done but kept out of records. Default: false.
    pub hidden: Option<bool>,
    /// What happens before it, never timed: `sync`, `drop-caches`, `remount` or
    /// `{ pause = "10s" }`, or several in a list; caches and mounts need root. Default: nothing.
    pub before: Option<OneOrMany<BeforeChoice>>,
    /// Beginning that is not measured, at most 30 d. Default: the workload's `ramp_time`.
    pub ramp_time: Option<Span>,
    /// Time after which all workers stop, at most 30 d. Default: the workload's `run_time` where
    /// no group has an end of its own; 0 means until files or amounts end it.
    pub run_time: Option<Span>,
    /// What happens when `run_time` is over: all workers stop (`stop`), go on to ends of their own
    /// (`finish`), or go on until each did as many rounds as the one that had done most (`level`).
    /// Default: `stop`.
    pub time_up: Option<Ending>,
    /// What the others do when the first worker is done: `stop`, or `finish` what they have to do;
    /// how far they were is recorded. Default: they go on.
    pub first_done: Option<Ending>,
    /// Who works, and at what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<GroupTable>,
}

/// What happens before a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BeforeChoice {
    /// All file systems are synced.
    Sync,
    /// Dirty pages are written, then the kernel's caches are dropped.
    DropCaches,
    /// The file system is unmounted and mounted again.
    Remount,
    /// Nothing happens for a while.
    Pause(Span),
}

/// Workers that do the same, each for itself: what stands in `body` over and over, the other
/// lists of acts once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupTable {
    /// Name in records and reports. Default: the phase's name, with a number where it has several
    /// groups.
    pub name: Option<String>,
    /// How many workers there are, 1 to 1024. Default: the workload's `workers`.
    pub workers: Option<u32>,
    /// By how many workers on each takes another's files: with 1 the first takes the second's, and
    /// the last the first's. Default: 0.
    pub shift: Option<u32>,
    /// Acts before all workers begin together; not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enter: Vec<ActChoice>,
    /// Acts at the beginning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<ActChoice>,
    /// Acts that are repeated: a round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<ActChoice>,
    /// Acts at the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<ActChoice>,
    /// Acts behind the end; not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leave: Vec<ActChoice>,
    /// Rounds after which a worker stops. Default: no limit.
    pub rounds: Option<u64>,
    /// Bytes, read and written, after which a worker stops. Default: no limit.
    pub bytes: Option<Bytes>,
    /// System calls after which a worker stops. Default: no limit.
    pub calls: Option<u64>,
    /// How often a step or a transaction is done before a worker stops, by its label:
    /// `{ deliver = 1000 }`. Default: no limit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<String, u64>,
    /// How many bytes are read and written in a step or a transaction before a worker stops, by
    /// its label: `{ deliver = "1GiB" }`. Default: no limit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub step_bytes: BTreeMap<String, Bytes>,
    /// Whether these amounts count what all workers of the group do together, not what each does.
    /// Default: false.
    pub together: Option<bool>,
    /// What happens when there is no file to pick: the worker stops (`end-worker`), all workers of
    /// the phase stop (`end-phase`), or what is left of the transaction or round is left out
    /// (`skip`). Default: `end-worker`.
    pub when_out: Option<Out>,
    /// What happens when a call fails: what is left of the transaction or round is left out
    /// (`end-transaction`), nothing (`count`), the worker stops (`end-worker`), or the run has
    /// failed (`end-run`). Default: `end-transaction`.
    pub on_failure: Option<Failed>,
}

/// Phases that are repeated one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundsTable {
    /// The `[[phase]]` that they come behind, by its name. Default: the last one.
    pub after: Option<String>,
    /// How often, 1 to 1000000. One of `times`, `spent` and `until_full` must be written.
    pub times: Option<u32>,
    /// As often as it takes until this time was measured in all rounds together, at most 30 d.
    pub spent: Option<Span>,
    /// Until another round would not fit into the file system. Default: false.
    pub until_full: Option<bool>,
    /// The phases of a round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseTable>,
}
