//! Derives the workers' seeds from one number.

use stats::SPLIT_MIX_STEP;

/// The seed of a worker: number `worker_index`, from 0, that splitmix64 draws with `seed`.
#[must_use]
pub fn worker_seed(seed: u64, worker_index: u32) -> u64 {
    stats::mix(seed.wrapping_add(SPLIT_MIX_STEP.wrapping_mul(u64::from(worker_index))))
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
