//! Where jobs have their files.

use std::collections::{BTreeMap, BTreeSet};

use target::Tree;

/// The tree of a target in which jobs have their files, from the first cell of a run to the last:
/// what one cell wrote the next one reads.
pub(crate) struct JobTree {
    pub tree: Tree,
    /// The files that hold stamps throughout, by name, with the length of stamped blocks.
    pub stamped: BTreeMap<String, u32>,
    /// The files that jobs of this run wrote to. A later job that verifies them reads them as they
    /// are: a new layout would hide every block that was lost or overwritten.
    pub written: BTreeSet<String>,
}
