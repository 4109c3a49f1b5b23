//! What was measured in one cell.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::{CacheMode, CurvePart, EngineKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errno_count::ErrnoCount;
use crate::open_loop::OpenLoopFigures;
use crate::parts::{CpuFigures, DeviceFigures, EngineNotes, TargetFigures, WorkerFigures};
use crate::{
    CellCrew, IntervalRecord, OperationFigures, Operations, Phase, PhaseFigures, Standstill,
    Status, SteadyRecord, TransactionFigures, WithinRun,
};

/// Device counters that cover less of the measured time are not compared with the cell's figures.
const DEVICE_COVERAGE_MIN: f64 = 0.9;

/// What was measured in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellRecord {
    /// 0-based, as in the plan.
    pub index: u32,
    /// `index` of the cell that this one repeats, as in the plan: see [`CellKey`](crate::CellKey).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, when all workers used the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_spec: Option<String>,
    /// The target's path; several are separated by `, `.
    pub target: String,
    /// Which engine issued the I/O.
    pub engine: EngineKind,
    /// How the page cache was used.
    pub cache: CacheMode,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// How many workers took part.
    pub workers: u32,
    /// How many processes took part; 1 where one measured alone.
    pub ranks: u32,
    /// 0-based.
    pub repetition: u32,
    /// What the cell belongs to.
    pub phase: Phase,
    /// Whether the cell was measured to its end.
    pub status: Status,
    /// When measuring began.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// Measured time in nanoseconds: from the end of the ramp to the last completion counted.
    pub run_time_ns: u64,
    /// Time that the plan asked for, in nanoseconds; 0 when the cell ends by operations.
    #[serde(default)]
    pub planned_run_time_ns: u64,
    /// Time before measuring, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Figures of each operation.
    pub operations: Operations,
    /// Figures of each kind of transaction.
    #[serde(default)]
    pub transactions: BTreeMap<String, TransactionFigures>,
    /// The operations that move bytes (`read` and `write`) together, or all operations where none
    /// moves any; in a classic program's phase its transactions, with the bytes that they moved.
    /// Its errors are those of all operations.
    pub total: OperationFigures,
    /// Response times and lateness, where requests began when they were due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoopFigures>,
    /// Failed operations by what the kernel said.
    #[serde(default)]
    pub errors: Vec<ErrnoCount>,
    /// When the measurement stood still.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standstills: Vec<Standstill>,
    /// When the first worker was done, in nanoseconds from the start of the measurement.
    #[serde(default)]
    pub first_done_ns: Option<u64>,
    /// When the last worker was done, in nanoseconds from the start of the measurement.
    #[serde(default)]
    pub last_done_ns: Option<u64>,
    /// Processor time.
    #[serde(default)]
    pub cpu: CpuFigures,
    /// What the block devices under the targets did; none where there is no such device.
    #[serde(default)]
    pub device: Option<DeviceFigures>,
    /// Processor time that pgmeter's own loop takes for one operation, in nanoseconds, measured
    /// with the `null` engine at the cell's depth.
    #[serde(default)]
    pub own_cost_ns_per_operation: Option<f64>,
    /// Processor time that the workers spent in user mode for one operation of this cell, in
    /// nanoseconds: the own loop, the cell's engine and the way into the kernel. None where the
    /// kernel's count is not fine enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_cost_ns_per_operation: Option<f64>,
    /// What the engine was given by the system.
    #[serde(default)]
    pub engine_notes: EngineNotes,
    /// Figures over time.
    #[serde(default)]
    pub intervals: Vec<IntervalRecord>,
    /// What the intervals say about the rate; none where they are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<WithinRun>,
    /// Which part of a response-time curve it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// The rounds, where it was measured until it was steady; all other figures are those of the
    /// window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRecord>,
    /// Figures of each worker.
    #[serde(default)]
    pub worker_figures: Vec<WorkerFigures>,
    /// Figures of each target, all workers together.
    #[serde(default)]
    pub target_figures: Vec<TargetFigures>,
    /// A program's own figures, in the phases that the cell is measured for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_figures: Option<PhaseFigures>,
    /// What each of several processes did, and how well they agreed on the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crew: Option<Box<CellCrew>>,
}

impl CellRecord {
    /// What people call the workload: the access specification where it has another name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.access_spec.as_deref().unwrap_or(&self.workload)
    }

    /// Figures of the named operation, when there were any.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&OperationFigures> {
        self.operations.get(name)
    }

    /// PostMark's transactions per second, each a pair of operations; none in other cells. The
    /// `total` counts the operations of the pairs one by one.
    #[must_use]
    pub fn transactions_per_second(&self) -> Option<f64> {
        let pool = self.phase_figures.as_ref()?.pool.as_ref()?;
        let is_measured = pool.transactions_count > 0 && pool.transactions_ns > 0;
        is_measured.then(|| pool.transactions_per_second())
    }

    /// Share of the measured time that the device counters cover, from 0 to 1; none where nothing
    /// is known of devices, or so little of the time is covered that their figures do not belong
    /// to the cell's: a monitor that got no processor reads the counters too late.
    #[must_use]
    pub fn device_coverage(&self) -> Option<f64> {
        let device = self.device.as_ref()?;
        let share = match device.covered_ns {
            Some(covered_ns) if self.run_time_ns > 0 => {
                (covered_ns as f64 / self.run_time_ns as f64).min(1.0)
            }
            _ => 1.0,
        };
        (share >= DEVICE_COVERAGE_MIN).then_some(share)
    }

    /// Bytes that the devices read or wrote for each byte that the operation of that name (`read`
    /// or `write`) moved; none where nothing was moved, nothing is known of devices, or their
    /// counters do not cover the measured time.
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
