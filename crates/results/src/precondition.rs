//! Preconditioning: sequential writes before the first cell that uses a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target that was written sequentially before the first cell that uses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreconditionRecord {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// Path of the target.
    pub target: String,
    /// Planned number of passes over its span.
    pub times: f64,
    /// Number of bytes written.
    pub bytes: u64,
    /// Duration until all data was on the device, in nanoseconds.
    pub time_ns: u64,
    /// Number of failed writes.
    pub errors: u64,
}
