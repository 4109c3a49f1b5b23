//! Random numbers of the C library.

/// The C library's `rand`.
///
/// Source: glibc, `random_r.c`, the additive generator of degree 31 and separation 3.
pub struct GlibcRandom {
    state: [u32; 31],
    at: usize,
}

impl Default for GlibcRandom {
    /// A generator with the seed of programs that set none.
    fn default() -> Self {
        Self::new(1)
    }
}

impl GlibcRandom {
    /// A generator with this seed; 0 counts as 1.
    pub fn new(seed: u32) -> Self {
        let mut word = i64::from(seed.max(1).cast_signed());
        let mut state = [0; 31];
        for value in &mut state {
            // The library stores words of 32 bits.
            *value = word as u32;
            // glibc adds the modulus to a negative remainder, as `rem_euclid` does.
            word = (16_807 * word).rem_euclid(2_147_483_647);
        }
        let mut random = Self { state, at: 3 };
        // glibc drops the first 310 numbers after seeding.
        (0..310).for_each(|_| {
            random.next();
        });
        random
    }

    /// The next number, from 0 to 2^31 - 1.
    pub fn next(&mut self) -> u32 {
        // 28 steps on in a ring of 31 are the 3 steps back of the separation.
        let value = self.state[self.at].wrapping_add(self.state[(self.at + 28) % 31]);
        self.state[self.at] = value;
        self.at = (self.at + 1) % 31;
        // glibc drops the lowest bit.
        value >> 1
    }

    /// A number below `count`, as the remainder of the next number.
    pub fn below(&mut self, count: u32) -> u32 {
        self.next() % count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_c_library() {
        let first = |seed| {
            let mut random = GlibcRandom::new(seed);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(first(1), [1_804_289_383, 846_930_886, 1_681_692_777]);
        assert_eq!(first(0), first(1));
        assert_eq!(first(7)[0], 1_045_618_677);
        assert_eq!(first(u32::MAX)[0], 254_925_627);
    }
}
