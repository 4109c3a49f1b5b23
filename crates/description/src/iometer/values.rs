//! Values of an Iometer configuration in the `[iometer]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Seed;

/// Number of workers of a manager without a saved list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerCount {
    /// One for each CPU (`NUMBER_OF_CPUS`).
    PerCpu,
    /// A fixed number.
    Count(u32),
}

/// `RESULTS DISPLAY`: display of Iometer's window; kept, never used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResultsDisplay {
    /// Write a result file for each update.
    pub record_last_update: bool,
    /// Seconds between updates; 0 means at the end only.
    pub update_frequency_seconds: u32,
    /// Time that an update covers.
    pub update_type: UpdateType,
    /// The lines of the bar charts, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
}

impl Default for ResultsDisplay {
    fn default() -> Self {
        Self {
            record_last_update: false,
            update_frequency_seconds: 0,
            update_type: UpdateType::WholeTest,
            bars: Vec::new(),
        }
    }
}

/// A line about a bar chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Number of the chart, from 1.
    pub chart: u32,
    /// Content of the line.
    pub shows: BarLine,
}

/// Content of a line about a bar chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarLine {
    /// The statistic, in Iometer's words.
    Statistic(String),
    /// The manager whose result it shows.
    Manager(IdName),
    /// The worker whose result it shows.
    Worker(IdName),
}

/// A number and a name, as managers and workers are identified.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdName {
    /// Distinguishes managers or workers of the same name.
    pub id: i32,
    /// The name; may be empty.
    pub name: String,
}

/// A worker of an Iometer configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Worker")]
pub struct IometerWorker {
    /// Name; need not be unique.
    pub name: String,
    /// Kind of its targets.
    pub kind: WorkerKind,
    /// `Default target settings for worker`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<TargetSettings>,
    /// `Assigned access specs`, in the order of running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<Vec<String>>,
    /// `Target assignments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<Target>>,
}

/// `Default target settings for worker`, with Iometer's defaults for keys that are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TargetSettings {
    /// Requests in flight on each target.
    pub outstanding_ios: u32,
    /// Open and close the target after every `transactions_per_connection` transactions.
    pub test_connection_rate: bool,
    /// Number of transactions between opening and closing the target.
    pub transactions_per_connection: u32,
    /// `true` to use `fixed_seed`.
    pub use_fixed_seed: bool,
    /// The seed.
    pub fixed_seed: Seed,
    /// Sectors that are used, at most 2^63-1; 0 means all.
    pub max_size_sectors: u64,
    /// First sector that is used, at most 2^63-1.
    pub starting_sector: u64,
    /// 0 repeating bytes, 1 pseudo-random, 2 full random.
    pub data_pattern: u8,
    /// Local interface of a network worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_interface: Option<String>,
    /// Requests in flight of a VI worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vi_outstanding_ios: Option<u32>,
}

impl Default for TargetSettings {
    fn default() -> Self {
        Self {
            outstanding_ios: 1,
            test_connection_rate: false,
            transactions_per_connection: 1,
            use_fixed_seed: false,
            fixed_seed: Seed(0),
            max_size_sectors: 0,
            starting_sector: 0,
            data_pattern: 0,
            network_interface: None,
            vi_outstanding_ios: None,
        }
    }
}

/// A target of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// A path, a drive letter, a device, or an address; may be empty.
    pub name: String,
    /// Kind of the target.
    pub kind: WorkerKind,
    /// Manager at the other end of a network target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<IdName>,
}

/// Rows of the results file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecordResults {
    /// All rows.
    All,
    /// All rows except the rows of targets.
    NoTargets,
    /// The rows of managers and the sum of all.
    NoWorkers,
    /// Only the sum.
    NoManagers,
    /// No results file.
    None,
}

/// New workers that get an access specification by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// None.
    None,
    /// All.
    All,
    /// Disk workers.
    Disk,
    /// Network workers.
    Net,
}

/// Time that an update of Iometer's window covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateType {
    /// The time since the last update.
    LastUpdate,
    /// The time since the start.
    WholeTest,
}

/// Kind of a worker or target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerKind {
    /// Disks and files.
    Disk,
    /// TCP connections.
    NetworkTcp,
    /// Virtual Interface (VI) connections, an obsolete technology.
    NetworkVi,
}

impl WorkerKind {
    /// `true` for both network kinds.
    #[must_use]
    pub fn is_network(self) -> bool {
        self != Self::Disk
    }
}
