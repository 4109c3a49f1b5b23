//! Work on many files: what a classic program does in its own phases, or what a workload says.

use schemars::JsonSchema;
use serde::Serialize;

use crate::classics::fs_mark::FsMarkPlan;
use crate::program::Program;

/// What a cell does with many files, in the place of requests on one large one a target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FilePlan {
    /// Files made and made durable.
    FsMark(FsMarkPlan),
    /// What is done phase by phase.
    Program(Box<Program>),
}

impl FilePlan {
    /// The name of the classic, as of its built-in workload and of its table; that of all programs
    /// is the same.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::FsMark(_) => "fs-mark",
            Self::Program(_) => "program",
        }
    }
}
