//! Files that lie among those of others.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How files are called that lie among those of others: what a run leaves behind that is killed is
/// known by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum NamesInPlace {
    /// Numbers from 1, in the directory or in `s0`, `s1`, ...
    Numbers {
        /// How many such directories there are; with fewer than two there are none.
        subdirectory_count: u32,
    },
    /// Words of small letters, the shorter ones first.
    Words {
        /// How many there are.
        count: u32,
    },
    /// Directories of eight hexadecimal digits behind a text, and numbers in them.
    Samples {
        /// The text.
        before: String,
    },
    /// Digits of a time filled up with tildes, then random digits and capital letters; in the
    /// directory or in numbered ones.
    Marks {
        /// Characters of a name.
        name_length: u32,
        /// Random ones at its end.
        random_length: u32,
        /// How many numbered directories there are.
        subdirectory_count: u32,
    },
}

/// Files that outlast a run, in a directory of the user: a run leaves them, and later runs find
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastingFiles {
    /// The directory.
    pub directory: PathBuf,
    /// Paths below the directory, each of a file, or of a directory with files of the program.
    pub names: Vec<String>,
    /// Bytes that each file has at least; none where the names are of directories.
    pub file_bytes: Option<u64>,
    /// What the run does with them.
    pub role: LastingRole,
}

/// What a run does with files that outlast it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastingRole {
    /// Makes them in its work directory, and at its end moves them to their names, which must be
    /// free.
    Leaves,
    /// Finds the present files of the filesets there, and makes none.
    Finds,
    /// Finds them, and at its end also removes the named directories, if they are empty.
    Removes,
}

impl super::Program {
    /// `true` if its files are there before the run.
    #[must_use]
    pub fn finds_files(&self) -> bool {
        self.lasting.as_ref().is_some_and(|it| it.are_found())
    }
}

impl LastingFiles {
    /// `true` if the files are there before the run.
    #[must_use]
    pub fn are_found(&self) -> bool {
        self.role != LastingRole::Leaves
    }
}
