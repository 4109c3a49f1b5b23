//! One source of random numbers for all versions.

use plan::program::PoolDraws;

use super::{Congruential, Twister};

/// A version's random numbers.
#[derive(Clone)]
pub enum Numbers {
    /// Those since 1.5.
    Twister(Box<Twister>),
    /// Those before.
    Congruential(Congruential),
}

impl Numbers {
    /// The numbers of that kind for a seed.
    #[must_use]
    pub fn new(kind: PoolDraws, seed: u32) -> Self {
        match kind {
            PoolDraws::Twister1999 => Self::Twister(Box::new(Twister::new(seed))),
            PoolDraws::Congruential15 => Self::Congruential(Congruential::new(seed)),
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

    /// The next number modulo `limit`; 0, with nothing drawn, if `limit` is 0.
    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        if limit == 0 { 0 } else { self.draw() % limit }
    }

    /// The number that comes after `count` others, where it can be told without drawing.
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
        // Below 127, so that nothing is lost.
        (32 + self.below(95)) as u8
    }

    /// One more than the largest number that can come, saturated.
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
