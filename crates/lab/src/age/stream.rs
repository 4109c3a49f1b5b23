//! Generates the operations that age files, from a seed and sizes alone.

use generate::Rng;

use super::sizes::FileSizeDistribution;

/// Maximum file size as a part of the capacity.
const LARGEST_PART: u64 = 64;
/// If there is too much data, files are deleted until this part of the capacity is free again.
const BAND_PART: u64 = 50;
/// Percentage of write operations that create a file.
const CREATE_PERCENT: u64 = 50;
/// Percentage that append to a file; the remaining ones overwrite a part of a file.
const APPEND_PERCENT: u64 = 35;
/// An append is this many times smaller than a file.
const APPEND_PART: u64 = 4;

/// One operation on one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AgingOperation {
    pub kind: AgingKind,
    /// Number of the file; numbers are not reused.
    pub file: u32,
    /// Start of the write in the file.
    pub offset_bytes: u64,
    /// Length of the write.
    pub length_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgingKind {
    Create,
    Append,
    Rewrite,
    Delete,
}

/// An existing file.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgedFile {
    pub file: u32,
    pub size_bytes: u64,
}

/// The operations that age a file system. They depend only on the seed, capacity and goals.
#[derive(Debug)]
pub(super) struct AgingStream {
    rng: Rng,
    sizes: FileSizeDistribution,
    block_bytes: u64,
    band_bytes: u64,
    live: Vec<AgedFile>,
    next_file: u32,
    held_bytes: u64,
    /// Files are deleted until space is free again.
    is_freeing_space: bool,
}

impl AgingStream {
    /// Operations for a file system with this capacity and block size.
    pub fn new(seed: u64, capacity_bytes: u64, block_bytes: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            sizes: FileSizeDistribution::up_to(capacity_bytes / LARGEST_PART),
            block_bytes: block_bytes.max(1),
            band_bytes: capacity_bytes / BAND_PART,
            live: Vec::new(),
            next_file: 0,
            held_bytes: 0,
            is_freeing_space: false,
        }
    }

    /// Size of all files, in whole blocks.
    pub const fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// The existing files.
    pub fn live(&self) -> &[AgedFile] {
        &self.live
    }

    /// The next operation to bring the size of all files to `goal_bytes`; `None` when it is
    /// reached.
    pub fn level(&mut self, goal_bytes: u64) -> Option<AgingOperation> {
        if self.held_bytes > goal_bytes {
            return self.delete();
        }
        let room_bytes = goal_bytes - self.held_bytes;
        if room_bytes < self.block_bytes {
            return None;
        }
        let size_bytes = self.sizes.draw(&mut self.rng).min(room_bytes);
        // The last block of the file is occupied as a whole, so the size is cut at a block.
        let size_bytes = match self.placed(size_bytes) > room_bytes {
            true => room_bytes - room_bytes % self.block_bytes,
            false => size_bytes,
        };
        Some(self.create(size_bytes))
    }

    /// The next operation of use, which keeps the size of all files at about `goal_bytes`.
    pub fn churn(&mut self, goal_bytes: u64) -> AgingOperation {
        if self.held_bytes > goal_bytes {
            // Two limits instead of one: otherwise, each creation would be followed by one deletion
            // at the goal.
            self.is_freeing_space = true;
        } else if self.held_bytes.saturating_add(self.band_bytes) <= goal_bytes {
            self.is_freeing_space = false;
        }
        if self.is_freeing_space
            && let Some(operation) = self.delete()
        {
            return operation;
        }
        self.is_freeing_space = false;
        let size_bytes = self.sizes.draw(&mut self.rng);
        let percent = self.rng.below(100);
        if self.live.is_empty() || percent < CREATE_PERCENT {
            return self.create(size_bytes);
        }
        let index = self.rng.below(self.live.len() as u64) as usize;
        match percent < CREATE_PERCENT + APPEND_PERCENT {
            true => self.append(index, size_bytes.div_ceil(APPEND_PART)),
            false => self.rewrite(index, size_bytes),
        }
    }

    /// Reverts an operation that failed for lack of space.
    pub fn revert(&mut self, operation: AgingOperation) {
        let found = self.live.iter().position(|it| it.file == operation.file);
        match (operation.kind, found) {
            (AgingKind::Create, Some(index)) => {
                self.remove(index);
            }
            (AgingKind::Append, Some(index)) => self.resize(index, operation.offset_bytes),
            _ => {}
        }
    }

    fn create(&mut self, size_bytes: u64) -> AgingOperation {
        let file = self.next_file;
        self.next_file += 1;
        self.live.push(AgedFile { file, size_bytes });
        self.held_bytes += self.placed(size_bytes);
        AgingOperation {
            kind: AgingKind::Create,
            file,
            offset_bytes: 0,
            length_bytes: size_bytes,
        }
    }

    fn append(&mut self, index: usize, length_bytes: u64) -> AgingOperation {
        let AgedFile { file, size_bytes } = self.live[index];
        self.resize(index, size_bytes + length_bytes);
        AgingOperation {
            kind: AgingKind::Append,
            file,
            offset_bytes: size_bytes,
            length_bytes,
        }
    }

    /// Overwrites whole blocks of a file, or the existing part of its last block.
    fn rewrite(&mut self, index: usize, length_bytes: u64) -> AgingOperation {
        let AgedFile { file, size_bytes } = self.live[index];
        let block_count = size_bytes.div_ceil(self.block_bytes);
        let offset_bytes = self.rng.below(block_count) * self.block_bytes;
        let length_bytes = self.placed(length_bytes).min(size_bytes - offset_bytes);
        AgingOperation {
            kind: AgingKind::Rewrite,
            file,
            offset_bytes,
            length_bytes,
        }
    }

    fn delete(&mut self) -> Option<AgingOperation> {
        let index = self.rng.below(self.live.len() as u64) as usize;
        (!self.live.is_empty()).then(|| AgingOperation {
            kind: AgingKind::Delete,
            file: self.remove(index).file,
            offset_bytes: 0,
            length_bytes: 0,
        })
    }

    fn remove(&mut self, index: usize) -> AgedFile {
        // The order of the files does not matter, because all are equally likely to be chosen.
        let removed = self.live.swap_remove(index);
        self.held_bytes -= self.placed(removed.size_bytes);
        removed
    }

    fn resize(&mut self, index: usize, size_bytes: u64) {
        let before_bytes = self.placed(self.live[index].size_bytes);
        self.live[index].size_bytes = size_bytes;
        self.held_bytes = self.held_bytes - before_bytes + self.placed(size_bytes);
    }

    const fn placed(&self, size_bytes: u64) -> u64 {
        size_bytes.next_multiple_of(self.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const CAPACITY_BYTES: u64 = 64 << 20;

    fn operations(seed: u64, goal_bytes: u64, count: usize) -> (AgingStream, Vec<AgingOperation>) {
        let mut stream = AgingStream::new(seed, CAPACITY_BYTES, 4096);
        let mut operations = Vec::new();
        while let Some(operation) = stream.level(goal_bytes) {
            operations.push(operation);
        }
        operations.extend((0..count).map(|_| stream.churn(goal_bytes)));
        (stream, operations)
    }

    #[test]
    fn filling_creates_files_until_the_goal_is_met() {
        let (stream, operations) = operations(1, 40 << 20, 0);
        assert!(operations.iter().all(|it| it.kind == AgingKind::Create));
        assert_eq!(stream.held_bytes(), 40 << 20);
    }

    #[test]
    fn churn_has_all_kinds_of_operations() {
        let (_, operations) = operations(1, 40 << 20, 5000);
        for kind in [
            AgingKind::Create,
            AgingKind::Append,
            AgingKind::Rewrite,
            AgingKind::Delete,
        ] {
            let count = operations.iter().filter(|it| it.kind == kind).count();
            assert!(count > 300, "{kind:?}: {count}");
        }
    }

    #[test]
    fn a_withdrawn_operation_leaves_no_trace() {
        let (mut stream, _) = operations(3, 40 << 20, 100);
        for _ in 0..500 {
            let before = (stream.held_bytes(), stream.live().len());
            let operation = stream.churn(u64::MAX);
            stream.revert(operation);
            assert_eq!((stream.held_bytes(), stream.live().len()), before);
        }
    }

    #[test]
    fn without_files_there_is_nothing_to_delete() {
        assert_eq!(AgingStream::new(1, CAPACITY_BYTES, 4096).delete(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn the_same_seed_gives_the_same_operations(seed: u64, goal_mib in 1_u64..60) {
            let once = operations(seed, goal_mib << 20, 300).1;
            prop_assert_eq!(&once, &operations(seed, goal_mib << 20, 300).1);
            prop_assert_ne!(once, operations(seed ^ 1, goal_mib << 20, 300).1);
        }

        #[test]
        fn files_stay_near_the_goal_and_held_bytes_is_their_sum(
            seed: u64,
            goal_mib in 4_u64..60,
        ) {
            let goal_bytes = goal_mib << 20;
            let mut stream = AgingStream::new(seed, CAPACITY_BYTES, 4096);
            while stream.level(goal_bytes).is_some() {}
            for _ in 0..2000 {
                stream.churn(goal_bytes);
                // One file, or what is appended to it, may be too much; then files go.
                prop_assert!(stream.held_bytes() <= goal_bytes + CAPACITY_BYTES / LARGEST_PART);
            }
            let sum: u64 = stream.live().iter().map(|it| stream.placed(it.size_bytes)).sum();
            prop_assert_eq!(sum, stream.held_bytes());
        }

        #[test]
        fn operations_fit_the_files_that_are_there(seed: u64) {
            let mut sizes = HashMap::new();
            for operation in operations(seed, 20 << 20, 1000).1 {
                let AgingOperation { kind, file, offset_bytes, length_bytes } = operation;
                let end_bytes = offset_bytes + length_bytes;
                match kind {
                    AgingKind::Create => prop_assert_eq!(sizes.insert(file, end_bytes), None),
                    AgingKind::Append => {
                        prop_assert_eq!(sizes.insert(file, end_bytes), Some(offset_bytes));
                    }
                    AgingKind::Rewrite => {
                        prop_assert!(length_bytes > 0 && end_bytes <= sizes[&file]);
                    }
                    AgingKind::Delete => prop_assert!(sizes.remove(&file).is_some()),
                }
                prop_assert_eq!(length_bytes == 0, kind == AgingKind::Delete);
            }
        }
    }
}
