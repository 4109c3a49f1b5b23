//! Set of occupied slots: one bit each; the first free slot is found in a few steps.

use super::StreamError;

/// Bits per word.
const BITS: u32 = u64::BITS;

/// A set of slots. Above the words of the slots there are levels that mark full words.
#[derive(Debug, Clone)]
pub(super) struct OccupiedSlots {
    slots_count: u32,
    /// The slots first; each higher level has one bit per word of the level below.
    levels: Vec<Vec<u64>>,
}

impl OccupiedSlots {
    /// An empty set.
    pub(super) fn new(slots_count: u32) -> Result<Self, StreamError> {
        let mut levels = Vec::new();
        let mut bits = slots_count;
        loop {
            let words = bits.div_ceil(BITS).max(1);
            let mut level = Vec::new();
            // The user chooses the number of slots, and a failed allocation would abort the
            // process.
            level
                .try_reserve_exact(words as usize)
                .map_err(|_| StreamError::Table {
                    slots_count: u64::from(slots_count),
                })?;
            level.resize(words as usize, 0);
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        Ok(Self {
            slots_count,
            levels,
        })
    }

    #[inline]
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.levels[0][(slot / BITS) as usize] >> (slot % BITS) & 1 != 0
    }

    /// Occupies a slot.
    pub(super) fn insert(&mut self, slot: u32) {
        let mut index = slot;
        for level in &mut self.levels {
            let word = &mut level[(index / BITS) as usize];
            *word |= 1 << (index % BITS);
            // The level above changes only when a word becomes full.
            if *word != u64::MAX {
                return;
            }
            index /= BITS;
        }
    }

    /// Frees a slot.
    pub(super) fn remove(&mut self, slot: u32) {
        let mut index = slot;
        for level in &mut self.levels {
            let word = &mut level[(index / BITS) as usize];
            let was_full = *word == u64::MAX;
            *word &= !(1 << (index % BITS));
            if !was_full {
                return;
            }
            index /= BITS;
        }
    }

    /// The first free slot; `None` if there is none.
    pub(super) fn first_free(&self) -> Option<u32> {
        let mut index = 0;
        for level in self.levels.iter().rev() {
            // Full words are skipped by the level above. Bits after the last slot are free; such
            // slots are rejected below.
            let word = level.get(index as usize)?;
            // If everything is occupied, the last bit stands for it, and the check below rejects
            // it.
            index = index * BITS + word.trailing_ones().min(BITS - 1);
        }
        (index < self.slots_count && !self.contains(index)).then_some(index)
    }

    /// The first occupied slot from `slot` on.
    pub(super) fn first_from(&self, slot: u32) -> Option<u32> {
        let words = &self.levels[0];
        let mut at = (slot / BITS) as usize;
        let mut word = words.get(at)? & (u64::MAX << (slot % BITS));
        while word == 0 {
            at += 1;
            word = *words.get(at)?;
        }
        Some(at as u32 * BITS + word.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::OccupiedSlots;

    proptest! {
        #[test]
        fn slots_are_found_as_by_a_linear_search(
            slots_count in 1_u32..9000,
            fill in 0_u32..9000,
            changes in proptest::collection::vec((any::<bool>(), any::<u32>()), 0..200),
        ) {
            let mut occupied = OccupiedSlots::new(slots_count).unwrap();
            let mut model = BTreeSet::new();
            for slot in 0..fill.min(slots_count) {
                occupied.insert(slot);
                model.insert(slot);
            }
            for (is_insert, slot) in changes {
                let slot = slot % slots_count;
                if is_insert {
                    occupied.insert(slot);
                    model.insert(slot);
                } else {
                    occupied.remove(slot);
                    model.remove(&slot);
                }
                let free = (0..slots_count).find(|slot| !model.contains(slot));
                prop_assert_eq!(occupied.first_free(), free);
                prop_assert_eq!(occupied.first_from(slot), model.range(slot..).next().copied());
                prop_assert_eq!(occupied.contains(slot), model.contains(&slot));
            }
        }
    }
}
