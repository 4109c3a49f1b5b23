//! Random orders of the starts in a span, without a map of visited starts.

use crate::arithmetic::Divisor;
use stats::mix;

/// A permutation of `0..count`, computed for each number.
///
/// An alternating Feistel network permutes the next power of two. Results outside the range are
/// permuted again until they are inside, which takes fewer than two steps on average.
///
/// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002 (cycle walking).
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    count: u64,
    key: u64,
    low_bits: u32,
    high_bits: u32,
}

const ROUNDS: u64 = 6;

impl Permutation {
    /// A permutation derived from `seed`; `count` must not be 0.
    pub(crate) const fn new(count: u64, seed: u64) -> Self {
        // At least one bit on either side; otherwise the rounds could mix nothing in.
        let bits = 64 - (count - 1).leading_zeros();
        let bits = if bits < 2 { 2 } else { bits };
        Self {
            count,
            key: mix(seed),
            low_bits: bits / 2,
            high_bits: bits - bits / 2,
        }
    }

    /// Image of `index`, which must be below the count.
    #[inline]
    pub(crate) fn apply(&self, index: u64) -> u64 {
        self.apply_keyed(index, self.key)
    }

    #[inline]
    fn apply_keyed(&self, index: u64, key: u64) -> u64 {
        let mut value = self.rounds(index, key);
        while value >= self.count {
            value = self.rounds(value, key);
        }
        value
    }

    #[inline]
    fn rounds(&self, value: u64, key: u64) -> u64 {
        let mut low = value & ((1 << self.low_bits) - 1);
        let mut high = value >> self.low_bits;
        let mut round_key = key;
        for _ in 0..ROUNDS / 2 {
            low ^= top_bits(high ^ round_key, self.low_bits);
            round_key = round_key.rotate_left(21);
            high ^= top_bits(low ^ round_key, self.high_bits);
            round_key = round_key.rotate_left(21);
        }
        high << self.low_bits | low
    }
}

/// Every start once in random order, then every start once in another order, and so on.
#[derive(Debug, Clone)]
pub(crate) struct ShuffledStarts {
    permutation: Permutation,
    passes: Divisor,
}

impl ShuffledStarts {
    pub(super) const fn new(count: u64, seed: u64) -> Self {
        Self {
            permutation: Permutation::new(count, seed),
            passes: Divisor::new(count),
        }
    }

    /// The start for a turn.
    #[inline]
    pub(super) fn index(&self, turn: u64) -> u64 {
        let (pass, index) = self.passes.divide(turn);
        self.permutation
            .apply_keyed(index, mix(self.permutation.key ^ pass))
    }
}

/// The well-mixed top `bits` bits of a product, 1 to 63.
#[inline]
const fn top_bits(value: u64, bits: u32) -> u64 {
    let product = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (product ^ (product >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> (64 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_pass_visits_all_exactly_once(count in 1_u64..3000, seed: u64) {
            let order = ShuffledStarts::new(count, seed);
            for pass in 0..3 {
                let mut visited: Vec<u64> =
                    (0..count).map(|index| order.index(pass * count + index)).collect();
                visited.sort_unstable();
                prop_assert!(visited.into_iter().eq(0..count));
            }
        }

        #[test]
        fn large_ranges_stay_in_range(count in 1_u64..1 << 50, index: u64, seed: u64) {
            prop_assert!(Permutation::new(count, seed).apply(index % count) < count);
        }
    }

    #[test]
    fn passes_differ_and_neighbors_scatter() {
        let order = ShuffledStarts::new(1 << 16, 9);
        let first: Vec<u64> = (0..1000).map(|turn| order.index(turn)).collect();
        let second: Vec<u64> = (0..1000)
            .map(|turn| order.index(turn + (1 << 16)))
            .collect();
        assert_ne!(first, second);
        let adjacent = first
            .windows(2)
            .filter(|pair| pair[0].abs_diff(pair[1]) < 64);
        assert!(adjacent.count() < 20);
    }

    #[test]
    fn the_first_index_lands_anywhere_over_many_seeds() {
        let mut cells = [0_u32; 10];
        for seed in 0..10_000 {
            cells[Permutation::new(10, seed).apply(0) as usize] += 1;
        }
        assert!(
            cells.iter().all(|&count| (800..1200).contains(&count)),
            "{cells:?}"
        );
    }
}
