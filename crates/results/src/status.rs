//! How a run or a cell ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run or a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything was measured.
    Complete,
    /// Someone ended it before its time; what was measured until then is kept.
    Interrupted,
    /// It could not go on.
    Failed,
}
