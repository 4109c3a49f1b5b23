//! Splitmix64, the source of all seeds and resampling. It is written here and not taken from a
//! library, so a later version repeats the same requests, and recomputes an interval from a stored
//! record.

/// Difference between two consecutive states of splitmix64.
pub const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijective hash of 64 bits: the number that splitmix64 draws first with `value` as its seed.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014; the
/// constants are from Stafford's variant 13.
#[inline]
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(SPLIT_MIX_STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The splitmix64 generator.
#[derive(Debug, Clone)]
pub struct SplitMixRng(u64);

impl SplitMixRng {
    /// A generator whose numbers depend only on `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let drawn = mix(self.0);
        self.0 = self.0.wrapping_add(SPLIT_MIX_STEP);
        drawn
    }

    /// A number below `limit`, or 0 when `limit` is 0.
    #[inline]
    pub const fn below(&mut self, limit: usize) -> usize {
        // The upper half of the product needs no division, and a limit of 0 gives 0.
        ((self.next_u64() as u128 * limit as u128) >> 64) as usize
    }

    /// Shuffles values; every order is equally likely.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for index in (1..values.len()).rev() {
            values.swap(index, self.below(index + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_matches_the_published_one() {
        let mut draws = SplitMixRng::new(1_234_567);
        assert_eq!(draws.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(draws.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        let mut draws = SplitMixRng::new(9);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut values = [1, 2, 3];
            draws.shuffle(&mut values);
            *counts.entry(values).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (870..1130).contains(count)));
    }
}
