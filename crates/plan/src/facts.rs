//! What planning must know about the machine. The `target` crate finds it out; nothing here asks.

use serde::{Deserialize, Serialize};

use crate::TargetKind;

/// One part in this many of a file system stays free: nearly full, it is not what is measured.
const KEPT_FREE_DIVISOR: u64 = 20;

/// No more than this stays free: 5 % of a large disk would refuse small files for nothing.
const KEPT_FREE_MAX_BYTES: u64 = 1 << 30;

/// Bytes that stay free of a file system of this many: 5 %, at most 1 GiB.
#[must_use]
pub fn kept_free_bytes(total_bytes: u64) -> u64 {
    (total_bytes / KEPT_FREE_DIVISOR).min(KEPT_FREE_MAX_BYTES)
}

/// Facts about the machine and the targets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SystemFacts {
    /// The targets that were looked at; one that is missing here is planned with placeholder
    /// facts and a warning.
    pub targets: Vec<TargetFacts>,
    /// The target when neither the workload nor an option names one.
    pub default_target: Option<TargetFacts>,
    /// How many CPUs there are; 0 when not known.
    pub cpu_count: u32,
    /// Main memory; 0 when not known.
    pub memory_bytes: u64,
    /// The machines of a run that several processes share, whose least memory the above is; none
    /// where all is done by this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFacts>,
}

/// A machine that takes part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostFacts {
    /// Its name, as it calls itself.
    pub name: String,
    /// The numbers of the processes there, 0-based.
    pub ranks: Vec<u32>,
    /// Main memory; 0 when not known.
    pub memory_bytes: u64,
}

/// Facts about one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The path, as the workload or the option gives it.
    pub path: String,
    /// Whether something is there.
    pub exists: bool,
    /// What it is, or what will be made there.
    pub kind: TargetKind,
    /// Bytes of an existing file or device; 0 otherwise.
    pub size_bytes: u64,
    /// Type of the file system; `block device` for devices.
    pub file_system: String,
    /// Bytes that can still be written to the file system; 0 for devices.
    pub free_bytes: u64,
    /// Bytes of the whole file system; 0 when not known, which switches the check of space off.
    pub total_bytes: u64,
    /// Bytes of test files found there that this run may use again, counted as free.
    pub reusable_bytes: u64,
    /// Offsets and lengths of direct I/O are multiples of this; 0 when not known.
    pub direct_alignment_bytes: u32,
    /// Smallest unit of the device underneath; 0 when not known.
    pub block_bytes: u32,
    /// Number of the file system (`st_dev`), so that targets on one share its space.
    pub device_id: Option<u64>,
}

impl TargetFacts {
    /// Facts of a target about which nothing is known.
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
    /// The facts of the target with this path, if it was looked at.
    #[must_use]
    pub fn target(&self, path: &str) -> Option<&TargetFacts> {
        self.targets.iter().find(|target| target.path == path)
    }
}
