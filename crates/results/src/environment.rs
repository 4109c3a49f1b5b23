//! The machine and system on which a run was made.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::real::Real;

use crate::zero::is_zero;

/// The machine and system on which a run was made; what the system does not tell is empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// The machine's name in its network.
    pub host: String,
    /// Where pgmeter was started; targets that are no full paths begin there.
    pub directory: String,
    /// Release of the kernel, such as `6.12.9`.
    pub kernel: String,
    /// The kernel's build, as `uname -v` prints it.
    pub kernel_build: String,
    /// Machine type, such as `x86_64`.
    pub architecture: String,
    /// Name and version of the distribution.
    pub distribution: String,
    /// The hypervisor or container, where one is seen.
    pub virtualization: Option<String>,
    /// The processors.
    pub cpu: Processor,
    /// Physical memory, in bytes.
    pub memory_bytes: u64,
    /// Memory that could be had without swapping before the run, in bytes.
    pub memory_available_bytes: u64,
    /// Size of a page, in bytes.
    pub page_bytes: u64,
    /// What lies under the targets, layer by layer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    /// The file systems under the targets.
    pub file_systems: Vec<FileSystem>,
    /// The block devices under the targets, from the uppermost to the physical ones.
    pub devices: Vec<Device>,
    /// The mounts on which the targets lie.
    pub mounts: Vec<Mount>,
    /// The I/O schedulers of the devices, as `device: scheduler`, separated by `, `.
    pub scheduler: String,
    /// The clock behind all times.
    pub clock: Clock,
    /// How busy the machine was before the run.
    pub load_before: Load,
    /// Kernel settings that change results, as `name=value`.
    pub settings: Vec<String>,
    /// Soft limit of locked memory, in bytes; none when unlimited.
    pub memlock_limit_bytes: Option<u64>,
    /// What control groups allow the process, where that is less than the machine has, and of the
    /// devices under the targets: of each the tightest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

impl Environment {
    /// The limit of the memory that the process may use, where there is one.
    #[must_use]
    pub fn memory_limit(&self) -> Option<&Limit> {
        self.limit(LimitedResource::MemoryBytes)
    }

    /// The quota of processor time, where there is one.
    #[must_use]
    pub fn processor_limit(&self) -> Option<&Limit> {
        self.limit(LimitedResource::Processors)
    }

    fn limit(&self, resource: LimitedResource) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.resource == resource)
    }

    /// Whether a device, by the kernel's name, lies under one of these targets.
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

/// What a control group allows the process at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// What is limited.
    pub resource: LimitedResource,
    /// How much of it there may be, in the resource's unit.
    #[serde(with = "Real")]
    pub value: f64,
    /// The control group's directory.
    pub group: String,
    /// The kernel's name of the device, where the limit is one of a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// What a control group limits.
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
    /// Processors that are busy at the same time, on average.
    Processors,
    /// Memory with what is cached, in bytes.
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
            LimitedResource::Processors => write!(formatter, "{value:.2} processors"),
            LimitedResource::MemoryBytes => write!(formatter, "{} of memory", bytes()),
        }?;
        match &self.device {
            Some(device) => write!(formatter, " on {device}"),
            None => Ok(()),
        }
    }
}

/// The processors of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Processor {
    /// Model name.
    pub model: String,
    /// Processors the system schedules on, hardware threads counted.
    pub logical_count: u32,
    /// Processors that pgmeter may use.
    pub usable_count: u32,
    /// Cores; 0 when not known.
    pub core_count: u32,
    /// NUMA nodes.
    pub numa_count: u32,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
}

/// What lies under a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Stack {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// From the uppermost layer to what keeps the bytes, such as `ext4 on /dev/sda1 on /dev/sda`.
    pub layers: String,
    /// Whether all bytes are kept in this machine's memory.
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
    /// How many files it has room for; 0 where it sets no limit or does not tell.
    #[serde(skip_serializing_if = "is_zero")]
    pub inodes: u64,
    /// How many more there can be.
    #[serde(skip_serializing_if = "is_zero")]
    pub free_inodes: u64,
    /// Smallest unit of direct I/O, in bytes; none where there is no direct I/O.
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
    /// What it is: `disk`, `partition`, `loop`, `device-mapper`, `raid`, ...
    pub kind: String,
    /// Model name.
    pub model: String,
    /// Size, in bytes.
    pub size_bytes: u64,
    /// Smallest unit that can be addressed, in bytes.
    pub logical_block_bytes: u32,
    /// Smallest unit that is written at once, in bytes.
    pub physical_block_bytes: u32,
    /// Whether the medium rotates.
    pub rotational: Option<bool>,
    /// I/O scheduler.
    pub scheduler: String,
    /// Requests the block layer queues.
    pub queue_requests: Option<u32>,
    /// Bytes read ahead.
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
}

/// A mount on which a target lies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mount {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted.
    pub source: String,
    /// Type of the file system.
    pub kind: String,
    /// Mount options, separated by commas.
    pub options: String,
}

/// The clock behind all times.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Clock {
    /// The kernel's clock source, such as `tsc`.
    pub source: String,
    /// Smallest step seen, in nanoseconds.
    pub resolution_ns: Option<u64>,
    /// Cost of reading the clock once, in nanoseconds.
    pub read_cost_ns: Option<f64>,
    /// Whether the clock runs evenly and alike on all processors.
    pub stable: Option<bool>,
}

/// How busy the machine was.
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
