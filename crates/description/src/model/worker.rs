//! Workers that differ from each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::{ContentChoice, OneOrMany, Seed};

/// A worker, or several equal ones. Keys that are not written default to the workload's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "WorkerTable")]
pub struct Worker {
    /// Name, for reports. Default: `worker 1`, `worker 2`, ...
    pub name: Option<String>,
    /// The group (Iometer: manager) in which the cycling test types count this worker. Default:
    /// one group for all.
    pub group: Option<String>,
    /// Number of equal workers. Default: 1.
    pub count: Option<u32>,
    /// Requests in flight on each target. Default: the workload's `iodepth`.
    pub iodepth: Option<u32>,
    /// Targets; an empty list leaves the worker idle. Default: the workload's `targets`.
    pub targets: Option<OneOrMany<String>>,
    /// Names of access specifications, in order; an empty list leaves the worker idle. Default: all
    /// specifications of the file, in order.
    pub access_specs: Option<Vec<String>>,
    /// Bytes of each target that are used. Default: the workload's `size`.
    pub size: Option<Bytes>,
    /// First byte of each target that is used. Default: the workload's `start`.
    pub start: Option<Bytes>,
    /// Seed of this worker's random streams; with `position = "iometer"` it is used unchanged
    /// (Iometer's fixed seed). Default: derived from the workload's `seed`.
    pub seed: Option<Seed>,
    /// Data that is written. Default: the workload's `content`.
    pub content: Option<ContentChoice>,
    /// Close each target after this many transactions and open it again; 0 opens and closes only.
    /// Default: the workload's `transactions_per_connection`.
    pub transactions_per_connection: Option<u32>,
}
