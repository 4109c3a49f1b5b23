//! Failed operations by error number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failed operations of one kind with the same error number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrnoCount {
    /// Name of the operation.
    pub operation: String,
    /// The kernel's error number, above 0.
    pub errno: i32,
    /// The system's text for the number, such as `Input/output error`.
    pub message: String,
    /// Number of operations that failed with this error.
    pub count: u64,
}
