//! Options of the `io_uring` engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the `io_uring` engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingOptions {
    /// A kernel thread submits the requests.
    pub sqpoll: bool,
    /// Completions are polled for; an error if the queue does not support polling.
    pub iopoll: bool,
    /// Maximum number of requests issued with one system call.
    pub batch: u32,
    /// The workload sets the batch size; otherwise it is smaller while other requests are in
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
