//! When a measurement stood still.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time in which neither workers nor monitor ran, for no want of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standstill {
    /// When it began, within a tenth of a second, in nanoseconds from the start of the
    /// measurement.
    pub at_ns: u64,
    /// How long it lasted at least, in nanoseconds.
    pub length_ns: u64,
    /// What is known of why.
    pub cause: StandstillCause,
    /// Whether the figures are without what was measured meanwhile; else they are not valid.
    pub is_left_out: bool,
}

/// Why a measurement stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StandstillCause {
    /// The process was stopped (Ctrl-Z, `SIGSTOP`) or frozen, or the virtual machine paused.
    Stopped,
    /// The machine was suspended.
    Suspended,
}
