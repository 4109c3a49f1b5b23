//! The writer's steps, derived from the seed.

use stats::SplitMixRng;

/// Maximum number of steps in a plan. Their output fits into a pipe that nobody reads.
const STEPS_MAX: u32 = 2000;
/// Number of steps per round, and ends of its parts.
pub(super) const ROUND: u32 = 64;
const NAMES_END: u32 = 16;
pub(super) const FILES_END: u32 = 40;
/// Minimum and maximum number of files, once there are any.
const LIVE_MIN: usize = 12;
const LIVE_MAX: usize = 120;
/// The directories; parents come before their children.
pub(crate) const DIRECTORIES: [&str; 6] = ["a", "a/b", "a/b/c", "d", "e", "f"];
/// Suffix of a file that will be renamed.
const DRAFT_SUFFIX: &str = ".new";

/// All steps of the writer.
#[derive(Debug, Clone)]
pub struct RecoveryPlan {
    rng: SplitMixRng,
    live: Vec<WriterFile>,
    next_number: u32,
    next_file: u32,
}

/// An existing file.
#[derive(Debug, Clone, Copy)]
struct WriterFile {
    file: u32,
    length_bytes: u64,
}

/// An operation on one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryStep {
    /// Number of the step, 0-based; also the version of the data that it writes.
    pub number: u32,
    /// Number of the file; numbers are not reused.
    pub file: u32,
    /// The operation on the file.
    pub operation: RecoveryOperation,
    /// How the file is synced afterwards.
    pub sync: SyncKind,
    /// `true` if its directory is synced after that.
    pub syncs_directory: bool,
}

/// An operation on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryOperation {
    /// Creates the file.
    Create {
        /// Length of the file.
        length_bytes: u64,
    },
    /// Writes a part of the file, possibly beyond its end.
    Write {
        /// Offset of the write.
        at_bytes: u64,
        /// Length of the write.
        length_bytes: u64,
    },
    /// Creates another file and renames it over this one.
    Replace {
        /// Length of the other file.
        length_bytes: u64,
    },
    /// Removes the file.
    Remove,
}

/// The parts of a round. For some kinds of steps, file systems make all of their state durable; for
/// others, they write only a log of the changes. The former come first, so that the crash occurs
/// after many of the latter, whose logs are recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundPart {
    /// All operations, including syncs of directories.
    Names,
    /// Creates and writes files, with `fsync` and `fdatasync`.
    Files,
    /// Overwrites files in place, with `fdatasync` only.
    Data,
}

impl RoundPart {
    const fn of(number: u32) -> Self {
        match number % ROUND {
            0..NAMES_END => Self::Names,
            NAMES_END..FILES_END => Self::Files,
            _ => Self::Data,
        }
    }
}

/// How a file is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// Not synced.
    None,
    /// `fdatasync`.
    Data,
    /// `fsync`.
    All,
}

impl RecoveryPlan {
    /// The plan for this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            rng: SplitMixRng::new(seed),
            live: Vec::new(),
            next_number: 0,
            next_file: 0,
        }
    }

    /// A random number below the limit.
    fn below(&mut self, limit: u64) -> u64 {
        self.rng.next_u64() % limit.max(1)
    }

    fn syncing(&mut self, part: RoundPart) -> SyncKind {
        match self.below(20) {
            // Some steps are not synced, to show what a file system keeps beyond its guarantees.
            0..3 => SyncKind::None,
            3..11 => SyncKind::Data,
            _ if part == RoundPart::Data => SyncKind::Data,
            _ => SyncKind::All,
        }
    }

    /// Most files are small, and few lengths are multiples of the block size.
    fn length_bytes(&mut self) -> u64 {
        let most = match self.below(20) {
            0..6 => 200,
            6..13 => 8 << 10,
            13..19 => 64 << 10,
            _ => 512 << 10,
        };
        let length_bytes = 1 + self.below(most);
        match self.below(4) {
            0 => length_bytes.next_multiple_of(4096),
            _ => length_bytes,
        }
    }

    fn create(&mut self) -> (u32, RecoveryOperation) {
        let length_bytes = self.length_bytes();
        let file = self.next_file;
        self.next_file += 1;
        self.live.push(WriterFile { file, length_bytes });
        (file, RecoveryOperation::Create { length_bytes })
    }

    fn act(&mut self, part: RoundPart) -> (u32, RecoveryOperation) {
        let live_count = self.live.len();
        let kind = self.below(100);
        let may_grow = part != RoundPart::Data;
        // Bounded, so that all files fit into a small image.
        if live_count < LIVE_MIN || (may_grow && kind < 25 && live_count < LIVE_MAX) {
            return self.create();
        }
        let index = self.below(live_count as u64) as usize;
        let WriterFile { file, length_bytes } = self.live[index];
        let act = match kind {
            85.. if part == RoundPart::Names => {
                self.live.swap_remove(index);
                return (file, RecoveryOperation::Remove);
            }
            60..85 if part == RoundPart::Names => RecoveryOperation::Replace {
                length_bytes: self.length_bytes(),
            },
            // Appends.
            _ if may_grow && kind.is_multiple_of(2) => RecoveryOperation::Write {
                at_bytes: length_bytes,
                // Repeated appends would otherwise make files too large for a small image.
                length_bytes: self.length_bytes().min(64 << 10),
            },
            _ => {
                let at_bytes = self.below(length_bytes);
                RecoveryOperation::Write {
                    at_bytes,
                    length_bytes: 1 + self.below(length_bytes - at_bytes),
                }
            }
        };
        self.live[index].length_bytes = act.length_after(length_bytes);
        (file, act)
    }
}

impl RecoveryOperation {
    const fn length_after(self, before_bytes: u64) -> u64 {
        match self {
            Self::Create { length_bytes } | Self::Replace { length_bytes } => length_bytes,
            Self::Write {
                at_bytes,
                length_bytes,
            } => {
                if at_bytes + length_bytes > before_bytes {
                    at_bytes + length_bytes
                } else {
                    before_bytes
                }
            }
            Self::Remove => 0,
        }
    }
}

impl Iterator for RecoveryPlan {
    type Item = RecoveryStep;

    fn next(&mut self) -> Option<RecoveryStep> {
        let number = self.next_number;
        if number == STEPS_MAX {
            return None;
        }
        self.next_number += 1;
        let part = RoundPart::of(number);
        let (file, act) = self.act(part);
        let syncing = match act {
            RecoveryOperation::Remove => SyncKind::None,
            _ => self.syncing(part),
        };
        let is_new_name = !matches!(act, RecoveryOperation::Write { .. });
        let syncs_directory = part == RoundPart::Names && self.below(2) == 0;
        Some(RecoveryStep {
            number,
            file,
            operation: act,
            sync: syncing,
            syncs_directory: syncs_directory && is_new_name,
        })
    }
}

/// Index of a file's directory.
pub(crate) const fn directory_of(file: u32) -> usize {
    file as usize % DIRECTORIES.len()
}

pub(crate) fn path_of(file: u32) -> String {
    format!("{}/f{file}", DIRECTORIES[directory_of(file)])
}

/// Path of a new file before it is renamed over the file.
pub(crate) fn draft_of(file: u32) -> String {
    path_of(file) + DRAFT_SUFFIX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_plan_and_a_new_seed_a_new_one() {
        let of = |seed| RecoveryPlan::new(seed).collect::<Vec<_>>();
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
        assert_eq!(of(3).len(), STEPS_MAX as usize);
    }

    #[test]
    fn every_kind_of_step_occurs_and_all_files_fit_a_small_image() {
        let mut total_bytes = 0;
        let mut kinds = std::collections::BTreeSet::new();
        for step in RecoveryPlan::new(9) {
            let (kind, length_bytes) = match step.operation {
                RecoveryOperation::Create { length_bytes } => ("create", length_bytes),
                RecoveryOperation::Write { length_bytes, .. } => ("write", length_bytes),
                RecoveryOperation::Replace { length_bytes } => ("replace", length_bytes),
                RecoveryOperation::Remove => ("remove", 0),
            };
            total_bytes += length_bytes;
            kinds.insert(format!("{kind} {:?} {}", step.sync, step.syncs_directory));
        }
        assert_eq!(kinds.len(), 6 + 3 + 6 + 2, "{kinds:?}");
        assert!(total_bytes < 128 << 20, "{total_bytes}");
    }

    #[test]
    fn rounds_end_with_many_steps_that_sync_little() {
        for step in RecoveryPlan::new(1) {
            let position = step.number % ROUND;
            assert!(position < NAMES_END || !step.syncs_directory);
            assert!(position < FILES_END || step.sync != SyncKind::All);
        }
    }

    #[test]
    fn only_existing_files_are_written() {
        let mut live = std::collections::BTreeMap::new();
        for step in RecoveryPlan::new(11) {
            match step.operation {
                RecoveryOperation::Create { length_bytes } => {
                    assert_eq!(live.insert(step.file, length_bytes), None);
                }
                RecoveryOperation::Remove => assert!(live.remove(&step.file).is_some()),
                act => {
                    let length = live.get_mut(&step.file).unwrap();
                    if let RecoveryOperation::Write { at_bytes, .. } = act {
                        assert!(at_bytes <= *length);
                    }
                    *length = act.length_after(*length);
                }
            }
        }
    }
}
