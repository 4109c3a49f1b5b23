//! Workers that differ from each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::{ContentChoice, OneOrMany, Seed};

/// One worker, or several that are alike. What is not written here comes from the workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "WorkerTable")]
pub struct Worker {
    /// Name, for reports. Default: `worker 1`, `worker 2`, ...
    pub name: Option<String>,
    /// The group (Iometer: manager) in which the cycling test types count this worker. Default:
    /// one group for all.
    pub group: Option<String>,
    /// How many workers are like this one. Default: 1.
    pub count: Option<u32>,
    /// Requests in flight on each target. Default: the workload's `iodepth`.
    pub iodepth: Option<u32>,
    /// The targets; an empty list leaves the worker idle. Default: the workload's `targets`.
    pub targets: Option<OneOrMany<String>>,
    /// Names of access specifications, in order; an empty list leaves the worker idle. Default: all
    /// of the file, in their order.
    pub access_specs: Option<Vec<String>>,
    /// Bytes of each target that are used. Default: the workload's `size`.
    pub size: Option<Bytes>,
    /// First byte of each target that is used. Default: the workload's `start`.
    pub start: Option<Bytes>,
    /// Seed of this worker's streams; with `position = "iometer"` it is used as it is (Iometer's
    /// fixed seed). Default: derived from the workload's `seed`.
    pub seed: Option<Seed>,
    /// What is written. Default: the workload's `content`.
    pub content: Option<ContentChoice>,
    /// Close each target after so many transactions and open it again; 0 opens and closes only.
    /// Default: the workload's `transactions_per_connection`.
    pub transactions_per_connection: Option<u32>,
}
