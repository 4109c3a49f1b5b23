//! The machine and system on which a run was made.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::real::Real;

use crate::zero::is_zero;

/// The machine and system on which a run was made. Values that the system does not report are
/// empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// Host name.
    pub host: String,
    /// Working directory of pgmeter; relative target paths start here.
    pub directory: String,
    /// Release of the kernel, such as `6.12.9`.
    pub kernel: String,
    /// Build of the kernel, as printed by `uname -v`.
    pub kernel_build: String,
    /// Machine type, such as `x86_64`.
    pub architecture: String,
    /// Name and version of the distribution.
    pub distribution: String,
    /// The hypervisor or container, if one was detected.
    pub virtualization: Option<String>,
    /// The CPUs.
    pub cpu: Processor,
    /// Physical memory, in bytes.
    pub memory_bytes: u64,
    /// Memory that was available without swapping before the run, in bytes.
    pub memory_available_bytes: u64,
    /// Size of a memory page, in bytes.
    pub page_bytes: u64,
    /// The storage stacks under the targets, layer by layer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    /// The file systems under the targets.
    pub file_systems: Vec<FileSystem>,
    /// The block devices under the targets, from the top layer down to the physical devices.
    pub devices: Vec<Device>,
    /// The mounts that contain the targets.
    pub mounts: Vec<Mount>,
    /// The I/O schedulers of the devices, as `device: scheduler`, separated by `, `.
    pub scheduler: String,
    /// The clock used for all times.
    pub clock: ClockRecord,
    /// How busy the machine was before the run.
    pub load_before: Load,
    /// Kernel settings that change results, as `name=value`.
    pub settings: Vec<String>,
    /// Soft limit of locked memory, in bytes; none when unlimited.
    pub memlock_limit_bytes: Option<u64>,
    /// Limits of control groups that are tighter than the machine, and limits on the devices under
    /// the targets. Only the tightest limit of each kind is listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

impl Environment {
    /// The memory limit of the process, if there is one.
    #[must_use]
    pub fn memory_limit(&self) -> Option<&Limit> {
        self.limit(LimitedResource::MemoryBytes)
    }

    /// The CPU quota, if there is one.
    #[must_use]
    pub fn processor_limit(&self) -> Option<&Limit> {
        self.limit(LimitedResource::Processors)
    }

    fn limit(&self, resource: LimitedResource) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.resource == resource)
    }

    /// `true` if the device with this kernel name is under one of the targets.
    pub(crate) fn is_under(&self, name: &str, targets: &[u32]) -> bool {
        let layer = format!("/dev/{name}");
        let mut devices = self.devices.iter();
        let mut stacks = self.stacks.iter();
        devices.any(|it| targets.contains(&it.target_index) && it.name == name)
            || stacks.any(|it| {
                targets.contains(&it.target_index)
                    && it.layers.split_whitespace().any(|word| word == layer)
            })
    }
}

/// A limit that a control group sets for the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The limited resource.
    pub resource: LimitedResource,
    /// The limit, in the unit of the resource.
    #[serde(with = "Real")]
    pub value: f64,
    /// Directory of the control group.
    pub group: String,
    /// Kernel name of the device, for the limit of a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// A resource that a control group limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedResource {
    /// Read requests of a device, per second.
    ReadsPerSecond,
    /// Write requests of a device, per second.
    WritesPerSecond,
    /// Bytes read from a device, per second.
    ReadBytesPerSecond,
    /// Bytes written to a device, per second.
    WriteBytesPerSecond,
    /// CPUs in use at the same time, on average.
    Processors,
    /// Memory including cached pages, in bytes.
    MemoryBytes,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        let bytes = || units::format::size(value as u64);
        match self.resource {
            LimitedResource::ReadsPerSecond => write!(formatter, "{value} reads per second"),
            LimitedResource::WritesPerSecond => write!(formatter, "{value} writes per second"),
            LimitedResource::ReadBytesPerSecond => write!(formatter, "{} read per second", bytes()),
            LimitedResource::WriteBytesPerSecond => {
                write!(formatter, "{} written per second", bytes())
            }
            LimitedResource::Processors => write!(formatter, "{value:.2} CPUs"),
            LimitedResource::MemoryBytes => write!(formatter, "{} of memory", bytes()),
        }?;
        match &self.device {
            Some(device) => write!(formatter, " on {device}"),
            None => Ok(()),
        }
    }
}

/// The CPUs of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Processor {
    /// Model name.
    pub model: String,
    /// CPUs that the system schedules on, including hardware threads.
    pub logical_count: u32,
    /// CPUs that pgmeter may use.
    pub usable_count: u32,
    /// Number of cores; 0 if unknown.
    pub core_count: u32,
    /// Number of NUMA nodes.
    pub numa_count: u32,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
}

/// The storage stack under a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Stack {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// The layers from top to bottom, such as `ext4 on /dev/sda1 on /dev/sda`.
    pub layers: String,
    /// `true` if this machine's memory holds all data of the target.
    pub in_memory: bool,
}

/// A file system under a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileSystem {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// Type, such as `ext4`.
    pub kind: String,
    /// Size of a block, in bytes.
    pub block_bytes: u64,
    /// Size, in bytes.
    pub size_bytes: u64,
    /// Space that was free before the run, in bytes.
    pub free_bytes: u64,
    /// Maximum number of files; 0 if there is no limit or it is unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub inodes: u64,
    /// Number of files that can still be created; 0 if there is no limit or it is unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub free_inodes: u64,
    /// Smallest unit of direct I/O, in bytes; none without direct I/O.
    pub direct_bytes: Option<u32>,
}

/// A block device under a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Device {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// The kernel's name, such as `nvme0n1`.
    pub name: String,
    /// Kind of device: `disk`, `partition`, `loop`, `device-mapper`, `raid`, ...
    pub kind: String,
    /// Model name.
    pub model: String,
    /// Size, in bytes.
    pub size_bytes: u64,
    /// Smallest unit that can be addressed, in bytes.
    pub logical_block_bytes: u32,
    /// Smallest unit that is written in one piece, in bytes.
    pub physical_block_bytes: u32,
    /// `true` if the medium rotates; none if unknown.
    pub rotational: Option<bool>,
    /// I/O scheduler.
    pub scheduler: String,
    /// Number of requests that the block layer queues.
    pub queue_requests: Option<u32>,
    /// Size of read-ahead, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Write cache mode: `write back` or `write through`.
    pub write_cache: Option<String>,
}

/// A mount that contains a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mount {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// Mount point.
    pub mount_point: String,
    /// The mounted device or other source.
    pub source: String,
    /// Type of the file system.
    pub kind: String,
    /// Mount options, separated by commas.
    pub options: String,
}

/// The clock used for all times.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Clock")]
pub struct ClockRecord {
    /// The kernel's clock source, such as `tsc`.
    pub source: String,
    /// Smallest step observed, in nanoseconds.
    pub resolution_ns: Option<u64>,
    /// Cost of reading the clock once, in nanoseconds.
    pub read_cost_ns: Option<f64>,
    /// `true` if the clock runs at a constant rate and is synchronized across all CPUs; none if
    /// unknown.
    pub stable: Option<bool>,
}

/// System load before the run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Load {
    /// Mean number of runnable tasks over 1 minute.
    #[serde(with = "Real")]
    pub one_minute: f64,
    /// Mean number of runnable tasks over 5 minutes.
    #[serde(with = "Real")]
    pub five_minutes: f64,
    /// Mean number of runnable tasks over 15 minutes.
    #[serde(with = "Real")]
    pub fifteen_minutes: f64,
}
