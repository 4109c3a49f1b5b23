//! One bit per block of a job's files.

/// A set of blocks, initially empty.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockMap {
    words: Box<[u64]>,
}

impl BlockMap {
    pub(super) fn new(block_count: u64) -> Self {
        Self {
            words: vec![0; block_count.div_ceil(64) as usize].into(),
        }
    }

    #[inline]
    pub(super) const fn has(&self, block: u64) -> bool {
        self.words[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// First block in the range that is not in the set.
    pub(super) fn first_absent(&self, blocks: std::ops::Range<u64>) -> Option<u64> {
        let mut block = blocks.start;
        while block < blocks.end {
            let absent = !self.words[(block / 64) as usize] >> (block % 64);
            if absent != 0 {
                let found = block + u64::from(absent.trailing_zeros());
                return Some(found).filter(|it| *it < blocks.end);
            }
            // Near the end of a pass, almost all blocks are used, so whole words are skipped.
            block = (block / 64 + 1) * 64;
        }
        None
    }

    #[inline]
    pub(super) const fn put(&mut self, block: u64) {
        self.words[(block / 64) as usize] |= 1 << (block % 64);
    }

    /// Removes the block. Returns `true` if it was in the set.
    #[inline]
    pub(super) const fn take(&mut self, block: u64) -> bool {
        let had = self.has(block);
        self.words[(block / 64) as usize] &= !(1 << (block % 64));
        had
    }

    /// Removes all blocks.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Copies another map of the same length.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
    }
}
