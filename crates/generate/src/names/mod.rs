//! Names for files, all generated in advance.

mod counted_names;
mod hashed_names;
mod stamped_names;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use counted_names::{flat_names, tree_names};
pub use hashed_names::hashed_names;
pub use stamped_names::stamped_names;

/// Names of files relative to a directory, with the subdirectories that they need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelativeNames {
    /// Directories, each after its parent.
    pub directories: Vec<PathBuf>,
    /// Files, by index.
    pub files: Vec<PathBuf>,
}
