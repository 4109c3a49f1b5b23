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
    /// Number of requests of which the kernel executes the last one on its own threads
    /// (`IOSQE_ASYNC`); 0 if it decides for each request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub force_async_each: u32,
}

// `skip_serializing_if` passes a reference.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            sqpoll: false,
            iopoll: false,
            batch: 32,
            batch_fixed: false,
            force_async_each: 0,
        }
    }
}
