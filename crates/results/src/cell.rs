//! The results of one cell.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::{CacheMode, CurvePart, EngineKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errno_count::ErrnoCount;
use crate::open_loop::OpenLoopFigures;
use crate::parts::{CpuFigures, DeviceFigures, EngineNotes, TargetFigures, WorkerFigures};
use crate::{
    CellCluster, IntervalRecord, OperationFigures, Operations, Phase, PhaseFigures, Standstill,
    Status, SteadyRecord, TransactionFigures, WithinRun,
};

/// Device counters that cover a smaller share of the measured time are not compared with the cell's
/// results.
const DEVICE_COVERAGE_MIN: f64 = 0.9;

/// The results of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellRecord {
    /// Number of the cell in the plan, 0-based.
    pub index: u32,
    /// `index` of the first repetition of this cell, as in the plan: see
    /// [`CellKey`](crate::CellKey).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, if all workers used the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_spec: Option<String>,
    /// The target's path; several are separated by `, `.
    pub target: String,
    /// Engine that issued the I/O.
    pub engine: EngineKind,
    /// Use of the page cache.
    pub cache: CacheMode,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// Number of workers.
    pub workers: u32,
    /// Number of processes that measured the cell; 1 for a run without other processes.
    pub ranks: u32,
    /// Number of the repetition, 0-based.
    pub repetition: u32,
    /// The phase that was measured.
    pub phase: Phase,
    /// How the cell ended.
    pub status: Status,
    /// Start of the measurement.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// Measured time in nanoseconds: from the end of the ramp to the last completion counted.
    pub run_time_ns: u64,
    /// Planned run time in nanoseconds; 0 if the cell ends after a number of operations.
    #[serde(default)]
    pub planned_run_time_ns: u64,
    /// Ramp time before the measurement, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Results per operation.
    pub operations: Operations,
    /// Results per kind of transaction.
    #[serde(default)]
    pub transactions: BTreeMap<String, TransactionFigures>,
    /// Headline results: the operations that move bytes (`read` and `write`) together, or all
    /// operations if none moves bytes. In a phase of a classic program, its transactions and the
    /// bytes that they moved. `errors` counts the failures of all operations.
    pub total: OperationFigures,
    /// Response times and lateness of an open loop; none for a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoopFigures>,
    /// Failed operations by error number.
    #[serde(default)]
    pub errors: Vec<ErrnoCount>,
    /// Times in which the measurement stood still.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standstills: Vec<Standstill>,
    /// When the first worker was done, in nanoseconds from the start of the measurement.
    #[serde(default)]
    pub first_done_ns: Option<u64>,
    /// When the last worker was done, in nanoseconds from the start of the measurement.
    #[serde(default)]
    pub last_done_ns: Option<u64>,
    /// CPU time.
    #[serde(default)]
    pub cpu: CpuFigures,
    /// I/O of the block devices under the targets; none if there is no such device.
    #[serde(default)]
    pub device: Option<DeviceFigures>,
    /// CPU time per operation of pgmeter's own loop, in nanoseconds, measured with the `null`
    /// engine at the cell's queue depth.
    #[serde(default)]
    pub own_cost_ns_per_operation: Option<f64>,
    /// CPU time per operation that the workers spent in user mode, in nanoseconds. It covers
    /// pgmeter's loop, the cell's engine and the entry into the kernel. None if the kernel's CPU
    /// accounting is too coarse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_cost_ns_per_operation: Option<f64>,
    /// How the system set up the engine.
    #[serde(default)]
    pub engine_notes: EngineNotes,
    /// Results over time.
    #[serde(default)]
    pub intervals: Vec<IntervalRecord>,
    /// Statistics of the rate over the intervals; none if there are too few intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<WithinRun>,
    /// Part of a response-time curve that the cell measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// The rounds of a cell that was measured until it was steady. All other results are from
    /// the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRecord>,
    /// Results per worker.
    #[serde(default)]
    pub worker_figures: Vec<WorkerFigures>,
    /// Results per target, all workers together.
    #[serde(default)]
    pub target_figures: Vec<TargetFigures>,
    /// The program's own results, in the phases that the cell is measured for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_figures: Option<PhaseFigures>,
    /// Results per process and the accuracy of their common time, if several processes took part.
    #[serde(rename = "crew", default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Box<CellCluster>>,
}

impl CellRecord {
    /// Display name of the workload: the name of the access specification if it has one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.access_spec.as_deref().unwrap_or(&self.workload)
    }

    /// Results of the named operation; `None` if it was not used.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&OperationFigures> {
        self.operations.get(name)
    }

    /// PostMark's transactions per second; `None` in other cells. Each transaction is a pair of
    /// operations, which `total` counts one by one.
    #[must_use]
    pub fn transactions_per_second(&self) -> Option<f64> {
        let pool = self.phase_figures.as_ref()?.pool.as_ref()?;
        let is_measured = pool.transactions_count > 0 && pool.transactions_ns > 0;
        is_measured.then(|| pool.transactions_per_second())
    }

    /// Share of the cell's requests that the device counters cover at least, from 0 to 1. `None`
    /// without device counters, or if they may cover less than 90 %. A monitor that did not get a
    /// CPU reads the counters too late, and they then do not match the cell's results.
    ///
    /// Threads that wait for a CPU make their requests in bursts, so they may make more of them in
    /// the time that is not covered than its share of the measured time.
    #[must_use]
    pub fn device_coverage(&self) -> Option<f64> {
        let device = self.device.as_ref()?;
        let share = match device.covered_ns {
            // Readings just outside of the measured time can cover more than all of it.
            Some(covered_ns) if self.run_time_ns > 0 => {
                let uncovered = 1.0 - covered_ns as f64 / self.run_time_ns as f64;
                let running = (1.0 - self.cpu.waiting.unwrap_or(0.0)).max(f64::EPSILON);
                (1.0 - uncovered / running).clamp(0.0, 1.0)
            }
            _ => 1.0,
        };
        (share >= DEVICE_COVERAGE_MIN).then_some(share)
    }

    /// Bytes that the devices read or wrote per byte that the operation `name` (`read` or `write`)
    /// moved. `None` if the operation moved nothing, there are no device counters, or they do not
    /// cover the measured time.
    #[must_use]
    pub fn device_share(&self, name: &str) -> Option<f64> {
        self.device_coverage()?;
        let device = self.device.as_ref()?;
        let moved = self.operation(name)?.bytes;
        let bytes = match name {
            "read" => device.read_bytes,
            "write" => device.write_bytes,
            _ => return None,
        };
        (moved > 0).then(|| bytes as f64 / moved as f64)
    }
}
