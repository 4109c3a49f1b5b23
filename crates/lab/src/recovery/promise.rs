//! Guarantees that follow from the completed steps.
//!
//! `fsync` and `fdatasync` of a file guarantee all data written to it so far. `fsync` of a
//! directory guarantees all names in it. Source: POSIX.1-2017, `fsync`, `fdatasync`; Linux,
//! fsync(2), "Notes" of the directory. Unsynced data may be there completely, in part or not at
//! all.

use std::collections::BTreeMap;

use super::content::LayeredContent;
use super::plan::{RecoveryOperation, RecoveryPlan, RecoveryStep, SyncKind, directory_of};

/// A file to which a name may refer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PossibleFile {
    /// Content at the last sync.
    pub synced: Option<LayeredContent>,
    /// Content after each later write.
    pub unsynced: Vec<LayeredContent>,
}

impl PossibleFile {
    fn of(content: LayeredContent) -> Self {
        Self {
            synced: None,
            unsynced: vec![content],
        }
    }

    /// Content after the last write.
    pub fn newest(&self) -> Option<&LayeredContent> {
        self.unsynced.last().or(self.synced.as_ref())
    }
}

/// Possible states of a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NameState {
    /// Files to which it may refer, `None` for no file; the last one is the writer's view.
    pub candidates: Vec<Option<PossibleFile>>,
    /// Every content that the name ever had.
    pub history: Vec<LayeredContent>,
}

/// Guarantee for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// One of several files, each with its synced data.
    Present,
    /// No file.
    Absent,
    /// No file, or one of several files, each with its synced data.
    Optional,
    /// No guarantee.
    None,
}

impl NameState {
    pub fn promise(&self) -> Promise {
        let is_synced = |leaf: &PossibleFile| leaf.synced.is_some();
        match &self.candidates[..] {
            [None] => Promise::Absent,
            leaves if !leaves.iter().flatten().all(is_synced) => Promise::None,
            leaves if leaves.contains(&None) => Promise::Optional,
            _ => Promise::Present,
        }
    }

    /// The file in the writer's view.
    pub fn last(&self) -> Option<&PossibleFile> {
        self.candidates.last()?.as_ref()
    }

    fn last_mut(&mut self) -> Option<&mut PossibleFile> {
        self.candidates.last_mut()?.as_mut()
    }
}

/// All names, by file number.
#[derive(Debug, Clone, Default)]
pub(super) struct Promises {
    pub names: BTreeMap<u32, NameState>,
}

impl Promises {
    /// Guarantees after `done_count` steps of a plan. One more step may have started.
    pub fn after(seed: u64, done_count: u32) -> Self {
        let mut promises = Self::default();
        // The step after the last report may have started, so its changes are possible but not
        // guaranteed.
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
        match step.operation {
            RecoveryOperation::Create { length_bytes } => {
                let content = LayeredContent::new(length_bytes, step.number);
                name.history.push(content.clone());
                // Until the directory is synced, the name may be missing.
                name.candidates = vec![None, Some(PossibleFile::of(content))];
            }
            RecoveryOperation::Replace { length_bytes } => {
                let content = LayeredContent::new(length_bytes, step.number);
                name.history.push(content.clone());
                name.candidates.push(Some(PossibleFile::of(content)));
            }
            RecoveryOperation::Write {
                at_bytes,
                length_bytes,
            } => {
                let before = name.last().and_then(PossibleFile::newest);
                let after = before.map(|it| it.written(at_bytes, length_bytes, step.number));
                name.history.extend(after.clone());
                if let Some(leaf) = name.last_mut() {
                    leaf.unsynced.extend(after);
                }
            }
            // The earlier files stay possible until the directory is synced.
            RecoveryOperation::Remove => name.candidates.push(None),
        }
    }

    /// Adds the guarantees of a completed step.
    fn finish(&mut self, step: &RecoveryStep) {
        let name = self.names.entry(step.file).or_default();
        if step.sync != SyncKind::None
            && let Some(leaf) = name.last_mut()
        {
            leaf.synced = leaf.newest().cloned();
            leaf.unsynced.clear();
        }
        if !step.syncs_directory {
            return;
        }
        let directory = directory_of(step.file);
        let in_it = |file: &u32| directory_of(*file) == directory;
        for (_, name) in self.names.iter_mut().filter(|(file, _)| in_it(file)) {
            // From now on, only the writer's view is possible, for all names of the directory.
            name.candidates
                .drain(..name.candidates.len().saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: RecoveryOperation = RecoveryOperation::Create { length_bytes: 100 };
    const APPEND: RecoveryOperation = RecoveryOperation::Write {
        at_bytes: 100,
        length_bytes: 50,
    };

    /// State of file 0 after these steps; unless `last_is_done`, the last step has only started.
    fn promised(
        steps: &[(u32, RecoveryOperation, SyncKind, bool)],
        last_is_done: bool,
    ) -> NameState {
        let mut promises = Promises::default();
        for (number, (file, act, syncing, syncs_directory)) in (0..).zip(steps) {
            let step = RecoveryStep {
                number,
                file: *file,
                operation: *act,
                sync: *syncing,
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
        assert_eq!(promise(create(SyncKind::All, true)), Promise::Present);
        assert_eq!(promise(create(SyncKind::Data, true)), Promise::Present);
        assert_eq!(promise(create(SyncKind::All, false)), Promise::Optional);
        assert_eq!(promise(create(SyncKind::None, true)), Promise::None);
        let begun = promised(&[create(SyncKind::All, true)], false);
        assert_eq!(begun.promise(), Promise::None);
    }

    #[test]
    fn a_directory_sync_promises_exactly_the_names_in_it() {
        let other = |file| (file, CREATE, SyncKind::None, true);
        let new = (0, CREATE, SyncKind::All, false);
        assert_eq!(promised(&[new, other(6)], true).promise(), Promise::Present);
        assert_eq!(
            promised(&[new, other(7)], true).promise(),
            Promise::Optional
        );
        let removal = (0, RecoveryOperation::Remove, SyncKind::None, false);
        let steps = [(0, CREATE, SyncKind::All, true), removal, other(6)];
        assert_eq!(promised(&steps[..2], true).promise(), Promise::Optional);
        assert_eq!(promised(&steps, true).promise(), Promise::Absent);
    }

    #[test]
    fn appended_bytes_are_promised_after_a_sync() {
        let create = (0, CREATE, SyncKind::All, true);
        let append = |syncing| (0, APPEND, syncing, false);
        let length = |name: NameState| {
            assert_eq!(name.promise(), Promise::Present);
            name.last().unwrap().synced.as_ref().unwrap().length_bytes
        };
        assert_eq!(
            length(promised(&[create, append(SyncKind::None)], true)),
            100
        );
        assert_eq!(
            length(promised(&[create, append(SyncKind::All)], false)),
            100
        );
        assert_eq!(
            length(promised(&[create, append(SyncKind::Data)], true)),
            150
        );
    }

    #[test]
    fn a_rename_promises_the_old_file_or_the_new_one() {
        let create = (0, CREATE, SyncKind::All, true);
        let replace = RecoveryOperation::Replace { length_bytes: 7 };
        let of = |syncing, syncs_directory| {
            let name = promised(&[create, (0, replace, syncing, syncs_directory)], true);
            (name.promise(), name.candidates.len())
        };
        assert_eq!(of(SyncKind::All, true), (Promise::Present, 1));
        assert_eq!(of(SyncKind::All, false), (Promise::Present, 2));
        assert_eq!(of(SyncKind::None, false), (Promise::None, 2));
    }
}
