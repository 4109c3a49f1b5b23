//! The parts of a cell's record besides its operations.

use plan::job::NotedRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::real::Real;
use crate::zero::is_zero;
use crate::{GoalFigures, IntervalRecord, Latency, Operations};

/// Processor time in the measured time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuFigures {
    /// Time of pgmeter's process in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time of pgmeter's process in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// User and system time as a share of the measured time: 1 means one processor fully used.
    #[serde(with = "Real")]
    pub utilization: f64,
    /// The workers' threads.
    #[serde(skip_serializing_if = "is_zero")]
    pub threads: u32,
    /// Time that the workers' threads could run and waited for a processor, added up, in
    /// nanoseconds; none where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// `waited_ns` as a share of the time of all these threads, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Share of the time in which any task of the machine waited for a processor; none where the
    /// kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// Numbers of the processors that the workers may run on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usable: Vec<u32>,
    /// The whole machine; none where the system does not say.
    pub machine: Option<MachineCpu>,
    /// Each processor of the machine.
    pub processors: Vec<ProcessorFigures>,
    /// The share of the periods of a control group's quota in which that was used up; none where
    /// no quota holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<f64>,
}

/// How the time of all processors together was spent; shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineCpu {
    /// Neither idle nor waiting for I/O.
    #[serde(with = "Real")]
    pub busy: f64,
    /// In user mode, low priority included.
    #[serde(with = "Real")]
    pub user: f64,
    /// In the kernel.
    #[serde(with = "Real")]
    pub system: f64,
    /// Idle with I/O in flight.
    #[serde(with = "Real")]
    pub iowait: f64,
    /// In hardware interrupts.
    #[serde(with = "Real")]
    pub irq: f64,
    /// In software interrupts.
    #[serde(with = "Real")]
    pub softirq: f64,
    /// Taken by the hypervisor for others.
    #[serde(with = "Real")]
    pub steal: f64,
    /// Interrupts of all processors, per second.
    pub interrupts_per_second: Option<f64>,
}

/// How one processor's time was spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessorFigures {
    /// The kernel's number of the processor.
    pub cpu: u32,
    /// Shares of the processor's time.
    #[serde(flatten)]
    pub shares: MachineCpu,
}

/// What block devices did in the measured time, others' I/O included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceFigures {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Read requests completed.
    pub reads: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes that pgmeter's process read from block devices; none where that is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_read_bytes: Option<u64>,
    /// Bytes that pgmeter's process wrote to block devices, or changed in the page cache so that
    /// they are to be written, the ramp included; none where that is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_write_bytes: Option<u64>,
    /// Share of the time with requests in flight, from 0 to 1; none where it is not counted.
    pub utilization: Option<f64>,
    /// The devices counted, such as `nvme0n1`; several are separated by `, `.
    pub source: String,
    /// Measured time between the two readings of the counters, in nanoseconds. Older records lack
    /// it; their counters are taken to cover all of the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered_ns: Option<u64>,
}

/// What the engine was given by the system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EngineNotes {
    /// How the ring was set up; none for engines without.
    pub ring: Option<RingSetup>,
    /// Anything else worth knowing, one sentence each.
    pub notes: Vec<String>,
}

/// How an io_uring ring was set up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RingSetup {
    /// Setup flags in force, such as `SINGLE_ISSUER`.
    pub flags: Vec<String>,
    /// Setup flags asked for that the kernel does not know.
    pub missing: Vec<String>,
    /// Whether the ring's own descriptor is registered.
    pub registered_ring: bool,
    /// Whether the files are registered.
    pub registered_files: bool,
    /// Whether the buffers are registered.
    pub registered_buffers: bool,
}

/// Figures of one worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerFigures {
    /// 0-based over the whole cell.
    pub worker_index: u32,
    /// The worker's name.
    pub name: String,
    /// The access specification's name.
    pub access_spec: String,
    /// Measured time of this worker, in nanoseconds.
    pub run_time_ns: u64,
    /// When the worker was done, in nanoseconds from the start of the measurement.
    pub done_ns: Option<u64>,
    /// Time of the worker's thread in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time of the worker's thread in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// User and system time as a share of the worker's measured time.
    #[serde(with = "Real")]
    pub utilization: f64,
    /// Its threads; 0 in records from before they were told.
    #[serde(skip_serializing_if = "is_zero")]
    pub threads: u32,
    /// Time that its threads could run and waited for a processor, added up, in nanoseconds; none
    /// where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// `waited_ns` as a share of the time of all its threads, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Transactions that succeeded.
    pub transactions: u64,
    /// From a transaction's first request queued to its last one reaped; none when transactions
    /// are single operations.
    pub transaction_latency: Option<Latency>,
    /// Connections that were opened and closed again.
    pub connections: u64,
    /// From opening queued to closing reaped; none when there were no connections.
    pub connection_latency: Option<Latency>,
    /// Figures of each operation.
    pub operations: Operations,
    /// The worker's figures on each of its targets.
    pub targets: Vec<TargetFigures>,
    /// When its measurement began, in nanoseconds from the start of the cell's; none in records
    /// from before it was told, and where all workers begin together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<u64>,
    /// What the kernel counted of its thread, the ramp included; none where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ThreadUsage>,
    /// The requests of a job in the order in which they completed, where they were to be noted;
    /// results that are read again have none.
    #[serde(skip)]
    pub noted: Vec<NotedRequest>,
    /// Its own intervals; empty where only those of the whole cell were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalRecord>,
    /// What became of the goals of a job that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goals: Option<GoalFigures>,
    /// Reads of a job that did not verify; none where all did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<MismatchFigures>,
}

/// Reads that did not return the bytes that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MismatchFigures {
    /// Number of such reads.
    pub count: u64,
    /// File of the first one, by its number among the job's files from 0 on.
    pub file_index: u32,
    /// Place in that file of the first wrong block, in bytes.
    pub offset_bytes: u64,
    /// Length of the read, in bytes.
    pub length_bytes: u32,
    /// The expected bytes, in words.
    pub wanted: String,
    /// The bytes that the read returned, in words.
    pub seen: String,
}

/// What the kernel counts of a thread.
///
/// Source: getrusage(2), `RUSAGE_THREAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadUsage {
    /// Times that it gave up the processor to wait.
    pub voluntary_switches: u64,
    /// Times that the processor was taken from it.
    pub involuntary_switches: u64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
}

impl ThreadUsage {
    /// Its own and that of another thread.
    #[must_use]
    pub const fn with(self, other: &Self) -> Self {
        Self {
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
        }
    }
}

/// Figures of one target, of one worker or of all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TargetFigures {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// The target's path.
    pub target: String,
    /// Requests kept in flight on this target; 0 where workers differ.
    pub iodepth: u32,
    /// First byte used; none where workers differ.
    pub start_bytes: Option<u64>,
    /// Bytes used; none where workers differ.
    pub size_bytes: Option<u64>,
    /// Transactions that succeeded.
    pub transactions: u64,
    /// Connections that were opened and closed again.
    pub connections: u64,
    /// From opening queued to closing reaped; none when there were no connections.
    pub connection_latency: Option<Latency>,
    /// Figures of each operation.
    pub operations: Operations,
}
