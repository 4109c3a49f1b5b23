//! Options of the `io_uring` engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the `io_uring` engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingOptions {
    /// A kernel thread submits.
    pub sqpoll: bool,
    /// Completions are polled for; refused where the queue does not poll.
    pub iopoll: bool,
    /// Requests issued with one system call, at most.
    pub batch: u32,
    /// Whether the workload says how large a batch is; else it is smaller while others are in
    /// flight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batch_fixed: bool,
}

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            sqpoll: false,
            iopoll: false,
            batch: 32,
            batch_fixed: false,
        }
    }
}
