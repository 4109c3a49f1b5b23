//! The table with every value known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;
use plan::program::{FileChoice, FilePool, Fsync, Program};

/// PostMark with every value known.
#[derive(Debug, Clone, PartialEq)]
pub struct PostmarkPlan {
    /// The original's settings; locations are relative to the target and lie beneath it.
    pub settings: Settings,
    /// When what was written is made durable.
    pub fsync: Fsync,
    /// Which files are chosen.
    pub choice: FileChoice,
    /// Where the workers' pools lie.
    pub pool: Pool,
    /// Files that each worker leaves open in its transactions until they are removed, at most; 0
    /// closes each behind its operation.
    pub keep_open: u32,
}

/// Where the workers' pools lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Each worker's in a directory of its own.
    #[default]
    Own,
    /// All in the same directories, where the workers meet in the file system's locks; each file
    /// is used by the worker that made it.
    Shared,
}

impl PostmarkPlan {
    /// The program that it stands for; with a time, transactions end by it.
    #[must_use]
    pub fn program(&self, time_ns: Option<u64>) -> Program {
        let pool = FilePool {
            fsync: self.fsync,
            choice: self.choice,
            is_shared: self.pool == Pool::Shared,
            keep_open: self.keep_open,
            ..self.settings.pool()
        };
        Program::of_pool(pool, time_ns)
    }
}
