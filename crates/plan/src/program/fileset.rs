//! Which files there are, and how they are opened.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Law;

/// The largest file, in bytes.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 40;

/// Files by number: how many there may be, what they are called, how large they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesetPlan {
    /// For people, diagnostics and figures.
    pub name: String,
    /// Its directory below the target; empty for the target's own tree.
    #[serde(default)]
    pub path: String,
    /// Whether all workers have it together.
    #[serde(default)]
    pub copies: Copies,
    /// How many names there are.
    pub count: u32,
    /// How a name follows from its number.
    pub names: FileNames,
    /// Which directory a name is in; all are made before the first phase, untimed.
    #[serde(default)]
    pub tree: DirectoryTree,
    /// Bytes of a file: follows from seed, fileset and number, so that it is the same in every
    /// phase and for every worker.
    pub size: Law,
    /// How many of a thousand are there before the first phase, evenly over the numbers.
    #[serde(default)]
    pub present_permille: u32,
}

/// Stands in names and paths for the number of the worker whose files they are.
pub const WORKER_MARK: &str = "{worker}";
/// The same, of at least two digits.
pub const PADDED_WORKER_MARK: &str = "{worker:02}";
/// Stands in the path of files for eight hexadecimal digits of the round around and of the worker:
/// that directory is made in every round, where its name is free, and removed behind it.
pub const STAMP_MARK: &str = "{stamp}";
/// Stands in names and paths for the number of the round around, of the innermost rounds.
pub const ROUND_MARK: &str = "{round}";

impl FilesetPlan {
    /// Whether its names say which worker's they are.
    #[must_use]
    pub fn tells_worker(&self) -> bool {
        self.tells(WORKER_MARK) || self.tells(PADDED_WORKER_MARK)
    }

    /// Whether every round has a directory of its own for them.
    #[must_use]
    pub fn has_own_rounds(&self) -> bool {
        matches!(self.names, FileNames::Low { .. }) && self.path.contains(STAMP_MARK)
    }

    /// Whether its names say what the mark stands for.
    #[must_use]
    pub fn tells(&self, mark: &str) -> bool {
        let of_tree = match &self.tree {
            DirectoryTree::Nested { directories, .. } => directories.before.as_str(),
            _ => "",
        };
        if matches!(self.names, FileNames::Stamped(_)) {
            return mark != PADDED_WORKER_MARK;
        }
        let (before, _, after) = self.names.parts();
        let mut texts = [self.path.as_str(), of_tree, before, after].into_iter();
        texts.any(|text| text.contains(mark))
    }

    /// How many directories it has, besides the one that all are below.
    #[must_use]
    pub const fn directory_count(&self) -> u32 {
        self.tree.directory_count(self.names.first(), self.count)
    }

    /// How many files are there before the first phase; the last part of one is left out.
    #[must_use]
    pub const fn present_count(&self) -> u32 {
        let count = self.count as u64 * self.present_permille as u64 / 1000;
        // No more than a thousand of a thousand.
        if count > self.count as u64 {
            self.count
        } else {
            count as u32
        }
    }
}

/// Who has a fileset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// All workers together.
    #[default]
    One,
    /// Each worker for itself, in a directory of its own.
    PerWorker,
}

/// How a name follows from its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileNames {
    /// A decimal number between two texts.
    Number {
        /// What stands before the number.
        before: String,
        /// Digits at least, filled up with zeros; 0 for as many as it takes.
        digits: u32,
        /// What stands behind the number.
        after: String,
    },
    /// The same, where the first file has another number than 0.
    NumberFrom {
        /// The number of the first.
        first: u32,
        /// What stands before the number.
        before: String,
        /// Digits at least, filled up with zeros; 0 for as many as it takes.
        digits: u32,
        /// What stands behind the number.
        after: String,
    },
    /// The name of the only file.
    Only(String),
    /// Words of small letters, the shorter ones first: `a` to `z`, `aa`, and so on.
    Words,
    /// Numbers in directories of at most so many entries, which are numbers, too: in a tree as low
    /// as that allows, filled from the first directory on.
    Low {
        /// At least 2.
        each: u32,
    },
    /// These are directories, by the ways to them.
    Ways(NestedDirectories),
    /// As listed.
    Listed(ListedFiles),
    /// Others in each round and for each worker.
    Stamped(StampedNames),
}

/// Names of digits of a time, then random digits and capital letters. The time is the second at
/// which the round begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StampedNames {
    /// Characters of a name: where they are more than the random ones, it begins with the last
    /// hexadecimal digits of the time, filled up with tildes.
    pub length: u32,
    /// Random characters; if they are more than the name has, they are the name.
    pub random_length: u32,
    /// Directories, of two or more hexadecimal digits; 0 for none.
    pub directories: u32,
    /// Files in a row in each in turn, beginning with that of the time; 0 or none leaves all in
    /// that one.
    pub each: Option<u32>,
}

/// Names that follow from no rule, with the bytes that each file is to have. They do not go with
/// a stored plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListedFiles {
    /// The names, without the directories that they are in.
    #[serde(skip)]
    pub names: Arc<[Box<str>]>,
    /// Bytes of each file.
    #[serde(skip)]
    pub sizes: Arc<[u64]>,
    /// Whether every name is one that a file can have. Runs that repeat a list share it, and it
    /// may be long.
    #[serde(skip)]
    are_plain: bool,
}

impl ListedFiles {
    /// Bytes of a file name that Linux takes.
    pub(crate) const NAME_BYTES_MAX: usize = 255;

    /// Files of these names, in their order.
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

    /// Whether every name is one that a file can have: no path, and not too long.
    pub(crate) const fn are_plain(&self) -> bool {
        self.are_plain
    }
}

/// Directories that are in each other, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NestedDirectories {
    /// What stands before a directory's number.
    pub before: String,
    /// Digits at least, filled up with zeros; 0 for as many as it takes.
    #[serde(default)]
    pub digits: u32,
    /// Directories in a directory, at most.
    pub fan: u32,
    /// Which are in which.
    pub nesting: DirectoryNesting,
}

/// Which directories are in which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryNesting {
    /// The way to a directory is its number in the base of the fan.
    Digits,
    /// Directory 0 has all others in it: those from n * fan + 1 to n * fan + fan are in
    /// directory n, each under its own number.
    Heap,
}

impl FileNames {
    /// The number of the first file.
    #[must_use]
    pub const fn first(&self) -> u32 {
        match self {
            Self::NumberFrom { first, .. } => *first,
            Self::Number { .. }
            | Self::Only(_)
            | Self::Words
            | Self::Low { .. }
            | Self::Ways(_)
            | Self::Listed(_)
            | Self::Stamped(_) => 0,
        }
    }

    /// What stands before a number, its least digits, and what stands behind it; nothing where
    /// names are listed.
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
            Self::Only(name) => (name, 0, ""),
            Self::Ways(directories) => (&directories.before, directories.digits, ""),
            Self::Words | Self::Low { .. } | Self::Listed(_) | Self::Stamped(_) => ("", 0, ""),
        }
    }
}

/// Which directory a name is in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryTree {
    /// All in one.
    #[default]
    Flat,
    /// The files take so many directories in turn.
    Turns {
        /// How many.
        directories: u32,
    },
    /// So many files in a row in each directory.
    Blocks {
        /// Files in each.
        each: u32,
    },
    /// The same in directories that are in each other: by the numbers in their names, so many in
    /// a row are in each.
    Nested {
        /// Files in each.
        each: u32,
        /// The directories.
        directories: NestedDirectories,
    },
    /// Directories in each other, as many and as deep as chance says, which is the same in every
    /// run. Names are their numbers in their directory, of eight digits.
    Grown(TreeGrowth),
    /// There are no files: what is picked stands for a directory of another fileset's grown tree.
    DirectoriesOf {
        /// The number of that fileset.
        fileset: u8,
    },
}

/// How a tree grows: a directory has either files in it or directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeGrowth {
    /// How much is in a directory, on average.
    pub width: Law,
    /// A thousand times the shape of the gamma laws that depth and fixed widths are drawn by; 0
    /// for none, so that they are the same everywhere.
    pub gamma_permille: u32,
    /// Whether sizes by a gamma law are drawn in turn with the tree's own draws.
    #[serde(default)]
    pub is_size_of_tree: bool,
    /// Whether the fileset's own names are directories, too.
    #[serde(default)]
    pub of_directories: bool,
}

impl TreeGrowth {
    /// How deep the files are on average, where there are so many.
    ///
    /// Source: filebench 1.5: the logarithm of their number to the base of the width.
    #[must_use]
    pub fn mean_depth(&self, count: u32) -> f64 {
        f64::from(count).ln() / self.width.mean().ln()
    }
}

impl DirectoryTree {
    /// How many directories so many files have of which the first has that number, besides the
    /// one that all are below; none that is known of a grown tree.
    #[must_use]
    pub const fn directory_count(&self, first: u32, count: u32) -> u32 {
        let end = first.saturating_add(count);
        match self {
            Self::Flat | Self::Grown(_) | Self::DirectoriesOf { .. } => 0,
            Self::Turns { directories } => *directories,
            Self::Blocks { each: 0 } | Self::Nested { each: 0, .. } => end,
            Self::Blocks { each } | Self::Nested { each, .. } => end.div_ceil(*each),
        }
    }
}

/// How a file is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Way {
    /// As calls name it.
    pub name: String,
    /// To read, to write, or both.
    #[serde(default)]
    pub access: Access,
    /// Whether every write goes to the end.
    #[serde(default)]
    pub is_appending: bool,
    /// Whether the file is emptied.
    #[serde(default)]
    pub is_truncating: bool,
    /// Whether the page cache is passed by.
    #[serde(default)]
    pub is_direct: bool,
    /// Whether every write is durable when it returns.
    #[serde(default)]
    pub sync: OpenSync,
    /// Permissions of a file that is made.
    #[serde(default = "permissions_default")]
    pub permissions: u32,
    /// Whether creating tries to make the file's directory before, which is there already.
    #[serde(default)]
    pub makes_directory: bool,
    /// Whether creating opens a file that is there already, in a directory of our own only.
    #[serde(default)]
    pub takes_existing: bool,
    /// Whether files are read and written where they stand, behind an `lseek` where that is not
    /// where a call goes.
    #[serde(default)]
    pub seeks: bool,
    /// Bytes of each system call that a request is made of; 0 for one call.
    #[serde(default)]
    pub unit_bytes: u32,
}

/// To read and to write, for the owner.
const fn permissions_default() -> u32 {
    0o600
}

impl Default for Way {
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
        }
    }
}

impl Way {
    /// Whether files are read and written where they stand, which only system calls do.
    #[must_use]
    pub const fn goes_by_position(&self) -> bool {
        self.seeks || self.unit_bytes > 0
    }
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To do both.
    #[default]
    ReadWrite,
}

/// Whether a write is durable when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// No.
    #[default]
    No,
    /// Its data (`O_DSYNC`).
    Data,
    /// Its data and all metadata (`O_SYNC`).
    All,
}
