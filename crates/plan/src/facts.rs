//! Facts about the machine that planning needs. The `storage` crate collects them; this module does
//! not access the system.

use serde::{Deserialize, Serialize};

use crate::TargetKind;

/// This fraction of a file system (1/20) stays free: a nearly full file system would distort
/// results.
const KEPT_FREE_DIVISOR: u64 = 20;

/// Upper limit of the free space: 5 % of a large disk would refuse small files without need.
const KEPT_FREE_MAX_BYTES: u64 = 1 << 30;

/// Bytes that must stay free on a file system of this size: 5 %, at most 1 GiB.
#[must_use]
pub fn min_free_bytes(total_bytes: u64) -> u64 {
    (total_bytes / KEPT_FREE_DIVISOR).min(KEPT_FREE_MAX_BYTES)
}

/// Facts about the machine and the targets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SystemFacts {
    /// Targets that were examined. A target that is missing here is planned with placeholder facts
    /// and a warning.
    pub targets: Vec<TargetFacts>,
    /// The target to use if neither the workload nor an option names one.
    pub default_target: Option<TargetFacts>,
    /// Number of CPUs; 0 if unknown.
    pub cpu_count: u32,
    /// Main memory in bytes; 0 if unknown. With several hosts, the smallest value.
    pub memory_bytes: u64,
    /// Machines of a run that several processes share; empty if this process does everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFacts>,
}

/// A machine that takes part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name, as the machine reports it.
    pub name: String,
    /// 0-based ranks of the processes on it.
    pub ranks: Vec<u32>,
    /// Main memory in bytes; 0 if unknown.
    pub memory_bytes: u64,
}

/// Facts about one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Path as in the workload or the option.
    pub path: String,
    /// `true` if the path exists.
    pub exists: bool,
    /// Kind of the target, or of the target that will be created.
    pub kind: TargetKind,
    /// Bytes of an existing file or device; 0 otherwise.
    pub size_bytes: u64,
    /// Type of the file system; `block device` for devices.
    pub file_system: String,
    /// Bytes that can still be written to the file system; 0 for devices.
    pub free_bytes: u64,
    /// Size of the whole file system in bytes; 0 if unknown, which disables the check of free
    /// space.
    pub total_bytes: u64,
    /// Bytes of existing test files that this run may reuse, counted as free.
    pub reusable_bytes: u64,
    /// Required alignment of offsets and lengths with direct I/O, in bytes; 0 if unknown.
    pub direct_alignment_bytes: u32,
    /// Smallest block of the underlying device in bytes; 0 if unknown.
    pub block_bytes: u32,
    /// Device number of the file system (`st_dev`); targets with the same number share its space.
    pub device_id: Option<u64>,
}

impl TargetFacts {
    /// Alignment of offsets and lengths for direct I/O in bytes; 512 if unknown.
    #[must_use]
    pub const fn direct_unit(&self) -> u32 {
        match (self.direct_alignment_bytes, self.block_bytes) {
            (0, 0) => 512,
            (0, block) => block,
            (unit, _) => unit,
        }
    }

    /// Size of a device or existing file in bytes; `None` if a file is created.
    #[must_use]
    pub fn fixed_bytes(&self) -> Option<u64> {
        let is_present = self.exists && self.size_bytes > 0;
        let is_kind = matches!(self.kind, TargetKind::File | TargetKind::Device);
        (is_present && is_kind).then_some(self.size_bytes)
    }

    /// Facts of a target that was not examined.
    #[must_use]
    pub fn placeholder(path: &str, kind: TargetKind) -> Self {
        Self {
            path: path.to_owned(),
            exists: false,
            kind,
            size_bytes: 0,
            file_system: String::new(),
            free_bytes: 0,
            total_bytes: 0,
            reusable_bytes: 0,
            direct_alignment_bytes: 0,
            block_bytes: 0,
            device_id: None,
        }
    }
}

impl SystemFacts {
    /// The facts of the target with this path, if it was examined.
    #[must_use]
    pub fn target(&self, path: &str) -> Option<&TargetFacts> {
        self.targets.iter().find(|target| target.path == path)
    }
}
