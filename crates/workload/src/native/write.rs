//! Writing a workload file: what is written, nothing else.

use crate::model::Workload;

/// The workload as TOML; what was not written is left out.
#[must_use]
pub fn to_toml(workload: &Workload) -> String {
    toml::to_string(workload).unwrap_or_default()
}
