//! The random number generator MT19937-64.

/// Number of state words.
const STATE_WORDS: usize = 312;
/// Distance to the word that is mixed in.
const SHIFT: usize = 156;

/// A 64-bit Mersenne Twister.
///
/// Source: Nishimura, "Tables of 64-bit Mersenne Twisters", 2000.
pub struct Mt19937x64 {
    words: [u64; STATE_WORDS],
    at: usize,
}

impl Mt19937x64 {
    /// A generator with a seed of at least one number.
    pub fn of(seed: &[u64]) -> Self {
        let mut words = [0_u64; STATE_WORDS];
        words[0] = 19_650_218;
        for at in 1..STATE_WORDS {
            let before = words[at - 1];
            let mixed = 6_364_136_223_846_793_005_u64.wrapping_mul(before ^ before >> 62);
            words[at] = mixed.wrapping_add(at as u64);
        }
        let mut twister = Self { words, at: 1 };
        for turn in 0..STATE_WORDS.max(seed.len()) {
            let key = turn % seed.len();
            twister.stir(
                3_935_559_000_370_003_845,
                seed[key].wrapping_add(key as u64),
            );
        }
        for _ in 1..STATE_WORDS {
            let at = twister.at as u64;
            twister.stir(2_862_933_555_777_941_757, at.wrapping_neg());
        }
        twister.words[0] = 1 << 63;
        twister.at = STATE_WORDS;
        twister
    }

    fn stir(&mut self, factor: u64, more: u64) {
        let before = self.words[self.at - 1];
        let mixed = (before ^ before >> 62).wrapping_mul(factor);
        self.words[self.at] = (self.words[self.at] ^ mixed).wrapping_add(more);
        self.at += 1;
        if self.at == STATE_WORDS {
            self.words[0] = self.words[STATE_WORDS - 1];
            self.at = 1;
        }
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        if self.at == STATE_WORDS {
            for at in 0..STATE_WORDS {
                let high = self.words[at] & 0xffff_ffff_8000_0000;
                let word = high | self.words[(at + 1) % STATE_WORDS] & 0x7fff_ffff;
                let twist = (word & 1) * 0xb502_6f5a_a966_19e9;
                self.words[at] = self.words[(at + SHIFT) % STATE_WORDS] ^ word >> 1 ^ twist;
            }
            self.at = 0;
        }
        let mut word = self.words[self.at];
        self.at += 1;
        word ^= word >> 29 & 0x5555_5555_5555_5555;
        word ^= word << 17 & 0x71d6_7fff_eda6_0000;
        word ^= word << 37 & 0xfff7_eee0_0000_0000;
        word ^ word >> 43
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the first numbers of the authors' `mt19937-64.out.txt`.
    #[test]
    fn numbers_match_the_reference_implementation() {
        let mut twister = Mt19937x64::of(&[0x12345, 0x23456, 0x34567, 0x45678]);
        let first = [(); 3].map(|()| twister.next());
        let wanted = [
            7_266_447_313_870_364_031,
            4_946_485_549_665_804_864,
            16_945_909_448_695_747_420,
        ];
        assert_eq!(first, wanted);
    }
}
