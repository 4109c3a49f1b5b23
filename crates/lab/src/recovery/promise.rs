//! Promises that follow from the completed steps.
//!
//! `fsync` and `fdatasync` of a file promise all data written to it so far. `fsync` of a directory
//! promises all names in it. Source: POSIX.1-2017, `fsync`, `fdatasync`; Linux, fsync(2), "Notes"
//! of the directory. Unsynced data may be there completely, in part or not at all.

use std::collections::BTreeMap;

use super::content::LayeredContent;
use super::plan::{RecoveryAct, RecoveryPlan, RecoveryStep, Syncing, directory_of};

/// A file to which a name may refer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Content at the last sync.
    pub synced: Option<LayeredContent>,
    /// Content after each later write.
    pub loose: Vec<LayeredContent>,
}

impl Leaf {
    fn of(content: LayeredContent) -> Self {
        Self {
            synced: None,
            loose: vec![content],
        }
    }

    /// Content after the last write.
    pub fn newest(&self) -> Option<&LayeredContent> {
        self.loose.last().or(self.synced.as_ref())
    }
}

/// Possible states of a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Name {
    /// Files to which it may refer, `None` for no file; the last one is the writer's view.
    pub leaves: Vec<Option<Leaf>>,
    /// Every content that the name ever had.
    pub history: Vec<LayeredContent>,
}

/// Promise for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// One of several files, each with its synced data.
    Kept,
    /// No file.
    Gone,
    /// No file, or one of several files, each with its synced data.
    IfThere,
    /// No promise.
    Nothing,
}

impl Name {
    pub fn promise(&self) -> Promise {
        let is_synced = |leaf: &Leaf| leaf.synced.is_some();
        match &self.leaves[..] {
            [None] => Promise::Gone,
            leaves if !leaves.iter().flatten().all(is_synced) => Promise::Nothing,
            leaves if leaves.contains(&None) => Promise::IfThere,
            _ => Promise::Kept,
        }
    }

    /// The file in the writer's view.
    pub fn last(&self) -> Option<&Leaf> {
        self.leaves.last()?.as_ref()
    }

    fn last_mut(&mut self) -> Option<&mut Leaf> {
        self.leaves.last_mut()?.as_mut()
    }
}

/// All names, by file number.
#[derive(Debug, Clone, Default)]
pub(super) struct Promises {
    pub names: BTreeMap<u32, Name>,
}

impl Promises {
    /// Promises after `done_count` steps of a plan. One more step may have started.
    pub fn after(seed: u64, done_count: u32) -> Self {
        let mut promises = Self::default();
        // The step after the last report may have started, so its changes are possible but not
        // promised.
        for step in RecoveryPlan::new(seed).take(done_count as usize + 1) {
            promises.begin(&step);
            if step.number < done_count {
                promises.finish(&step);
            }
        }
        promises
    }

    /// Changes that are possible once a step has started.
    fn begin(&mut self, step: &RecoveryStep) {
        let name = self.names.entry(step.file).or_default();
        match step.act {
            RecoveryAct::Create { length_bytes } => {
                let content = LayeredContent::new(length_bytes, step.number);
                name.history.push(content.clone());
                // Until the directory is synced, the name may be missing.
                name.leaves = vec![None, Some(Leaf::of(content))];
            }
            RecoveryAct::Replace { length_bytes } => {
                let content = LayeredContent::new(length_bytes, step.number);
                name.history.push(content.clone());
                name.leaves.push(Some(Leaf::of(content)));
            }
            RecoveryAct::Write {
                at_bytes,
                length_bytes,
            } => {
                let before = name.last().and_then(Leaf::newest);
                let after = before.map(|it| it.written(at_bytes, length_bytes, step.number));
                name.history.extend(after.clone());
                if let Some(leaf) = name.last_mut() {
                    leaf.loose.extend(after);
                }
            }
            // The earlier files stay possible until the directory is synced.
            RecoveryAct::Remove => name.leaves.push(None),
        }
    }

    /// Promises of a completed step.
    fn finish(&mut self, step: &RecoveryStep) {
        let name = self.names.entry(step.file).or_default();
        if step.syncing != Syncing::None
            && let Some(leaf) = name.last_mut()
        {
            leaf.synced = leaf.newest().cloned();
            leaf.loose.clear();
        }
        if !step.syncs_directory {
            return;
        }
        let directory = directory_of(step.file);
        let in_it = |file: &u32| directory_of(*file) == directory;
        for (_, name) in self.names.iter_mut().filter(|(file, _)| in_it(file)) {
            // From now on, only the writer's view is possible, for all names of the directory.
            name.leaves.drain(..name.leaves.len().saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: RecoveryAct = RecoveryAct::Create { length_bytes: 100 };
    const APPEND: RecoveryAct = RecoveryAct::Write {
        at_bytes: 100,
        length_bytes: 50,
    };

    /// What is promised of file 0 after these steps; the last one may only have begun.
    fn promised(steps: &[(u32, RecoveryAct, Syncing, bool)], last_is_done: bool) -> Name {
        let mut promises = Promises::default();
        for (number, (file, act, syncing, syncs_directory)) in (0..).zip(steps) {
            let step = RecoveryStep {
                number,
                file: *file,
                act: *act,
                syncing: *syncing,
                syncs_directory: *syncs_directory,
            };
            promises.begin(&step);
            if last_is_done || number as usize + 1 < steps.len() {
                promises.finish(&step);
            }
        }
        promises.names[&0].clone()
    }

    #[test]
    fn a_new_file_is_promised_when_it_and_its_directory_are_synced() {
        let create = |syncing, syncs_directory| (0, CREATE, syncing, syncs_directory);
        let promise = |step| promised(&[step], true).promise();
        assert_eq!(promise(create(Syncing::All, true)), Promise::Kept);
        assert_eq!(promise(create(Syncing::Data, true)), Promise::Kept);
        assert_eq!(promise(create(Syncing::All, false)), Promise::IfThere);
        assert_eq!(promise(create(Syncing::None, true)), Promise::Nothing);
        let begun = promised(&[create(Syncing::All, true)], false);
        assert_eq!(begun.promise(), Promise::Nothing);
    }

    #[test]
    fn the_sync_of_a_directory_promises_all_names_in_it_and_no_other() {
        let other = |file| (file, CREATE, Syncing::None, true);
        let new = (0, CREATE, Syncing::All, false);
        assert_eq!(promised(&[new, other(6)], true).promise(), Promise::Kept);
        assert_eq!(promised(&[new, other(7)], true).promise(), Promise::IfThere);
        let gone = (0, RecoveryAct::Remove, Syncing::None, false);
        let steps = [(0, CREATE, Syncing::All, true), gone, other(6)];
        assert_eq!(promised(&steps[..2], true).promise(), Promise::IfThere);
        assert_eq!(promised(&steps, true).promise(), Promise::Gone);
    }

    #[test]
    fn what_was_appended_is_promised_once_it_is_synced() {
        let create = (0, CREATE, Syncing::All, true);
        let append = |syncing| (0, APPEND, syncing, false);
        let length = |name: Name| {
            assert_eq!(name.promise(), Promise::Kept);
            name.last().unwrap().synced.as_ref().unwrap().length_bytes
        };
        assert_eq!(
            length(promised(&[create, append(Syncing::None)], true)),
            100
        );
        assert_eq!(
            length(promised(&[create, append(Syncing::All)], false)),
            100
        );
        assert_eq!(
            length(promised(&[create, append(Syncing::Data)], true)),
            150
        );
    }

    #[test]
    fn a_rename_promises_the_old_file_or_the_new_one() {
        let create = (0, CREATE, Syncing::All, true);
        let replace = RecoveryAct::Replace { length_bytes: 7 };
        let of = |syncing, syncs_directory| {
            let name = promised(&[create, (0, replace, syncing, syncs_directory)], true);
            (name.promise(), name.leaves.len())
        };
        assert_eq!(of(Syncing::All, true), (Promise::Kept, 1));
        assert_eq!(of(Syncing::All, false), (Promise::Kept, 2));
        assert_eq!(of(Syncing::None, false), (Promise::Nothing, 2));
    }
}
