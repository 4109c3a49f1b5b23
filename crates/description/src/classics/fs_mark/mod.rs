//! fs_mark: many threads create files in many directories and make them durable.

mod plan;
mod program;
mod settings;
mod sync_method;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::ClassicError;
use super::error::ranged;

pub use plan::{FsMarkPlan, Subdirectories};
pub use program::{REMOVE, SYNC, SYNC_ALL};
pub use sync_method::SyncMethod;

const TABLE: &str = "fs_mark";
/// Minimum and maximum number of threads.
pub const THREADS: (u32, u32) = (1, 64);
/// Maximum number of files of a thread in an iteration.
pub(crate) const FILES_MAX: u32 = 1_000_000;
/// Default number of files of each thread in each iteration.
pub(crate) const FILES_DEFAULT: u32 = 1000;
/// Minimum and maximum number of files of a thread in an iteration.
pub const FILES: (u32, u32) = (1, FILES_MAX);
/// Minimum and maximum size of a file in bytes; sizes are signed 32-bit numbers in the original.
pub const SIZE: (u64, u64) = (0, i32::MAX as u64);
/// Minimum and maximum size of a write in bytes.
pub const WRITE_SIZE: (u64, u64) = (1, 1 << 20);
/// Minimum and maximum number of subdirectories.
pub const SUBDIRECTORIES: (u32, u32) = (2, 65_536);
/// Minimum and maximum length of each part of a name; two parts fit into a valid file name.
pub const NAME_LENGTH: (u32, u32) = (0, 128);

/// Threads create files, write them, make them durable and remove them; each kind of call is timed
/// separately. The targets are the directories, which the threads use in turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FsMark {
    /// Number of threads, 1 to 64: a multiple of the number of directories; a smaller number means
    /// one thread per directory. Default: 1.
    pub threads: Option<u32>,
    /// Number of files of each thread in each iteration, 1 to 1000000. Default: 1000.
    pub files: Option<u32>,
    /// Size of each file, below 2 GiB. Default: 50 KiB.
    pub size: Option<Bytes>,
    /// Bytes per write, up to 1 MiB. Default: 16 KiB.
    pub write_size: Option<Bytes>,
    /// How files are made durable: `none`, `fsync` before each close, `sync-first` (`sync`, then
    /// `fsync` of the first file), `post-reverse` (`fsync` of all files after the last one, from
    /// the last to the first), `sync-post-reverse` (`sync` before that), `post` (from the first to
    /// the last) or `sync-post`. Default: `fsync`.
    pub sync_method: Option<SyncMethod>,
    /// Number of subdirectories of each directory, 2 to 65536. Default: none.
    pub subdirectories: Option<u32>,
    /// Number of consecutive files per subdirectory, in turn; 0 puts all in the first one. Default:
    /// all files of an iteration in one subdirectory, selected by the clock.
    pub files_per_subdirectory: Option<u32>,
    /// Number of characters in a name, up to 128. Default: 40.
    pub name_length: Option<u32>,
    /// Number of random characters at the end of a name, up to 128; the others are taken from the
    /// time. Default: 24.
    pub random_length: Option<u32>,
    /// Number of iterations; 0 counts as 1. Default: 1.
    pub loops: Option<u32>,
    /// Keep the files of an iteration until the end of the run. Default: false, but true if `loops`
    /// is written or `until_full` is set.
    pub keep: Option<bool>,
    /// Repeat until the file system is full. Default: false.
    pub until_full: Option<bool>,
    /// Try to create the directory before every file, as the original does. The call fails but
    /// takes time. Default: false.
    pub mkdir_every_file: Option<bool>,
}

impl FsMark {
    /// Merges this table with a base table, key by key; keys of this one take precedence.
    pub(crate) fn over(self, under: Self) -> Self {
        Self {
            threads: self.threads.or(under.threads),
            files: self.files.or(under.files),
            size: self.size.or(under.size),
            write_size: self.write_size.or(under.write_size),
            sync_method: self.sync_method.or(under.sync_method),
            subdirectories: self.subdirectories.or(under.subdirectories),
            files_per_subdirectory: self.files_per_subdirectory.or(under.files_per_subdirectory),
            name_length: self.name_length.or(under.name_length),
            random_length: self.random_length.or(under.random_length),
            loops: self.loops.or(under.loops),
            keep: self.keep.or(under.keep),
            until_full: self.until_full.or(under.until_full),
            mkdir_every_file: self.mkdir_every_file.or(under.mkdir_every_file),
        }
    }

    /// The table with all defaults filled in, for this number of directories.
    ///
    /// # Errors
    /// A number outside its range, a number of threads that does not fit the directories, or a key
    /// for subdirectories without `subdirectories`.
    pub fn resolve(&self, directory_count: u32) -> Result<FsMarkPlan, ClassicError> {
        let name_length = ranged((TABLE, "name_length"), self.name_length, 40, NAME_LENGTH)?;
        let until_full = self.until_full.unwrap_or(false);
        let size = self.size.map(|size| size.0);
        let write_size = self.write_size.map(|size| size.0);
        Ok(FsMarkPlan {
            thread_count: self.thread_count(directory_count.max(1))?,
            file_count: ranged((TABLE, "files"), self.files, FILES_DEFAULT, FILES)?,
            size_bytes: ranged((TABLE, "size"), size, 51_200, SIZE)?,
            write_bytes: ranged((TABLE, "write_size"), write_size, 16_384, WRITE_SIZE)? as u32,
            sync_method: self.sync_method.unwrap_or_default(),
            subdirectories: self.subdirectories()?,
            name_length,
            random_length: ranged(
                (TABLE, "random_length"),
                self.random_length,
                24,
                NAME_LENGTH,
            )?,
            iterations: self.loops.unwrap_or(1).max(1),
            // `-L` and `-F` imply `-k` in fs_mark.
            is_kept: self.keep.unwrap_or(self.loops.is_some() || until_full),
            until_full,
            is_directory_made: self.mkdir_every_file.unwrap_or(false),
        })
    }

    fn thread_count(&self, directory_count: u32) -> Result<u32, ClassicError> {
        let thread_count = ranged((TABLE, "threads"), self.threads, 1, THREADS)?;
        // fs_mark starts a thread for each `-d` unless `-t` is larger.
        let thread_count = thread_count.max(directory_count);
        if thread_count.is_multiple_of(directory_count) && thread_count <= THREADS.1 {
            return Ok(thread_count);
        }
        Err(ClassicError::Range {
            table: TABLE,
            key: "threads",
            seen: thread_count.to_string(),
            wanted: format!(
                "a multiple of `{directory_count}`, the number of directories, up to {}",
                THREADS.1
            ),
        })
    }

    fn subdirectories(&self) -> Result<Subdirectories, ClassicError> {
        let Some(count) = self.subdirectories else {
            return match self.files_per_subdirectory {
                None | Some(0) => Ok(Subdirectories::None),
                Some(_) => Err(ClassicError::Needs {
                    table: TABLE,
                    key: "files_per_subdirectory",
                    other: "subdirectories",
                }),
            };
        };
        let count = ranged((TABLE, "subdirectories"), Some(count), 2, SUBDIRECTORIES)?;
        Ok(match self.files_per_subdirectory {
            Some(each_count) => Subdirectories::RoundRobin { count, each_count },
            None => Subdirectories::ByTime { count },
        })
    }
}
