//! What was measured in one cell.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use workload::plan::{CacheMode, CurvePart, EngineKind};

use crate::latency::Latency;
use crate::open_loop::OpenLoopFigures;
use crate::parts::{
    CpuFigures, DeviceFigures, EngineNotes, ErrnoCount, TargetFigures, WorkerFigures,
};
use crate::{Standstill, Status, SteadyRecord, WithinRun, real};

/// Figures by the name of the operation (`read`, `write`, `fsync`, ...).
pub type Operations = BTreeMap<String, OperationFigures>;

/// What was measured in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// How many processes took part; 1 without MPI.
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
    /// A classic program's own figures, by its own names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic: Option<BTreeMap<String, serde_json::Value>>,
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

    /// Bytes that the devices read or wrote for each byte that the operation of that name (`read`
    /// or `write`) moved; none where nothing was moved or nothing is known of devices.
    #[must_use]
    pub fn device_share(&self, name: &str) -> Option<f64> {
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

/// Stands before a classic's phase whose name would be taken for something else.
const CLASSIC: &str = "classic:";

/// What a cell belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Phase {
    /// Making files and writing their content.
    Prepare,
    /// Running without being measured.
    Ramp,
    /// Being measured.
    #[default]
    Measure,
    /// Waiting for what was due in the measurement and is not done.
    Drain,
    /// Removing what was made.
    Cleanup,
    /// A classic program's own phase.
    Classic(String),
}

impl Phase {
    fn is_measure(&self) -> bool {
        *self == Self::Measure
    }

    /// The name in displays; a classic's own phase may have that of another kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Prepare => "prepare",
            Self::Ramp => "ramp",
            Self::Measure => "measure",
            Self::Drain => "drain",
            Self::Cleanup => "cleanup",
            Self::Classic(name) => name,
        }
    }

    /// The text in records, which no two phases share.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Classic(name) if Self::of_kind(name).is_some() || name.starts_with(CLASSIC) => {
                Cow::Owned(format!("{CLASSIC}{name}"))
            }
            other => Cow::Borrowed(other.name()),
        }
    }

    /// The phase that is no classic's, by its name.
    fn of_kind(name: &str) -> Option<Self> {
        let kinds = [
            Self::Prepare,
            Self::Ramp,
            Self::Measure,
            Self::Drain,
            Self::Cleanup,
        ];
        kinds.into_iter().find(|kind| kind.name() == name)
    }
}

impl From<String> for Phase {
    fn from(text: String) -> Self {
        match Self::of_kind(&text) {
            Some(kind) => kind,
            None => Self::Classic(match text.strip_prefix(CLASSIC) {
                Some(name) => name.to_owned(),
                None => text,
            }),
        }
    }
}

impl From<Phase> for String {
    fn from(phase: Phase) -> Self {
        phase.text().into_owned()
    }
}

/// What was measured of one operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationFigures {
    /// Operations that succeeded, short transfers included.
    pub count: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that moved fewer bytes than asked for.
    pub short_count: u64,
    /// `count` for each second of measured time.
    #[serde(with = "real")]
    pub per_second: f64,
    /// `bytes` for each second of measured time.
    #[serde(with = "real")]
    pub bytes_per_second: f64,
    /// From queued to reaped.
    pub latency: Latency,
}

/// What was measured of one kind of transaction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionFigures {
    /// Transactions that succeeded.
    pub count: u64,
    /// Transactions in which an operation failed.
    pub errors: u64,
    /// `count` for each second of measured time.
    #[serde(with = "real")]
    pub per_second: f64,
    /// From the first request queued to the last one reaped.
    pub latency: Latency,
}

/// Figures of a stretch of measured time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IntervalRecord {
    /// Where the interval starts, in nanoseconds from the start of the measurement.
    pub at_ns: u64,
    /// How long it is, in nanoseconds.
    pub length_ns: u64,
    /// Time that the workers' threads could run and waited for a processor, added up, in
    /// nanoseconds; none where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Time in which any task of the machine waited for a processor, in nanoseconds; none where
    /// it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure_ns: Option<u64>,
    /// Figures of each operation.
    pub operations: BTreeMap<String, IntervalFigures>,
}

/// Figures of one operation in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IntervalFigures {
    /// Operations that succeeded.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Median latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Largest latency, in nanoseconds.
    pub max_ns: Option<u64>,
}

/// A figure over several repetitions, with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateRecord {
    /// `index` of the cell that was repeated, in its first repetition: see
    /// [`CellKey`](crate::CellKey).
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
    /// Requests due each second, where they began when they were due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// What the cells belong to.
    #[serde(default, skip_serializing_if = "Phase::is_measure")]
    pub phase: Phase,
    /// Which part of a response-time curve they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// The operation, or `total`.
    pub operation: String,
    /// What was estimated: `per_second`, `bytes_per_second`, `latency_mean`, `latency_p50`,
    /// `latency_p99`, `latency_p99_9`.
    pub metric: String,
    /// The metric's unit: `1/s`, `B/s`, `ns`.
    pub unit: String,
    /// How many repetitions were measured.
    pub n: u32,
    /// Mean over the repetitions; of percentiles with a bootstrap interval, the percentile of all
    /// repetitions' latencies together.
    #[serde(with = "real")]
    pub mean: f64,
    /// Lower end of the 95 % confidence interval of the mean; none with one repetition.
    pub ci95_low: Option<f64>,
    /// Upper end of the 95 % confidence interval of the mean; none with one repetition.
    pub ci95_high: Option<f64>,
    /// Standard deviation over the repetitions; none with one repetition.
    pub stddev: Option<f64>,
    /// How the interval was found; none without interval, and in records before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalKind>,
    /// The smallest difference between two such means that a test would find in 80 of 100 cases,
    /// in the unit of the mean; none of percentiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_difference: Option<f64>,
    /// Why there were no more repetitions, where they went on until a precision was reached; with
    /// the figures that are to have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<PrecisionVerdict>,
}

/// How a confidence interval was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// From Student's t.
    T,
    /// From resampled repetitions.
    Bootstrap,
}

/// Why a cell was not repeated once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrecisionVerdict {
    /// The figure is as precise as asked for.
    PrecisionReached,
    /// Another repetition would not have fit into the budget.
    BudgetSpent,
    /// It was repeated as often as it may be.
    RepetitionsSpent,
    /// The run was ended from outside, or failed.
    Interrupted,
}

impl PrecisionVerdict {
    /// The verdict in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrecisionReached => "precision reached",
            Self::BudgetSpent => "budget spent",
            Self::RepetitionsSpent => "repetitions spent",
            Self::Interrupted => "interrupted",
        }
    }
}
