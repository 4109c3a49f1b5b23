//! Create/remove: half a million files made and removed, as the LFS project measured it.

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

/// Bytes of one write unless the settings say otherwise: larger than any size of the original.
const WRITE_BYTES: u64 = 1 << 20;
/// The most bytes of one write.
const WRITE_BYTES_MAX: u64 = 64 << 20;
const FILE_BYTES_MAX: u64 = 1 << 40;
/// Files of each size, at most.
const FILES_MAX: u32 = 100_000_000;
/// Files of each size unless the settings say otherwise.
pub(crate) const FILES: u32 = 500_000;
const DIRECTORIES_MAX: u32 = 65_536;
const SIZES: [u64; 4] = [0, 4096, 16_384, 65_536];
const TABLE: &str = "create_remove";

/// Files of each size are created, statted if asked for, then removed; each step is timed as a
/// whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CreateRemove {
    /// Files of each size, 1 to 100000000. Default: 500000.
    pub count: Option<u32>,
    /// Sizes of the files, each with its own steps. Default: `0`, `4KiB`, `16KiB` and `64KiB`.
    pub sizes: Option<OneOrMany<Bytes>>,
    /// Bytes of one write, up to 64 MiB; smaller files are written at once. Default: 1 MiB.
    pub write_size: Option<Bytes>,
    /// Directories, taken in turn by the files, 1 to 65536. Default: 1.
    pub directories: Option<u32>,
    /// Whether each size has a step between the two that reads the attributes of every file, by
    /// name. Default: no.
    pub stat: Option<bool>,
    /// In which order files are visited again, to read their attributes and to remove them:
    /// `forward`, `reverse` or `random`. Default: `forward`.
    pub order: Option<Order>,
    /// What happens between two steps: `remount`, `drop-caches` or `nothing`; the first two need
    /// root. Default: `nothing`.
    pub between: Option<Between>,
    /// How files are created and removed: by system calls of the workers (`syscall`), or by a
    /// program started for each file (`exec`), as in the original script. Default: `syscall`.
    pub mode: Option<Mode>,
    /// How a file is made durable before it is closed, with `syscall` only: `none`, `fsync` or
    /// `fdatasync`. Default: `none`.
    pub sync: Option<FileSync>,
}

/// What happens between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Between {
    /// The file system is unmounted and mounted again.
    Remount,
    /// Dirty pages are written, then the kernel's caches are dropped.
    DropCaches,
    /// Nothing.
    #[default]
    Nothing,
}

/// Who works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By system calls of the workers.
    #[default]
    Syscall,
    /// By a program started for each file.
    Exec,
}

/// Create/remove with every value known. Records of earlier versions have it as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CreateRemovePlan {
    /// Files of each size.
    pub file_count: u32,
    /// Sizes in the order in which they are taken.
    pub sizes_bytes: Vec<u64>,
    /// Bytes of one write.
    pub write_bytes: u32,
    /// Directories that the files are in.
    pub directory_count: u32,
    /// Whether files are looked at between create and remove; records of earlier versions lack
    /// it.
    #[serde(default)]
    pub is_statted: bool,
    /// In which order files are visited once they are there.
    pub order: Order,
    /// What happens between two steps.
    pub between: Between,
    /// Who works.
    pub mode: Mode,
    /// What comes before the close of a new file.
    pub sync: FileSync,
}

/// What a step does to each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Creates it, with its content.
    Create,
    /// Reads its attributes, by name.
    Stat,
    /// Removes it.
    Remove,
}

impl Act {
    /// The first word of the step's phase.
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Remove => "remove",
        }
    }
}

impl CreateRemove {
    /// This table laid over another, key by key.
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

    /// The settings with their defaults.
    ///
    /// # Errors
    /// A number outside its range, no size at all, or a `sync` that no program would make.
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
        if mode == Mode::Exec && sync != FileSync::None {
            return Err(ClassicError::Needs {
                table: TABLE,
                key: "sync",
                other: "mode = \"syscall\"",
            });
        }
        let directories = (1, DIRECTORIES_MAX);
        Ok(CreateRemovePlan {
            file_count: ranged((TABLE, "count"), self.count, FILES, (1, FILES_MAX))?,
            // No buffer larger than the largest file is needed.
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
