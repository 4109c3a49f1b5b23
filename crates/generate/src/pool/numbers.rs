//! Random numbers of all versions.

use plan::program::PoolGenerator;

use super::{Congruential, Mt19937};

/// Random numbers of a version.
#[derive(Clone)]
pub enum PoolRandom {
    /// Numbers of version 1.5 and later.
    Twister(Box<Mt19937>),
    /// Numbers of earlier versions.
    Congruential(Congruential),
}

impl PoolRandom {
    /// The numbers of this kind for a seed.
    #[must_use]
    pub fn new(kind: PoolGenerator, seed: u32) -> Self {
        match kind {
            PoolGenerator::Twister1999 => Self::Twister(Box::new(Mt19937::new(seed))),
            PoolGenerator::Congruential15 => Self::Congruential(Congruential::new(seed)),
        }
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        match self {
            Self::Twister(twister) => twister.draw(),
            Self::Congruential(congruential) => congruential.draw(),
        }
    }

    /// The next number modulo `limit`. If `limit` is 0, returns 0 and draws nothing.
    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        // Modulo, with its slight bias, as in the original.
        if limit == 0 { 0 } else { self.draw() % limit }
    }

    /// The number after `count` others, if it can be determined without drawing.
    #[inline]
    pub(super) fn ahead(&self, count: usize) -> Option<u32> {
        match self {
            Self::Twister(twister) => twister.ahead(count),
            Self::Congruential(_) => None,
        }
    }

    /// The next byte of printable text.
    #[inline]
    pub fn printable(&mut self) -> u8 {
        // Below 127, so it fits a byte.
        (32 + self.below(95)) as u8
    }

    /// Exclusive upper limit of the numbers, saturated.
    pub(super) const fn limit(&self) -> u32 {
        match self {
            Self::Twister(_) => u32::MAX,
            Self::Congruential(_) => Congruential::LIMIT,
        }
    }

    /// Makes the next draw give the last number again; at most once after a draw.
    pub(super) fn undo(&mut self) {
        match self {
            Self::Twister(twister) => twister.undo(),
            Self::Congruential(congruential) => congruential.undo(),
        }
    }
}
