//! Derives the workers' seeds from one number.

/// The seed of a worker: the `worker_index`-th output of the generator started at `seed`.
///
/// Source: SplitMix64 of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
/// 2014.
#[must_use]
pub fn worker_seed(seed: u64, worker_index: u32) -> u64 {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    // SplitMix64 adds the constant before its first output, so worker 0 has one step.
    let state = seed.wrapping_add(GAMMA.wrapping_mul(u64::from(worker_index) + 1));
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_outputs_match_the_published_generator() {
        // Known outputs of SplitMix64 for the seed 1234567.
        let outputs: Vec<u64> = (0..3).map(|index| worker_seed(1_234_567, index)).collect();
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
