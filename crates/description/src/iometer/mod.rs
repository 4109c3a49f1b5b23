//! The `[iometer]` table of a workload: settings of an Iometer configuration that have no other
//! key.
//!
//! They are kept for converting back to Iometer's format. They do not affect the measurement,
//! except that TCP network workers run.

mod names;
mod network;
mod values;

pub use names::{group_names, one_line};
pub use network::with_network_workers;
pub use values::{
    Assignment, Bar, BarLine, IdName, IometerWorker, RecordResults, ResultsDisplay, Target,
    TargetSettings, UpdateType, WorkerCount, WorkerKind,
};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Seed;

/// Iometer's own settings, kept for converting back to an `.icf` file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IometerSettings {
    /// Disk workers of a manager without a saved list; default one per CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_workers: Option<WorkerCount>,
    /// Network workers of a manager without a saved list; default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_workers: Option<WorkerCount>,
    /// Rows of the results file; default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_results: Option<RecordResults>,
    /// Display of Iometer's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<ResultsDisplay>,
    /// Access specifications that new workers get by default, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub default_assignment: BTreeMap<String, Assignment>,
    /// The managers, each with its number of the workload's workers, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<ManagerShare>,
    /// Network workers. TCP workers run after the workload's own workers; VI workers never run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<NetworkWorker>,
    /// Network targets of disk workers, which are kept but never used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network_targets: Vec<NetworkTarget>,
    /// Settings that are switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<DisabledSettings>,
}

impl IometerSettings {
    /// `true` if there is nothing to keep.
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
    /// Address under which Iometer reaches it; empty means this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    /// Number of the workload's workers that belong to it.
    pub worker_count: u32,
}

/// A network worker and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkWorker {
    /// Index of its manager, from 0.
    pub manager_index: u32,
    /// Position among all workers of that manager, from 0.
    pub position: u32,
    /// The worker.
    pub worker: IometerWorker,
}

/// A network target of a disk worker and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkTarget {
    /// Index of its worker among the workload's, from 0.
    pub worker_index: u32,
    /// Position among all targets of that worker, from 0.
    pub position: u32,
    /// The target.
    pub target: Target,
}

/// Values of a worker's settings that are switched off and have no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisabledSettings {
    /// Index of the worker among the workload's, from 0.
    pub worker_index: u32,
    /// Transactions per connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_per_connection: Option<u32>,
    /// The seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_seed: Option<Seed>,
}
