//! Failed operations by their cause.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failed operations of one kind with one cause.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrnoCount {
    /// The operation's name.
    pub operation: String,
    /// The kernel's number, above 0.
    pub errno: i32,
    /// What the system calls the number, such as `Input/output error`.
    pub message: String,
    /// How many operations failed so.
    pub count: u64,
}
