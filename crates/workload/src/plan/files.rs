//! Work on many files: what a classic program does in its own phases, or what a workload says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::FsMarkPlan;
use crate::classics::lat_fs::LatFsPlan;
use crate::postmark::Settings;
use crate::program::Program;

/// What a cell does with many files, in the place of requests on one large one a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FilePlan {
    /// A pool of files that live and die.
    Postmark(PostmarkPlan),
    /// Many files made, then removed, size by size.
    CreateRemove(CreateRemovePlan),
    /// A few files made and removed over and over.
    LatFs(LatFsPlan),
    /// Files made and made durable.
    FsMark(FsMarkPlan),
    /// What a workload's own phases do.
    Program(Box<Program>),
}

impl FilePlan {
    /// The name of the classic, as of its built-in workload and of its table; that of all programs
    /// is the same.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Postmark(_) => "postmark",
            Self::CreateRemove(_) => "create-remove",
            Self::LatFs(_) => "lat-fs",
            Self::FsMark(_) => "fs-mark",
            Self::Program(_) => "program",
        }
    }
}

/// PostMark with every value known.
///
/// A cell with a run time ends its transactions by time, whatever their number is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostmarkPlan {
    /// The original's settings; locations are relative to the target and lie beneath it. Each
    /// worker has its own pool of that many files and does that many transactions; the seed of
    /// worker w is that of the settings plus w.
    pub settings: Settings,
    /// When what was written is made durable.
    pub fsync: Fsync,
    /// Which files are chosen.
    pub choice: FileChoice,
    /// Where the workers' pools lie.
    pub pool: Pool,
    /// Files that each worker leaves open in its transactions until they are removed, at most; 0
    /// closes each behind its operation.
    #[serde(default)]
    pub keep_open: u32,
}

/// When what was written is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fsync {
    /// Never.
    #[default]
    None,
    /// `fsync` of each file that was written, before it is closed.
    PerFile,
    /// As `per-file`, and `fsync` of the directory after each file that was made or removed.
    PerTransaction,
}

/// Which files of a pool are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FileChoice {
    /// Each is as likely as any other.
    #[default]
    Uniform,
    /// Rank r is drawn in proportion to r^-theta; ranks are scattered over the pool.
    Zipf {
        /// Skew, above 0 and not 1.
        theta: f64,
    },
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
