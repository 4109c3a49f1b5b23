//! PostMark with all defaults filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PostmarkSettings;
use plan::program::{FileChoice, FilePool, Fsync, Program};

/// PostMark with all defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct PostmarkPlan {
    /// The original's settings; locations are relative to the target and below it.
    pub settings: PostmarkSettings,
    /// When written data is made durable.
    pub fsync: Fsync,
    /// Distribution over the files.
    pub choice: FileChoice,
    /// Directories of the workers' pools.
    pub pool: PoolSharing,
    /// Maximum number of files that each worker keeps open in its transactions until they are
    /// removed; 0 closes each file after its operation.
    pub keep_open: u32,
}

/// Directories of the workers' pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolSharing {
    /// Each worker has its own directory.
    #[default]
    Own,
    /// All workers use the same directories, where they compete for the file system's locks; each
    /// file is used by the worker that created it.
    Shared,
}

impl PostmarkPlan {
    /// Converts to a program; with a time, the transactions end by it.
    #[must_use]
    pub fn program(&self, time_ns: Option<u64>) -> Program {
        let pool = FilePool {
            fsync: self.fsync,
            choice: self.choice,
            is_shared: self.pool == PoolSharing::Shared,
            keep_open: self.keep_open,
            ..self.settings.pool()
        };
        Program::of_pool(pool, time_ns)
    }
}
