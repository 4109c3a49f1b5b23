//! Which files there are, and how they are opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Law;

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

impl FilesetPlan {
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
}

/// Which directory a name is in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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
}

impl DirectoryTree {
    /// How many directories `count` files have, besides the one that all are below.
    #[must_use]
    pub const fn directory_count(&self, count: u32) -> u32 {
        match self {
            Self::Flat => 0,
            Self::Turns { directories } => *directories,
            Self::Blocks { each: 0 } => count,
            Self::Blocks { each } => count.div_ceil(*each),
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
