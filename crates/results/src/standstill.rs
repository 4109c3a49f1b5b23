//! Times in which a measurement stood still.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time in which neither workers nor the monitor ran, although CPUs were available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standstill {
    /// Start, accurate to a tenth of a second, in nanoseconds from the start of the measurement.
    pub at_ns: u64,
    /// Minimum duration, in nanoseconds.
    pub length_ns: u64,
    /// The probable cause.
    pub cause: StandstillCause,
    /// `true` if the results exclude this time; otherwise they are not valid.
    pub is_left_out: bool,
}

/// Cause of a standstill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StandstillCause {
    /// The process was stopped (Ctrl-Z, `SIGSTOP`) or frozen, or the virtual machine paused.
    Stopped,
    /// The machine was suspended.
    Suspended,
}
