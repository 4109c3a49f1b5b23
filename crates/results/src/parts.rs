//! Parts of a cell's record other than its operations.

use std::collections::BTreeMap;

use plan::job::LoggedRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::real::Real;
use crate::zero::is_zero;
use crate::{GoalFigures, IntervalRecord, Latency, Operations};

/// CPU time during the measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuFigures {
    /// CPU time of pgmeter's process in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time of pgmeter's process in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// User and system time divided by the measured time: 1 is one fully used CPU.
    #[serde(with = "Real")]
    pub utilization: f64,
    /// Number of worker threads.
    #[serde(skip_serializing_if = "is_zero")]
    pub threads: u32,
    /// Time that the workers' threads were runnable but waited for a CPU, added up, in nanoseconds;
    /// none if the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// `waited_ns` as a share of the time of all these threads, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Share of the time in which at least one task of the machine waited for a CPU; none if the
    /// kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// Numbers of the CPUs that the workers may run on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usable: Vec<u32>,
    /// CPU usage of the whole machine; none if the system does not report it.
    pub machine: Option<MachineCpu>,
    /// CPU usage of each CPU.
    pub processors: Vec<ProcessorFigures>,
    /// Share of the CPU quota's periods that were throttled; none without a quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<f64>,
}

/// Usage of all CPUs together; shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineCpu {
    /// Neither idle nor waiting for I/O.
    #[serde(with = "Real")]
    pub busy: f64,
    /// In user mode, including low priority.
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
    /// Taken by the hypervisor for other virtual machines.
    #[serde(with = "Real")]
    pub steal: f64,
    /// Interrupts of all CPUs, per second.
    pub interrupts_per_second: Option<f64>,
}

/// Usage of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessorFigures {
    /// The kernel's number of the CPU.
    pub cpu: u32,
    /// Shares of the CPU's time.
    #[serde(flatten)]
    pub shares: MachineCpu,
}

/// I/O of block devices in the measured time, including that of other programs.
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
    /// Bytes that pgmeter's process read from block devices; none if not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_read_bytes: Option<u64>,
    /// Bytes that pgmeter's process wrote to block devices or made dirty in the page cache,
    /// including the ramp; none if not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_write_bytes: Option<u64>,
    /// Share of the time with requests in flight, from 0 to 1; none if not counted.
    pub utilization: Option<f64>,
    /// The devices counted, such as `nvme0n1`; several are separated by `, `.
    pub source: String,
    /// Measured time between the two readings of the counters, in nanoseconds. Older records lack
    /// it; their counters are assumed to cover all of the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered_ns: Option<u64>,
}

/// How the system set up the engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EngineNotes {
    /// Setup of the ring; none for engines without a ring.
    pub ring: Option<RingSetup>,
    /// Other remarks, one sentence each.
    pub notes: Vec<String>,
}

/// How an io_uring ring was set up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RingSetup {
    /// Setup flags in force, such as `SINGLE_ISSUER`.
    pub flags: Vec<String>,
    /// Setup flags requested that the kernel does not know.
    pub missing: Vec<String>,
    /// `true` if the ring's own file descriptor is registered.
    pub registered_ring: bool,
    /// `true` if the files are registered.
    pub registered_files: bool,
    /// `true` if the buffers are registered.
    pub registered_buffers: bool,
}

/// Results of one worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerFigures {
    /// Number of the worker in the cell, 0-based.
    pub worker_index: u32,
    /// Name of the worker.
    pub name: String,
    /// Name of the access specification.
    pub access_spec: String,
    /// Measured time of this worker, in nanoseconds.
    pub run_time_ns: u64,
    /// When the worker was done, in nanoseconds from the start of the measurement.
    pub done_ns: Option<u64>,
    /// CPU time of the worker's threads in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time of the worker's threads in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// User and system time as a share of the worker's measured time.
    #[serde(with = "Real")]
    pub utilization: f64,
    /// Number of its threads; 0 in older records.
    #[serde(skip_serializing_if = "is_zero")]
    pub threads: u32,
    /// Time that its threads were runnable but waited for a CPU, added up, in nanoseconds; none if
    /// the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// `waited_ns` as a share of the time of all its threads, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Successful transactions.
    pub transactions: u64,
    /// Time from a transaction's first request queued to its last one reaped; none if transactions
    /// are single operations.
    pub transaction_latency: Option<Latency>,
    /// Number of connections opened and closed.
    pub connections: u64,
    /// Time from opening queued to closing reaped; none if there were no connections.
    pub connection_latency: Option<Latency>,
    /// Results per operation.
    pub operations: Operations,
    /// Results of the worker per target.
    pub targets: Vec<TargetFigures>,
    /// Start of its measurement, in nanoseconds from the start of the cell's. None in older
    /// records, and if all workers start together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<u64>,
    /// Kernel counters of its thread, including the ramp; none if not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ThreadUsage>,
    /// Latencies per operation, split at the submission of each request; empty unless the output
    /// of another program reports them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub split_latencies: BTreeMap<String, SplitLatency>,
    /// The requests in order of completion, if the work logs them. Not part of a stored record.
    #[serde(skip)]
    pub noted: Vec<LoggedRequest>,
    /// Its intervals; empty if only intervals of the whole cell were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalRecord>,
    /// Outcome of the goals of a job; none if it has no goals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goals: Option<GoalFigures>,
    /// Failed verification of a job's reads; none if all reads were correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<MismatchFigures>,
}

/// The two parts of the latencies of an operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SplitLatency {
    /// From the decision to make a request until the call that submits it has returned.
    pub submission: Latency,
    /// From the submission until the completion was reaped.
    pub completion: Latency,
}

/// Reads that did not return the written bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MismatchFigures {
    /// Number of wrong reads.
    pub count: u64,
    /// Index of the first one's file among the job's files, 0-based.
    pub file_index: u32,
    /// Offset of the first wrong block in that file, in bytes.
    pub offset_bytes: u64,
    /// Length of the read, in bytes.
    pub length_bytes: u32,
    /// Expected content, as text.
    pub wanted: String,
    /// Content that the read returned, as text.
    pub seen: String,
}

/// Kernel counters of a thread.
///
/// Source: getrusage(2), `RUSAGE_THREAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThreadUsage {
    /// Number of times it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times the kernel took the CPU away.
    pub involuntary_switches: u64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
}

impl ThreadUsage {
    /// The sum of two threads.
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

/// Results of one target, of one worker or of all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TargetFigures {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// The target's path.
    pub target: String,
    /// Queue depth on this target; 0 if workers differ.
    pub iodepth: u32,
    /// Offset of the first byte used; none if workers differ.
    pub start_bytes: Option<u64>,
    /// Number of bytes used; none if workers differ.
    pub size_bytes: Option<u64>,
    /// Successful transactions.
    pub transactions: u64,
    /// Number of connections opened and closed.
    pub connections: u64,
    /// Time from opening queued to closing reaped; none if there were no connections.
    pub connection_latency: Option<Latency>,
    /// Results per operation.
    pub operations: Operations,
}
