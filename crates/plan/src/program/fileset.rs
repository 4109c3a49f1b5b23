//! Filesets, and ways to open their files.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Law;

/// Maximum size of a file in bytes.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 40;

/// A numbered set of files: how many there can be, their names and their sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesetPlan {
    /// Name in messages and results.
    pub name: String,
    /// Directory below the target; empty for the target's own tree.
    #[serde(default)]
    pub path: String,
    /// Whether all workers share the files.
    #[serde(default)]
    pub copies: FilesetSharing,
    /// Number of names.
    pub count: u32,
    /// Rule by which a name follows from its number.
    pub names: FileNames,
    /// Rule for the directory of a name. All directories are created before the first phase,
    /// untimed.
    #[serde(default)]
    pub tree: DirectoryTree,
    /// Size of a file in bytes, derived from seed, fileset and number, so that it is the same in
    /// every phase and for every worker.
    pub size: Law,
    /// Files that exist before the first phase, in thousandths, spread evenly over the numbers.
    #[serde(default)]
    pub present_permille: u32,
}

/// Placeholder in names and paths for the number of the worker that owns the files.
pub const WORKER_MARK: &str = "{worker}";
/// As [`WORKER_MARK`], with at least two digits.
pub const PADDED_WORKER_MARK: &str = "{worker:02}";
/// Placeholder in a fileset's path for eight hexadecimal digits of the enclosing round and of the
/// worker. The directory is created in every round, if its name is free, and removed after it.
pub const STAMP_MARK: &str = "{stamp}";
/// Placeholder in names and paths for the number of the innermost enclosing round.
pub const ROUND_MARK: &str = "{round}";

impl FilesetPlan {
    /// `true` if its names depend on the worker.
    #[must_use]
    pub fn names_depend_on_worker(&self) -> bool {
        self.tells(WORKER_MARK) || self.tells(PADDED_WORKER_MARK)
    }

    /// `true` if every round has its own directory for the files.
    #[must_use]
    pub fn has_directory_per_round(&self) -> bool {
        matches!(self.names, FileNames::Low { .. }) && self.path.contains(STAMP_MARK)
    }

    /// `true` if its names depend on the value that the placeholder stands for.
    #[must_use]
    pub fn tells(&self, mark: &str) -> bool {
        let directory = match &self.tree {
            DirectoryTree::Nested { directories, .. } => directories.before.as_str(),
            _ => "",
        };
        if matches!(self.names, FileNames::Stamped(_)) {
            return mark != PADDED_WORKER_MARK;
        }
        let (before, _, after) = self.names.parts();
        let mut texts = [self.path.as_str(), directory, before, after].into_iter();
        texts.any(|text| text.contains(mark))
    }

    /// Number of directories, not counting the root directory of the tree.
    #[must_use]
    pub const fn directory_count(&self) -> u32 {
        self.tree.directory_count(self.names.first(), self.count)
    }

    /// Number of files that exist before the first phase, rounded down.
    #[must_use]
    pub const fn present_count(&self) -> u32 {
        let count = self.count as u64 * self.present_permille as u64 / 1000;
        // Guards against a `present_permille` above 1000.
        if count > self.count as u64 {
            self.count
        } else {
            count as u32
        }
    }
}

/// Sharing of a fileset among workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilesetSharing {
    /// All workers share the files.
    #[default]
    One,
    /// Each worker has its own copy, in its own directory.
    PerWorker,
}

/// Rule by which a name follows from its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileNames {
    /// A decimal number between two texts.
    Number {
        /// Text before the number.
        before: String,
        /// Minimum number of digits, padded with zeros; 0 for no padding.
        digits: u32,
        /// Text after the number.
        after: String,
    },
    /// As `Number`, starting with another number than 0.
    NumberFrom {
        /// Number of the first file.
        first: u32,
        /// Text before the number.
        before: String,
        /// Minimum number of digits, padded with zeros; 0 for no padding.
        digits: u32,
        /// Text after the number.
        after: String,
    },
    /// The name of the only file.
    Only(String),
    /// Words of lowercase letters, shorter ones first: `a` to `z`, `aa`, and so on.
    Words,
    /// Numbers in numbered directories with at most this many entries each. The tree is as shallow
    /// as that allows and filled from the first directory on.
    Low {
        /// Maximum number of entries of a directory; at least 2.
        each: u32,
    },
    /// The names are directories, identified by their paths.
    Ways(NestedDirectories),
    /// A list of names.
    Listed(ListedFiles),
    /// Names that differ in each round and for each worker.
    Stamped(StampedNames),
    /// Numbers in directories that a hash of the number selects.
    Hashed(HashedNames),
}

/// A decimal number between two texts, in nested directories whose numbers are a hash of it.
///
/// File n has the hash `n * factor` modulo the number of files, and its directory the number
/// `hash / each`. From the lowest level up, the name of a directory with number d is `d * factor`
/// modulo `fan`, and that of its parent follows from `d / fan`. Numbers below 2 are the top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HashedNames {
    /// Number of the first file.
    pub first: u32,
    /// Text before the number.
    pub before: String,
    /// Text after the number.
    pub after: String,
    /// Multiplier of the hash.
    pub factor: u32,
    /// Mean number of files per directory; at least 1.
    pub each: u32,
    /// Maximum number of directories in a directory; at least 2.
    pub fan: u32,
    /// Text before the number of a directory, which has at least three digits.
    pub directory_before: String,
}

/// Names made of digits of a time, followed by random digits and capital letters. The time is the
/// second at which the round starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StampedNames {
    /// Length of a name in characters. If it exceeds `random_length`, the name starts with the last
    /// hexadecimal digits of the time, padded with tildes.
    pub length: u32,
    /// Number of random characters; if it exceeds `length`, the name has only these.
    pub random_length: u32,
    /// Number of directories, named with two or more hexadecimal digits; 0 for none.
    pub directories: u32,
    /// Number of consecutive files per directory, in turn, starting with the directory selected by
    /// the time; 0 or `None` puts all files in that one.
    pub each: Option<u32>,
}

/// Arbitrary names, with the size of each file in bytes. Stored plans do not contain them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListedFiles {
    /// Names without their directories.
    #[serde(skip)]
    pub names: Arc<[Box<str>]>,
    /// Size of each file in bytes.
    #[serde(skip)]
    pub sizes: Arc<[u64]>,
    /// Whether every name is valid. Determined once, because runs that repeat a list share it and
    /// it may be long.
    #[serde(skip)]
    are_plain: bool,
}

impl ListedFiles {
    /// Maximum length of a file name on Linux, in bytes.
    pub(crate) const NAME_BYTES_MAX: usize = 255;

    /// Files with these names, in order.
    #[must_use]
    pub fn new(names: Arc<[Box<str>]>, sizes: Arc<[u64]>) -> Self {
        let is_plain = |name: &str| {
            let is_name = !matches!(name, "" | "." | "..") && name.len() <= Self::NAME_BYTES_MAX;
            is_name && !name.bytes().any(|byte| matches!(byte, b'/' | 0))
        };
        let are_plain = names.iter().all(|name| is_plain(name));
        Self {
            names,
            sizes,
            are_plain,
        }
    }

    /// `true` if every name is a valid file name: no path, and not too long.
    pub(crate) const fn are_plain(&self) -> bool {
        self.are_plain
    }
}

/// Numbered directories that are nested in each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NestedDirectories {
    /// Text before a directory's number.
    pub before: String,
    /// Minimum number of digits, padded with zeros; 0 for no padding.
    #[serde(default)]
    pub digits: u32,
    /// Maximum number of directories in a directory.
    pub fan: u32,
    /// Rule of nesting.
    pub nesting: DirectoryNesting,
}

/// Rule of nesting of numbered directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryNesting {
    /// The path of a directory is its number in base `fan`.
    Digits,
    /// Directory 0 contains all others: directory n contains the directories n * fan + 1 to n * fan
    /// + fan, each under its own number.
    Heap,
}

impl FileNames {
    /// Number of the first file.
    #[must_use]
    pub const fn first(&self) -> u32 {
        match self {
            Self::NumberFrom { first, .. } | Self::Hashed(HashedNames { first, .. }) => *first,
            Self::Number { .. }
            | Self::Only(_)
            | Self::Words
            | Self::Low { .. }
            | Self::Ways(_)
            | Self::Listed(_)
            | Self::Stamped(_) => 0,
        }
    }

    /// Text before the number, its minimum digits, and text after it; empty for other kinds of
    /// names.
    #[must_use]
    pub fn parts(&self) -> (&str, u32, &str) {
        match self {
            Self::Number {
                before,
                digits,
                after,
            }
            | Self::NumberFrom {
                before,
                digits,
                after,
                ..
            } => (before, *digits, after),
            Self::Hashed(names) => (&names.before, 0, &names.after),
            Self::Only(name) => (name, 0, ""),
            Self::Ways(directories) => (&directories.before, directories.digits, ""),
            Self::Words | Self::Low { .. } | Self::Listed(_) | Self::Stamped(_) => ("", 0, ""),
        }
    }
}

/// Rule for the directory of a name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryTree {
    /// All files are in one directory.
    #[default]
    Flat,
    /// Files are distributed over directories in turn.
    Turns {
        /// Number of directories.
        directories: u32,
    },
    /// Consecutive files share a directory.
    Blocks {
        /// Number of files per directory.
        each: u32,
    },
    /// As `Blocks`, in nested directories: consecutive numbers share a directory.
    Nested {
        /// Number of files per directory.
        each: u32,
        /// Nesting of the directories.
        directories: NestedDirectories,
    },
    /// Randomly nested directories, the same in every run. Names are their numbers within their
    /// directory, with eight digits.
    Grown(TreeGrowth),
    /// No files: each entry stands for a directory of another fileset's grown tree.
    DirectoriesOf {
        /// Number of that fileset.
        fileset: u8,
    },
}

/// Growth of a random tree, in which a directory contains either files or directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeGrowth {
    /// Number of entries of a directory.
    pub width: Law,
    /// Shape, in thousandths, of the gamma laws from which the depth and fixed widths are drawn; 0
    /// to use the same depth and width everywhere.
    pub gamma_permille: u32,
    /// Whether sizes with a gamma law are drawn in turn with the tree's own draws.
    #[serde(default)]
    pub is_size_of_tree: bool,
    /// Whether the names of the fileset are directories, too.
    #[serde(default)]
    pub of_directories: bool,
}

impl TreeGrowth {
    /// Mean depth of the files in a tree of `count` files.
    ///
    /// Source: filebench 1.5: the logarithm of the number of files to the base of the width.
    #[must_use]
    pub fn mean_depth(&self, count: u32) -> f64 {
        f64::from(count).ln() / self.width.mean().ln()
    }
}

impl DirectoryTree {
    /// Number of directories for `count` files whose first has the number `first`, not counting the
    /// directory that contains them all; 0 for a grown tree, whose number is not known.
    #[must_use]
    pub const fn directory_count(&self, first: u32, count: u32) -> u32 {
        let end = first.saturating_add(count);
        match self {
            Self::Flat | Self::Grown(_) | Self::DirectoriesOf { .. } => 0,
            Self::Turns { directories } => *directories,
            // The check refuses 0; this only avoids a division by 0.
            Self::Blocks { each: 0 } | Self::Nested { each: 0, .. } => end,
            Self::Blocks { each } | Self::Nested { each, .. } => end.div_ceil(*each),
        }
    }
}

/// Options with which a file is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenModePlan {
    /// Name by which calls refer to it.
    pub name: String,
    /// Access mode.
    #[serde(default)]
    pub access: Access,
    /// Whether every write goes to the end of the file.
    #[serde(default)]
    pub is_appending: bool,
    /// Whether the file is emptied.
    #[serde(default)]
    pub is_truncating: bool,
    /// Whether the page cache is bypassed (`O_DIRECT`).
    #[serde(default)]
    pub is_direct: bool,
    /// Durability of a write when it returns.
    #[serde(default)]
    pub sync: OpenSync,
    /// Permissions of a new file.
    #[serde(default = "permissions_default")]
    pub permissions: u32,
    /// Whether creating a file first tries to create its directory, which already exists.
    #[serde(default)]
    pub makes_directory: bool,
    /// Whether creating may open an existing file; only in a directory that pgmeter created.
    #[serde(default)]
    pub takes_existing: bool,
    /// Whether `read` and `write` are used at the file offset, with an `lseek` if a call goes
    /// elsewhere.
    #[serde(default)]
    pub seeks: bool,
    /// Bytes per system call of a request; 0 for one call.
    #[serde(default)]
    pub unit_bytes: u32,
    /// How writes to a mapping of the file are synced; `None` to read and write by system calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped: Option<MappedSync>,
}

/// Sync of a mapping after each write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MappedSync {
    /// None: the kernel writes the pages back when it wants to.
    No,
    /// `msync` with `MS_ASYNC`, which waits for nothing.
    Async,
    /// `msync` with `MS_SYNC`.
    Sync,
}

/// Read and write access for the owner.
const fn permissions_default() -> u32 {
    0o600
}

impl Default for OpenModePlan {
    fn default() -> Self {
        Self {
            name: String::new(),
            access: Access::default(),
            is_appending: false,
            is_truncating: false,
            is_direct: false,
            sync: OpenSync::default(),
            permissions: permissions_default(),
            makes_directory: false,
            takes_existing: false,
            seeks: false,
            unit_bytes: 0,
            mapped: None,
        }
    }
}

impl OpenModePlan {
    /// `true` if files are read and written at their file offset, which only the `psync` engine can
    /// do.
    #[must_use]
    pub const fn uses_file_offset(&self) -> bool {
        self.seeks || self.unit_bytes > 0
    }
}

/// Access mode of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reading only.
    Read,
    /// Writing only.
    Write,
    /// Reading and writing.
    #[default]
    ReadWrite,
}

/// Durability of a write when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// Not durable.
    #[default]
    No,
    /// The data is durable (`O_DSYNC`).
    Data,
    /// The data and all metadata are durable (`O_SYNC`).
    All,
}
