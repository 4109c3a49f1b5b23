//! Files that lie among those of others.

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
