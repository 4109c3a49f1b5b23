//! Settings of jobs that are one of several words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a job trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrimSetting {
    /// All requests are trims.
    Only,
    /// Each block is trimmed right before it is written.
    BeforeWrites,
}

/// Flags of `sync_file_range`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncRangeFlag {
    /// Waits for writeback that is already in progress.
    WaitBefore,
    /// Starts writeback of dirty pages.
    Write,
    /// Waits until writeback has finished.
    WaitAfter,
}

/// Order in which the files of a job are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrderSetting {
    /// The files in turn, one request each (see `requests_per_file`).
    RoundRobin,
    /// One file until its end, then the next.
    Sequential,
    /// A random file for each request.
    Drawn,
}

/// Priority classes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// No class; the kernel derives the priority from the nice value.
    None,
    /// Served before all other classes.
    RealTime,
    /// Served by priority.
    BestEffort,
    /// Served only when no other requests are waiting.
    Idle,
}

impl IoClass {
    /// In the order of the kernel's numbers.
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::RealTime, Self::BestEffort, Self::Idle];
}
