//! Names of files of many kinds, all made at once.

mod counted_names;
mod stamped_names;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use counted_names::{flat_names, tree_names};
pub use stamped_names::stamped_names;

/// Names of files relative to their directory, with the subdirectories that they need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// Directories, each behind the one it is in.
    pub directories: Vec<PathBuf>,
    /// Files, by index.
    pub files: Vec<PathBuf>,
}
