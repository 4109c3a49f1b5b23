//! Files of the pool that stay open.

use super::chain::HandleUse;

/// One bit per slot of the pool, set if its file is open.
#[derive(Debug, Clone)]
pub(super) struct OpenFileBits {
    open: Box<[u64]>,
    count: u32,
    max_count: u32,
}

impl OpenFileBits {
    pub(super) fn new(slots_count: u32, max_count: u32) -> Self {
        Self {
            open: vec![0; slots_count.div_ceil(u64::BITS) as usize].into(),
            count: 0,
            max_count,
        }
    }

    pub(super) const fn max_count(&self) -> u32 {
        self.max_count
    }

    /// Marks all files as closed.
    pub(super) fn clear(&mut self) {
        self.open.fill(0);
        self.count = 0;
    }

    /// Use of the handle for an operation on the content of a slot's file. The file stays open
    /// afterwards, unless the maximum is reached.
    #[inline]
    pub(super) fn open(&mut self, slot_index: u32) -> HandleUse {
        let (word, bit) = Self::word_and_bit(slot_index);
        if self.open[word] & bit != 0 {
            return HandleUse::Open;
        }
        if self.count == self.max_count {
            return HandleUse::Transient;
        }
        self.open[word] |= bit;
        self.count += 1;
        HandleUse::Opened
    }

    /// Use of the handle when a slot's file is removed or could not be opened.
    #[inline]
    pub(super) fn close(&mut self, slot_index: u32) -> HandleUse {
        let (word, bit) = Self::word_and_bit(slot_index);
        if self.open[word] & bit == 0 {
            return HandleUse::Transient;
        }
        self.open[word] &= !bit;
        self.count -= 1;
        HandleUse::Closed
    }

    const fn word_and_bit(slot_index: u32) -> (usize, u64) {
        (
            (slot_index / u64::BITS) as usize,
            1 << (slot_index % u64::BITS),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_files_stay_open_than_allowed() {
        let mut bits = OpenFileBits::new(200, 2);
        assert_eq!(bits.close(3), HandleUse::Transient);
        assert_eq!(bits.open(3), HandleUse::Opened);
        assert_eq!(bits.open(3), HandleUse::Open);
        assert_eq!(bits.open(199), HandleUse::Opened);
        assert_eq!(bits.open(64), HandleUse::Transient);
        assert_eq!(bits.close(3), HandleUse::Closed);
        assert_eq!(bits.open(64), HandleUse::Opened);
        bits.clear();
        assert_eq!(bits.open(199), HandleUse::Opened);
    }
}
