//! Which file comes when.

use std::ops::Range;

use workload::classics::Order;

use crate::mix;

/// The files of a pass by their turn, without a map of them.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    files: Range<u32>,
    order: Order,
    shuffle: Shuffle,
}

impl Turns {
    pub(super) fn new(files: Range<u32>, order: Order, seed: u64) -> Self {
        let count = files.end.saturating_sub(files.start);
        Self {
            files,
            order,
            shuffle: Shuffle::new(count, seed),
        }
    }

    /// The file of a turn, none behind the last.
    #[inline]
    pub(super) fn file(&self, turn: u32) -> Option<u32> {
        let Range { start, end } = self.files;
        if turn >= end.saturating_sub(start) {
            return None;
        }
        Some(match self.order {
            Order::Forward => start + turn,
            Order::Reverse => end - 1 - turn,
            Order::Random => start + self.shuffle.place(turn),
        })
    }
}

/// A permutation of `0..count`, computed for each number.
///
/// A Feistel network of two equal halves permutes a power of four that is at most four times the
/// count (and at least 4); what falls outside the range is permuted again until it falls inside.
///
/// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002 (cycle walking).
#[derive(Debug, Clone)]
struct Shuffle {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    fn new(count: u32, seed: u64) -> Self {
        let bits = u64::BITS - u64::from(count).saturating_sub(1).leading_zeros();
        let mut key = seed;
        Self {
            count: count.into(),
            half_bits: bits.div_ceil(2).max(1),
            keys: [(); 4].map(|()| {
                key = mix(key);
                key
            }),
        }
    }

    /// Where `index`, which must be below the count, goes.
    #[inline]
    fn place(&self, index: u32) -> u32 {
        debug_assert!(u64::from(index) < self.count);
        let mut value = self.rounds(index.into());
        while value >= self.count {
            value = self.rounds(value);
        }
        // Below the count, which was 32 bits.
        value as u32
    }

    #[inline]
    fn rounds(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(files: Range<u32>, order: Order, seed: u64) -> Vec<u32> {
        let turns = Turns::new(files, order, seed);
        (0..).map_while(|turn| turns.file(turn)).collect()
    }

    #[test]
    fn forward_and_reverse_follow_the_numbers() {
        assert_eq!(all(3..6, Order::Forward, 1), [3, 4, 5]);
        assert_eq!(all(3..6, Order::Reverse, 1), [5, 4, 3]);
        for order in [Order::Forward, Order::Reverse, Order::Random] {
            assert!(all(6..6, order, 1).is_empty());
            assert_eq!(all(6..7, order, 1), [6]);
        }
    }

    #[test]
    fn a_random_order_follows_from_its_seed_and_scatters_neighbors() {
        let first = all(0..10_000, Order::Random, 1);
        assert_eq!(first, all(0..10_000, Order::Random, 1));
        assert_ne!(first, all(0..10_000, Order::Random, 2));
        let adjacent = first.windows(2).filter(|it| it[0].abs_diff(it[1]) < 16);
        assert!(adjacent.count() < 100);
    }

    #[test]
    fn the_first_file_lands_anywhere_over_many_seeds() {
        let mut places = [0_u32; 10];
        for seed in 0..10_000 {
            places[Shuffle::new(10, seed).place(0) as usize] += 1;
        }
        assert!(
            places.iter().all(|count| (800..1200).contains(count)),
            "{places:?}"
        );
    }

    proptest! {
        #[test]
        fn a_random_order_is_a_permutation(start in 0_u32..5000, count in 0_u32..3000, seed: u64) {
            let mut files = all(start..start + count, Order::Random, seed);
            files.sort_unstable();
            prop_assert!(files.into_iter().eq(start..start + count));
        }

        #[test]
        fn large_ranges_stay_in_range(count in 1_u32.., index: u32, seed: u64) {
            prop_assert!(Shuffle::new(count, seed).place(index % count) < count);
        }
    }
}
