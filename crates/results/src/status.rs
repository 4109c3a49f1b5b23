//! How a run or a cell ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run or a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything was measured.
    Complete,
    /// It was stopped early; results up to then are kept.
    Interrupted,
    /// It could not continue.
    Failed,
}
