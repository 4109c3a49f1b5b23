//! One pass over files: what is done to each, and in which order.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order files are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they are numbered.
    #[default]
    Forward,
    /// From the last to the first.
    Reverse,
    /// In a random order that follows from the seed.
    Random,
}

impl Order {
    /// The name in workload files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Random => "random",
        }
    }
}

/// How a file is made durable before it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileSync {
    /// Not at all.
    #[default]
    None,
    /// By `fsync`.
    Fsync,
    /// By `fdatasync`.
    Fdatasync,
}

/// What is done to each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// Create it, write it from start to end, close it.
    Create {
        /// Bytes of the file.
        size_bytes: u64,
        /// Bytes of one write, at least 1; the last one of a file is shorter.
        write_bytes: u32,
        /// Whether a file of 0 bytes gets a write of 0 bytes all the same.
        is_empty_written: bool,
        /// What comes before the close.
        sync: FileSync,
        /// Whether its directory is made before every file, which fails if it is there.
        is_directory_made: bool,
    },
    /// Open it to read, `fsync` it, close it.
    Sync,
    /// Read its attributes by name.
    Stat,
    /// Remove it.
    Remove,
}

impl Chain {
    /// The name of its transactions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Sync => "sync",
            Self::Stat => "stat",
            Self::Remove => "remove",
        }
    }
}

/// One worker's pass over its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassPlan {
    /// What is done to each file.
    pub chain: Chain,
    /// In which order.
    pub order: Order,
    /// The files, as indexes of the worker's fileset.
    pub files: Range<u32>,
    /// Files worked on at once, at least 1.
    pub iodepth: u32,
    /// Where a random order comes from.
    pub seed: u64,
}

/// The files of one of `worker_count` workers: as many as the others', or one more; the shares
/// follow each other. A worker beyond the last has none.
#[must_use]
pub fn share(file_count: u32, worker_index: u32, worker_count: u32) -> Range<u32> {
    let start = |index: u32| {
        let worker_count = u64::from(worker_count.max(1));
        let index = u64::from(index).min(worker_count);
        // At most `file_count`, as the index is at most the number of workers.
        (u64::from(file_count) * index / worker_count) as u32
    };
    start(worker_index)..start(worker_index.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::share;

    proptest! {
        #[test]
        fn shares_cover_all_files_and_differ_by_one_at_most(
            file_count: u32,
            worker_count in 1_u32..200,
        ) {
            let mut end = 0;
            for worker_index in 0..worker_count {
                let files = share(file_count, worker_index, worker_count);
                prop_assert_eq!(files.start, end);
                let length = files.len() as u32;
                prop_assert!((file_count / worker_count..=file_count / worker_count + 1)
                    .contains(&length));
                end = files.end;
            }
            prop_assert_eq!(end, file_count);
            prop_assert!(share(file_count, worker_count, worker_count).is_empty());
        }
    }
}
