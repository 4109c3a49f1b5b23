//! What the writer does, step by step, as it follows from the seed.

use crate::schedule::next;

/// Steps of one plan: few enough that the words about them fit into a pipe that nobody reads.
const STEPS_MAX: u32 = 2000;
/// Steps of a round, and where its parts end.
pub(super) const ROUND: u32 = 64;
const NAMES_END: u32 = 16;
pub(super) const FILES_END: u32 = 40;
/// Files that there are at least, and at most, once there are any.
const LIVE_MIN: usize = 12;
const LIVE_MAX: usize = 120;
/// The directories, each below one that stands before it.
pub(crate) const DIRECTORIES: [&str; 6] = ["a", "a/b", "a/b/c", "d", "e", "f"];
/// What follows the name of a file that is to be renamed.
const DRAFT: &str = ".new";

/// All that the writer does.
#[derive(Debug, Clone)]
pub struct Plan {
    random: u64,
    live: Vec<Live>,
    next_number: u32,
    next_file: u32,
}

/// A file that is there.
#[derive(Debug, Clone, Copy)]
struct Live {
    file: u32,
    length_bytes: u64,
}

/// One thing that is done to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// 0-based; also the version of what it writes.
    pub number: u32,
    /// Which file; a number is never used again.
    pub file: u32,
    /// What is done.
    pub act: Act,
    /// How the file is synced afterwards.
    pub syncing: Syncing,
    /// Whether its directory is synced after that.
    pub syncs_directory: bool,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It is made.
    Create {
        /// Its length.
        length_bytes: u64,
    },
    /// A part of it is written, which may lie beyond its end.
    Write {
        /// Where.
        at_bytes: u64,
        /// How much.
        length_bytes: u64,
    },
    /// Another one is made, and gets its name.
    Replace {
        /// The other one's length.
        length_bytes: u64,
    },
    /// It is removed.
    Remove,
}

/// The parts of a round. File systems make all of their state durable for some kinds of steps, and
/// write only a log of what is new for others; so those are done first, and the crash meets long
/// rows of these, which are what is recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Everything, and directories are synced.
    Names,
    /// Files are made and written, by `fsync` and `fdatasync`.
    Files,
    /// Files are written over in place, by `fdatasync` alone.
    Data,
}

impl Part {
    const fn of(number: u32) -> Self {
        match number % ROUND {
            0..NAMES_END => Self::Names,
            NAMES_END..FILES_END => Self::Files,
            _ => Self::Data,
        }
    }
}

/// How a file is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syncing {
    /// Not at all.
    None,
    /// By `fdatasync`.
    Data,
    /// By `fsync`.
    All,
}

impl Plan {
    /// The plan of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            random: seed,
            live: Vec::new(),
            next_number: 0,
            next_file: 0,
        }
    }

    /// A number below this.
    fn below(&mut self, limit: u64) -> u64 {
        next(&mut self.random) % limit.max(1)
    }

    fn syncing(&mut self, part: Part) -> Syncing {
        match self.below(20) {
            0..3 => Syncing::None,
            3..11 => Syncing::Data,
            _ if part == Part::Data => Syncing::Data,
            _ => Syncing::All,
        }
    }

    /// Most files are small, and few lengths fit blocks.
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

    fn create(&mut self) -> (u32, Act) {
        let length_bytes = self.length_bytes();
        let file = self.next_file;
        self.next_file += 1;
        self.live.push(Live { file, length_bytes });
        (file, Act::Create { length_bytes })
    }

    fn act(&mut self, part: Part) -> (u32, Act) {
        let live_count = self.live.len();
        let kind = self.below(100);
        let may_grow = part != Part::Data;
        if live_count < LIVE_MIN || (may_grow && kind < 25 && live_count < LIVE_MAX) {
            return self.create();
        }
        let place = self.below(live_count as u64) as usize;
        let Live { file, length_bytes } = self.live[place];
        let act = match kind {
            85.. if part == Part::Names => {
                self.live.swap_remove(place);
                return (file, Act::Remove);
            }
            60..85 if part == Part::Names => Act::Replace {
                length_bytes: self.length_bytes(),
            },
            // Something is appended.
            _ if may_grow && kind.is_multiple_of(2) => Act::Write {
                at_bytes: length_bytes,
                length_bytes: self.length_bytes().min(64 << 10),
            },
            _ => {
                let at_bytes = self.below(length_bytes);
                Act::Write {
                    at_bytes,
                    length_bytes: 1 + self.below(length_bytes - at_bytes),
                }
            }
        };
        self.live[place].length_bytes = act.length_after(length_bytes);
        (file, act)
    }
}

impl Act {
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

impl Iterator for Plan {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let number = self.next_number;
        if number == STEPS_MAX {
            return None;
        }
        self.next_number += 1;
        let part = Part::of(number);
        let (file, act) = self.act(part);
        let syncing = match act {
            Act::Remove => Syncing::None,
            _ => self.syncing(part),
        };
        let is_new_name = !matches!(act, Act::Write { .. });
        let syncs_directory = part == Part::Names && self.below(2) == 0;
        Some(Step {
            number,
            file,
            act,
            syncing,
            syncs_directory: syncs_directory && is_new_name,
        })
    }
}

/// The directory of a file, by its place.
pub(crate) const fn directory_of(file: u32) -> usize {
    file as usize % DIRECTORIES.len()
}

/// Where a file is.
pub(crate) fn path_of(file: u32) -> String {
    format!("{}/f{file}", DIRECTORIES[directory_of(file)])
}

/// Where what is to get its name is first.
pub(crate) fn draft_of(file: u32) -> String {
    path_of(file) + DRAFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_plans_alike_and_another_does_not() {
        let of = |seed| Plan::new(seed).collect::<Vec<_>>();
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
        assert_eq!(of(3).len(), STEPS_MAX as usize);
    }

    #[test]
    fn every_kind_of_step_comes_and_all_files_fit_a_small_image() {
        let mut total_bytes = 0;
        let mut kinds = std::collections::BTreeSet::new();
        for step in Plan::new(9) {
            let (kind, length_bytes) = match step.act {
                Act::Create { length_bytes } => ("create", length_bytes),
                Act::Write { length_bytes, .. } => ("write", length_bytes),
                Act::Replace { length_bytes } => ("replace", length_bytes),
                Act::Remove => ("remove", 0),
            };
            total_bytes += length_bytes;
            kinds.insert(format!(
                "{kind} {:?} {}",
                step.syncing, step.syncs_directory
            ));
        }
        assert_eq!(kinds.len(), 6 + 3 + 6 + 2, "{kinds:?}");
        assert!(total_bytes < 128 << 20, "{total_bytes}");
    }

    #[test]
    fn rounds_end_with_many_steps_that_make_little_durable() {
        for step in Plan::new(1) {
            let place = step.number % ROUND;
            assert!(place < NAMES_END || !step.syncs_directory);
            assert!(place < FILES_END || step.syncing != Syncing::All);
        }
    }

    #[test]
    fn only_files_that_are_there_are_written() {
        let mut live = std::collections::BTreeMap::new();
        for step in Plan::new(11) {
            match step.act {
                Act::Create { length_bytes } => {
                    assert_eq!(live.insert(step.file, length_bytes), None);
                }
                Act::Remove => assert!(live.remove(&step.file).is_some()),
                act => {
                    let length = live.get_mut(&step.file).unwrap();
                    if let Act::Write { at_bytes, .. } = act {
                        assert!(at_bytes <= *length);
                    }
                    *length = act.length_after(*length);
                }
            }
        }
    }
}
