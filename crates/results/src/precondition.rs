//! What was written before the first cell that uses a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target that was written in sequence before the first cell that uses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreconditionRecord {
    /// Index into the plan's targets.
    pub target_index: u32,
    /// Its path.
    pub target: String,
    /// How many times its span was to be written.
    pub times: f64,
    /// Bytes that were written.
    pub bytes: u64,
    /// How long that took until all was on the device, in nanoseconds.
    pub time_ns: u64,
    /// Writes that failed.
    pub errors: u64,
}
