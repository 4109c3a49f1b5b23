//! Create/remove: half a million files are created and removed, as in the LFS project's benchmark.

mod program;
mod settings;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::error::ranged;
use super::{ClassicError, FileSync, Order};
use crate::model::OneOrMany;

/// Default size of one write in bytes: larger than any file of the original.
const WRITE_BYTES: u64 = 1 << 20;
/// Maximum size of one write in bytes.
const WRITE_BYTES_MAX: u64 = 64 << 20;
const FILE_BYTES_MAX: u64 = 1 << 40;
/// Maximum number of files of each size.
const FILES_MAX: u32 = 100_000_000;
/// Default number of files of each size.
pub(crate) const FILES_DEFAULT: u32 = 500_000;
const DIRECTORIES_MAX: u32 = 65_536;
const SIZES: [u64; 4] = [0, 4096, 16_384, 65_536];
const TABLE: &str = "create_remove";

/// Files of each size are created, optionally statted, then removed; each step is timed as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CreateRemove {
    /// Number of files of each size, 1 to 100000000. Default: 500000.
    pub count: Option<u32>,
    /// Sizes of the files, each with its own steps. Default: `0`, `4KiB`, `16KiB` and `64KiB`.
    pub sizes: Option<OneOrMany<Bytes>>,
    /// Bytes per write, up to 64 MiB; smaller files are written with one call. Default: 1 MiB.
    pub write_size: Option<Bytes>,
    /// Number of directories, 1 to 65536, over which the files are distributed in turn. Default: 1.
    pub directories: Option<u32>,
    /// Add a step that reads the attributes of every file by name, after creating and before
    /// removing them. Default: no.
    pub stat: Option<bool>,
    /// Order in which files are visited to read their attributes and to remove them: `forward`,
    /// `reverse` or `random`. Default: `forward`.
    pub order: Option<Order>,
    /// What happens between two steps: `remount`, `drop-caches` or `nothing`; remounting and
    /// dropping caches need root. Default: `nothing`.
    pub between: Option<BetweenSteps>,
    /// How files are created and removed: by system calls of the workers (`syscall`), or by a
    /// program started for each file (`exec`), as in the original script. Default: `syscall`.
    pub mode: Option<CreateRemoveMode>,
    /// How a file is made durable before it is closed, with `syscall` only: `none`, `fsync` or
    /// `fdatasync`. Default: `none`.
    pub sync: Option<FileSync>,
}

/// What happens between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BetweenSteps {
    /// The file system is unmounted and mounted again.
    Remount,
    /// Dirty pages are written, then the kernel's caches are dropped.
    DropCaches,
    /// Nothing.
    #[default]
    Nothing,
}

/// How files are created and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CreateRemoveMode {
    /// By system calls of the workers.
    #[default]
    Syscall,
    /// By a program started for each file.
    Exec,
}

/// Create/remove with all defaults filled in. Records of earlier versions contain it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CreateRemovePlan {
    /// Number of files of each size.
    pub file_count: u32,
    /// Sizes in bytes, in the order in which they are measured.
    pub sizes_bytes: Vec<u64>,
    /// Bytes per write.
    pub write_bytes: u32,
    /// Number of directories that contain the files.
    pub directory_count: u32,
    /// `true` if files are statted between create and remove; absent in records of earlier
    /// versions.
    #[serde(default)]
    pub is_statted: bool,
    /// Order in which existing files are visited.
    pub order: Order,
    /// What happens between two steps.
    pub between: BetweenSteps,
    /// How files are created and removed.
    pub mode: CreateRemoveMode,
    /// Sync before a new file is closed.
    pub sync: FileSync,
}

/// Work of a step on each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileStep {
    /// Creates it, with its content.
    Create,
    /// Reads its attributes, by name.
    Stat,
    Remove,
}

impl FileStep {
    /// First word of the step's phase.
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Remove => "remove",
        }
    }
}

impl CreateRemove {
    /// Merges this table with a base table, key by key; keys of this one take precedence.
    pub(crate) fn over(self, under: Self) -> Self {
        Self {
            count: self.count.or(under.count),
            sizes: self.sizes.or(under.sizes),
            write_size: self.write_size.or(under.write_size),
            directories: self.directories.or(under.directories),
            stat: self.stat.or(under.stat),
            order: self.order.or(under.order),
            between: self.between.or(under.between),
            mode: self.mode.or(under.mode),
            sync: self.sync.or(under.sync),
        }
    }

    /// The table with all defaults filled in.
    ///
    /// # Errors
    /// A number outside its range, an empty list of sizes, or a `sync` that the started programs do
    /// not support.
    pub fn resolve(&self) -> Result<CreateRemovePlan, ClassicError> {
        let default_sizes = OneOrMany::Many(SIZES.map(Bytes).to_vec());
        let sizes = self.sizes.as_ref().unwrap_or(&default_sizes).as_slice();
        if sizes.is_empty() {
            return Err(ClassicError::Empty {
                table: TABLE,
                key: "sizes",
            });
        }
        let size = |size: &Bytes| ranged((TABLE, "sizes"), Some(size.0), 0, (0, FILE_BYTES_MAX));
        let sizes_bytes: Vec<u64> = sizes.iter().map(size).collect::<Result<_, _>>()?;
        let write_bytes = ranged(
            (TABLE, "write_size"),
            self.write_size.map(|size| size.0),
            WRITE_BYTES,
            (1, WRITE_BYTES_MAX),
        )?;
        let mode = self.mode.unwrap_or_default();
        let sync = self.sync.unwrap_or_default();
        // The started programs, such as `touch` and `rm`, do not sync.
        if mode == CreateRemoveMode::Exec && sync != FileSync::None {
            return Err(ClassicError::Needs {
                table: TABLE,
                key: "sync",
                other: "mode = \"syscall\"",
            });
        }
        let directories = (1, DIRECTORIES_MAX);
        Ok(CreateRemovePlan {
            file_count: ranged((TABLE, "count"), self.count, FILES_DEFAULT, (1, FILES_MAX))?,
            // No buffer needs to be larger than the largest file.
            write_bytes: write_bytes.min(sizes_bytes.iter().copied().max().unwrap_or(1).max(1))
                as u32,
            sizes_bytes,
            directory_count: ranged((TABLE, "directories"), self.directories, 1, directories)?,
            is_statted: self.stat.unwrap_or(false),
            order: self.order.unwrap_or_default(),
            between: self.between.unwrap_or_default(),
            mode,
            sync,
        })
    }
}
