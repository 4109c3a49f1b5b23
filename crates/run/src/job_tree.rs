//! Directories of jobs' files.

use std::collections::{BTreeMap, BTreeSet};

use storage::Tree;

/// Directory tree of jobs' files on a target. It lasts for the whole run, so a cell can read the
/// files that an earlier one wrote.
pub(crate) struct JobTree {
    pub tree: Tree,
    /// Names of the files that contain stamps from end to end, with the length of the stamped
    /// blocks.
    pub stamped: BTreeMap<String, u32>,
    /// Files that jobs of this run wrote to. A later job that verifies them reads them unchanged: a
    /// new layout would hide every lost or overwritten block.
    pub written: BTreeSet<String>,
    /// Files that an earlier run left and this run took.
    pub taken: BTreeSet<String>,
}
