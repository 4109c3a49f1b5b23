//! Random numbers of the versions before 1.5.

/// The linear congruential generator that the C standard gives as an example, with 15 bits per
/// number.
///
/// Source: ISO/IEC 9899:1990, 7.10.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Congruential {
    state: u32,
    previous_state: u32,
}

impl Congruential {
    /// Exclusive upper limit of the numbers.
    pub const LIMIT: u32 = 1 << 15;

    /// The generator for a seed; every seed is allowed.
    #[must_use]
    pub const fn new(seed: u32) -> Self {
        Self {
            state: seed,
            previous_state: seed,
        }
    }

    /// The next number, below [`Self::LIMIT`].
    #[inline]
    pub const fn draw(&mut self) -> u32 {
        self.previous_state = self.state;
        self.state = self.state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (self.state >> 16) & (Self::LIMIT - 1)
    }

    /// Makes the next draw give the last number again; at most once after a draw.
    pub(super) const fn undo(&mut self) {
        self.state = self.previous_state;
    }
}
