//! Names of files of many kinds, and what a pass over them does.
//!
//! A [`Pass`] does one thing to each of a worker's files; which pass comes next is said by
//! `workload::classics`.

mod counted_names;
mod order;
mod pass;
mod stamped_names;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use counted_names::{flat_names, tree_names};
pub use pass::Pass;
pub use stamped_names::stamped_names;

/// Names of files relative to their directory, with the subdirectories that they need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// Directories, each behind the one it is in.
    pub directories: Vec<PathBuf>,
    /// Files, by index.
    pub files: Vec<PathBuf>,
}
