//! Walks through directories, name by name.

use plan::program::{DirectoryTree, DirectoryWalk, FilesetPlan};

use super::states::FileStates;

/// Directories of a fileset, one after another.
#[derive(Debug)]
pub(super) struct WalkCode {
    pub fileset: u8,
    pub handle: u8,
    /// First instruction of the acts after a directory was read.
    pub after: u16,
    /// Number of files.
    pub count: u32,
    /// Number in the first file's name.
    first: u32,
    placing: Placing,
    /// Number of the first directory with files, and of the one after the last.
    begin: u32,
    end: u32,
}

/// Distribution of files over directories.
#[derive(Debug, Clone, Copy)]
enum Placing {
    /// Files in turn, over this many directories.
    RoundRobin(u32),
    /// This many consecutive files per directory.
    Blocks(u32),
}

/// Progress of a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WalkProgress {
    directory: u32,
    pub is_open: bool,
    /// Next file number that can be in the directory.
    next: u32,
}

impl WalkCode {
    pub(super) fn new(walk: &DirectoryWalk, fileset: &FilesetPlan) -> Self {
        let (count, first) = (fileset.count, fileset.names.first());
        let (placing, begin) = match fileset.tree {
            DirectoryTree::Turns { directories } => (Placing::RoundRobin(directories.max(1)), 0),
            DirectoryTree::Blocks { each } | DirectoryTree::Nested { each, .. } => {
                let per_directory = each.max(1);
                // Directories are numbered like the names of their files, which begin with `first`.
                (Placing::Blocks(per_directory), first / per_directory)
            }
            _ => (Placing::RoundRobin(1), 0),
        };
        Self {
            fileset: walk.fileset,
            handle: walk.handle,
            after: 0,
            count,
            first,
            placing,
            begin,
            end: fileset.directory_count().max(1),
        }
    }

    pub(super) const fn start(&self) -> WalkProgress {
        WalkProgress {
            directory: self.begin,
            is_open: false,
            next: self.first_file(self.begin),
        }
    }

    /// The next directory; `None` after the last one.
    pub(super) fn after(&self, walking: WalkProgress) -> Option<WalkProgress> {
        let directory = walking.directory + 1;
        let next = self.first_file(directory);
        let exists = directory < self.end && next < self.count;
        exists.then_some(WalkProgress {
            directory,
            is_open: false,
            next,
        })
    }

    /// Number of the first file in a directory.
    pub(super) const fn first_file(&self, directory: u32) -> u32 {
        match self.placing {
            Placing::RoundRobin(_) => directory,
            // Files are numbered from 0, but names from `first`.
            Placing::Blocks(each) => directory.saturating_mul(each).saturating_sub(self.first),
        }
    }

    /// Result of an engine without directories: one more than the next file that exists, or 0.
    pub(super) fn expected(&self, walking: &mut WalkProgress, states: &FileStates) -> u32 {
        let (end, step) = match self.placing {
            Placing::RoundRobin(step) => (self.count, step),
            Placing::Blocks(_) => (self.first_file(walking.directory + 1).min(self.count), 1),
        };
        while walking.next < end {
            let file = walking.next;
            walking.next = file.saturating_add(step);
            if states.is_present(file) {
                return file + 1;
            }
        }
        0
    }
}

impl WalkProgress {
    /// Number of a name in the directory that is being read.
    pub(super) const fn name(&self, code: &WalkCode) -> u32 {
        code.first_file(self.directory)
    }
}

#[cfg(test)]
mod tests {
    use plan::program::FileNames;

    use super::*;
    use crate::program::states::FileClaim;

    fn fileset(count: u32, first: u32, tree: DirectoryTree) -> FilesetPlan {
        FilesetPlan {
            name: "some".to_owned(),
            path: String::new(),
            copies: plan::program::FilesetSharing::One,
            count,
            names: FileNames::NumberFrom {
                first,
                before: String::new(),
                digits: 0,
                after: String::new(),
            },
            tree,
            size: plan::program::Law::fixed(0),
            present_permille: 0,
        }
    }

    /// The files of each directory, where all are there.
    fn files_by_directory(fileset: &FilesetPlan) -> Vec<Vec<u32>> {
        let states = FileStates::new(fileset.count, false);
        for file in 0..fileset.count {
            states.claim(file, plan::program::FileFilter::Any, FileClaim::Exclusive);
            states.mark_present(file, false);
        }
        let walk = DirectoryWalk {
            fileset: 0,
            handle: 0,
            each: Vec::new(),
            after: Vec::new(),
        };
        let code = WalkCode::new(&walk, fileset);
        let mut directories = Vec::new();
        let mut walking = Some(code.start());
        while let Some(mut now) = walking {
            let mut next = || code.expected(&mut now, &states).checked_sub(1);
            let files: Vec<u32> = std::iter::from_fn(&mut next).collect();
            assert_eq!(Some(&code.first_file(now.directory)), files.first());
            directories.push(files);
            walking = code.after(now);
        }
        directories
    }

    #[test]
    fn each_directory_lists_its_own_files() {
        let all = |tree| files_by_directory(&fileset(5, 0, tree));
        assert_eq!(all(DirectoryTree::Flat), [[0, 1, 2, 3, 4]]);
        let turns = DirectoryTree::Turns { directories: 2 };
        assert_eq!(all(turns), [vec![0, 2, 4], vec![1, 3]]);
        let blocks = DirectoryTree::Blocks { each: 3 };
        assert_eq!(all(blocks.clone()), [vec![0, 1, 2], vec![3, 4]]);
        let later = files_by_directory(&fileset(5, 4, blocks));
        assert_eq!(later, [vec![0, 1], vec![2, 3, 4]]);
        let few = DirectoryTree::Turns { directories: 9 };
        assert_eq!(files_by_directory(&fileset(2, 0, few)), [[0], [1]]);
    }
}
