//! MT19937 with the seeding of 1999.

/// Number of words in the state.
const WORDS: usize = 624;
/// Distance to the word that is mixed in.
const SHIFT: usize = 397;

/// The Mersenne Twister for 32-bit numbers, seeded by its authors' first method.
///
/// Source: Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998); the seeding takes the
/// upper halves of the sequence x -> 69069 x + 1.
#[derive(Clone)]
pub struct Mt19937 {
    state: [u32; WORDS],
    /// Index of the word for the next number; `WORDS` if the state must be renewed first.
    next_index: usize,
}

impl Mt19937 {
    /// The generator for a seed; every seed is allowed.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut value = seed;
        let mut half = || {
            let upper = value & 0xffff_0000;
            value = value.wrapping_mul(69_069).wrapping_add(1);
            upper
        };
        let mut state = [0; WORDS];
        for word in &mut state {
            let high = half();
            *word = high | (half() >> 16);
        }
        Self {
            state,
            next_index: WORDS,
        }
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        if self.next_index == WORDS {
            self.renew();
        }
        let number = temper(self.state[self.next_index]);
        self.next_index += 1;
        number
    }

    /// The number after `count` others, if it is in the current state.
    #[inline]
    pub(super) fn ahead(&self, count: usize) -> Option<u32> {
        self.state
            .get(self.next_index + count)
            .map(|word| temper(*word))
    }

    /// Makes the next draw give the last number again; at most once after a draw.
    pub(super) fn undo(&mut self) {
        // After a draw this is at least 1, even if the draw renewed the state.
        self.next_index = self.next_index.saturating_sub(1);
    }

    fn renew(&mut self) {
        let state = &mut self.state;
        for index in 0..WORDS - SHIFT {
            state[index] = twist(state[index], state[index + 1], state[index + SHIFT]);
        }
        for index in WORDS - SHIFT..WORDS - 1 {
            let middle = state[index + SHIFT - WORDS];
            state[index] = twist(state[index], state[index + 1], middle);
        }
        state[WORDS - 1] = twist(state[WORDS - 1], state[0], state[SHIFT - 1]);
        self.next_index = 0;
    }
}

#[inline]
const fn temper(mut number: u32) -> u32 {
    number ^= number >> 11;
    number ^= (number << 7) & 0x9d2c_5680;
    number ^= (number << 15) & 0xefc6_0000;
    number ^ (number >> 18)
}

#[inline]
const fn twist(upper: u32, lower: u32, middle: u32) -> u32 {
    let joined = (upper & 0x8000_0000) | (lower & 0x7fff_ffff);
    let mask = (lower & 1).wrapping_neg() & 0x9908_b0df;
    middle ^ (joined >> 1) ^ mask
}
