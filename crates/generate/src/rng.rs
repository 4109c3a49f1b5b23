//! Random numbers. The generators are part of this crate, so that results can be repeated in later
//! versions.

use stats::{SPLIT_MIX_STEP, mix};

/// xoshiro256++, seeded by splitmix64: the generator for everything except Iometer's own rule.
///
/// Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator whose stream depends only on `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        // xoshiro256++ never leaves a state of zeros. `mix` is bijective, so at most one of the
        // words is 0.
        let second = seed.wrapping_add(SPLIT_MIX_STEP);
        let third = second.wrapping_add(SPLIT_MIX_STEP);
        let fourth = third.wrapping_add(SPLIT_MIX_STEP);
        Self {
            state: [mix(seed), mix(second), mix(third), mix(fourth)],
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let third = c ^ a;
        let fourth = d ^ b;
        self.state = [
            a ^ fourth,
            b ^ third,
            third ^ (b << 17),
            fourth.rotate_left(45),
        ];
        result
    }

    /// A number below `limit`, or 0 if `limit` is 0.
    ///
    /// The high half of a 128-bit product, without rejection. The probability of a number is off by
    /// at most 2^-64, too little for any run to show.
    #[inline]
    pub const fn below(&mut self, limit: u64) -> u64 {
        ((self.next_u64() as u128 * limit as u128) >> 64) as u64
    }

    /// A number from 0 up to but not including 1, a multiple of 2^-53.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// Iometer's generator: a linear congruential generator modulo 2^64. Its low bits are weak, as in
/// the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IometerRng {
    state: u64,
}

impl IometerRng {
    /// A generator whose state is `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Advances and returns the whole state, of which Iometer takes the remainder.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(136_204_069)
            .wrapping_add(28_500_701_229);
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_gives_the_published_stream_for_the_published_state() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let outputs: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        let wanted = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
        ];
        assert_eq!(outputs, wanted);
    }

    #[test]
    fn splitmix_gives_the_published_stream_for_seed_1234567() {
        let seed = 1_234_567_u64;
        let outputs: Vec<u64> = (0..3)
            .map(|step| mix(seed.wrapping_add(SPLIT_MIX_STEP.wrapping_mul(step))))
            .collect();
        let wanted = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(outputs, wanted);
    }

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut rng = Rng::new(42);
        assert_eq!(rng.next_u64(), 15_021_278_609_987_233_951);
    }

    #[test]
    fn below_stays_below_and_reaches_every_number() {
        let mut rng = Rng::new(3);
        let mut counts = [0_u32; 7];
        for _ in 0..7_000 {
            counts[rng.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1150).contains(&count)));
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn unit_is_below_one_with_the_right_mean() {
        let mut rng = Rng::new(4);
        let sum: f64 = (0..100_000)
            .map(|_| rng.unit())
            .inspect(|unit| assert!((0.0..1.0).contains(unit)))
            .sum();
        assert!((sum / 1e5 - 0.5).abs() < 0.005);
    }

    #[test]
    fn iometer_numbers_modulo_100_and_4_repeat_every_4_draws() {
        let mut rng = IometerRng::new(12_345);
        let low: Vec<u64> = (0..40).map(|_| rng.next_u64() % 100 % 4).collect();
        assert!(low.windows(5).all(|window| window[0] == window[4]));
    }
}
