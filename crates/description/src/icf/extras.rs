//! What an Iometer configuration says that a workload has no own place for.
//!
//! Kept in the `iometer` table of a workload, so that a file survives the way to TOML and back.
//! Nothing here changes what is measured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{IdName, ResultsDisplay, Target, Worker, WorkerCount};
use super::keywords::{Assignment, RecordResults};
use crate::model::Seed;

/// Iometer's own settings, kept for the way back to an `.icf` file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Extras {
    /// Disk workers of a manager without a saved list; default one per CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_workers: Option<WorkerCount>,
    /// Network workers of a manager without a saved list; default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_workers: Option<WorkerCount>,
    /// Which rows the results file has; default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_results: Option<RecordResults>,
    /// What Iometer's window shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<ResultsDisplay>,
    /// Access specifications that new workers get, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub default_assignment: BTreeMap<String, Assignment>,
    /// The managers and how many of the workload's workers each has, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<ManagerShare>,
    /// Network workers. Those of TCP run behind the workload's own, those of VI never.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<NetworkWorker>,
    /// Network targets of disk workers, which are kept but never run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network_targets: Vec<NetworkTarget>,
    /// Settings that are switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<SwitchedOff>,
}

impl Extras {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A manager's identity and its share of the workload's workers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManagerShare {
    /// Number and name.
    pub identity: IdName,
    /// How Iometer reaches it; empty means this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    /// How many of the workload's workers are its own.
    pub worker_count: u32,
}

/// A network worker and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkWorker {
    /// Index of its manager, from 0.
    pub manager_index: u32,
    /// Its position among all workers of that manager, from 0.
    pub position: u32,
    /// The worker itself.
    pub worker: Worker,
}

/// A network target of a disk worker and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkTarget {
    /// Index of its worker among the workload's, from 0.
    pub worker_index: u32,
    /// Its position among all targets of that worker, from 0.
    pub position: u32,
    /// The target itself.
    pub target: Target,
}

/// Values of a worker's settings that are switched off and so have no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchedOff {
    /// Index of the worker among the workload's, from 0.
    pub worker_index: u32,
    /// Transactions per connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_per_connection: Option<u32>,
    /// The seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_seed: Option<Seed>,
}
