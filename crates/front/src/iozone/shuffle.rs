//! The order of random records: each once, the same in every run.

use std::sync::Arc;

use workload::program::Card;

/// So many words.
const COUNT: usize = 312;
const MIDDLE: usize = 156;
const SEED: [u64; 4] = [0x12345, 0x23456, 0x34567, 0x45678];

/// The numbers of so many records.
pub(super) fn shuffled(count: u32) -> Arc<[Card]> {
    let mut numbers: Vec<u32> = (0..count).collect();
    let mut twister = Twister::new();
    for last in (0..count as usize).rev() {
        // Below the number of records.
        let other = (twister.next() % (last as u64 + 1)) as usize;
        numbers.swap(last, other);
    }
    let card = |number| Card { choice: 0, number };
    numbers.into_iter().map(card).collect()
}

/// The Mersenne Twister of 64 bits.
///
/// Source: Nishimura, "Tables of 64-bit Mersenne Twisters", 2000.
struct Twister {
    words: [u64; COUNT],
    at: usize,
}

impl Twister {
    fn new() -> Self {
        let mut words = [0_u64; COUNT];
        words[0] = 19_650_218;
        for at in 1..COUNT {
            let before = words[at - 1];
            let mixed = 6_364_136_223_846_793_005_u64.wrapping_mul(before ^ before >> 62);
            words[at] = mixed.wrapping_add(at as u64);
        }
        let mut twister = Self { words, at: 1 };
        for turn in 0..COUNT {
            let key = turn % SEED.len();
            twister.stir(
                3_935_559_000_370_003_845,
                SEED[key].wrapping_add(key as u64),
            );
        }
        for _ in 1..COUNT {
            let at = twister.at as u64;
            twister.stir(2_862_933_555_777_941_757, at.wrapping_neg());
        }
        twister.words[0] = 1 << 63;
        twister.at = COUNT;
        twister
    }

    fn stir(&mut self, factor: u64, more: u64) {
        let before = self.words[self.at - 1];
        let mixed = (before ^ before >> 62).wrapping_mul(factor);
        self.words[self.at] = (self.words[self.at] ^ mixed).wrapping_add(more);
        self.at += 1;
        if self.at == COUNT {
            self.words[0] = self.words[COUNT - 1];
            self.at = 1;
        }
    }

    fn next(&mut self) -> u64 {
        if self.at == COUNT {
            for at in 0..COUNT {
                let high = self.words[at] & 0xffff_ffff_8000_0000;
                let word = high | self.words[(at + 1) % COUNT] & 0x7fff_ffff;
                let odd = (word & 1) * 0xb502_6f5a_a966_19e9;
                self.words[at] = self.words[(at + MIDDLE) % COUNT] ^ word >> 1 ^ odd;
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

    #[test]
    fn records_come_in_the_order_of_the_original() {
        let order: Vec<u32> = shuffled(16).iter().map(|card| card.number).collect();
        let wanted = [1, 5, 7, 13, 10, 6, 0, 8, 14, 3, 11, 2, 4, 12, 9, 15];
        assert_eq!(order, wanted);
        let order: Vec<u32> = shuffled(64).iter().map(|card| card.number).collect();
        assert_eq!(order[..8], [39, 53, 8, 3, 31, 29, 62, 1]);
        assert_eq!(order[61..], [40, 6, 63]);
    }
}
