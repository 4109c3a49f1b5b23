//! Files that lie among a user's other files.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names of files that lie among a user's other files. They identify the leftover files of a killed
/// run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum NamesInPlace {
    /// Numbers from 1, in the directory itself or in `s0`, `s1`, ...
    Numbers {
        /// Number of subdirectories; fewer than two means none.
        subdirectory_count: u32,
    },
    /// Words of lowercase letters, shorter ones first.
    Words {
        /// Number of words.
        count: u32,
    },
    /// Directories named with a prefix and eight hexadecimal digits, and numbers in them.
    Samples {
        /// The prefix.
        before: String,
    },
    /// Digits of a time padded with tildes, followed by random digits and capital letters; in the
    /// directory itself or in numbered ones.
    Marks {
        /// Length of a name in characters.
        name_length: u32,
        /// Number of random characters at its end.
        random_length: u32,
        /// Number of numbered directories.
        subdirectory_count: u32,
    },
}

/// Files in a user's directory that outlast a run: one run leaves them, and later runs use them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PersistentFiles {
    /// The directory.
    pub directory: PathBuf,
    /// Paths below the directory; each is a file, or a directory with files of the program.
    pub names: Vec<String>,
    /// Minimum size of each file in bytes; `None` if the names are directories.
    pub file_bytes: Option<u64>,
    /// What the run does with them.
    pub role: PersistentRole,
}

/// What a run does with files that outlast it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PersistentRole {
    /// Creates them in its work directory and moves them to their names at its end. The names must
    /// be free, or files that an earlier run left there must be unchanged.
    Leaves,
    /// Uses the existing files of the filesets there and creates none.
    Finds,
    /// Uses the existing files, and also removes the named directories at its end if they are
    /// empty.
    Removes,
    /// Creates other files in its work directory. At its end, also removes the files that an
    /// earlier run left under these names, if nobody has changed them.
    Replaces,
}

impl super::Program {
    /// `true` if its files are there before the run.
    #[must_use]
    pub fn uses_existing_files(&self) -> bool {
        self.lasting
            .as_ref()
            .is_some_and(|it| it.exist_before_run())
    }
}

impl PersistentFiles {
    /// `true` if the files are there before the run.
    #[must_use]
    pub fn exist_before_run(&self) -> bool {
        matches!(self.role, PersistentRole::Finds | PersistentRole::Removes)
    }
}
