//! Random draws for resampling. The generator is part of this crate, so a later version can
//! recompute an interval from a stored record.

/// The splitmix64 generator.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Debug, Clone)]
pub(crate) struct SplitMixRng(u64);

impl SplitMixRng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, or 0 when `limit` is 0.
    pub(crate) const fn below(&mut self, limit: usize) -> usize {
        // The upper half of the product needs no division, and a limit of 0 gives 0.
        ((self.next_u64() as u128 * limit as u128) >> 64) as usize
    }

    /// Shuffles values; every order is equally likely.
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
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
