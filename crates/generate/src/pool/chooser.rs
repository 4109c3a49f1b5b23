//! Selection of the file for a transaction.

use plan::program::FileChoice;

use super::slots::Slots;
use super::{PoolRandom, StreamError};
use crate::Rng;
use crate::position::{Permutation, Zipf};

/// Number of draws that may hit empty slots, before the next file after the last of them is used.
const MISSED_DRAWS_MAX: u32 = 64;

/// A prepared selection rule for files.
#[derive(Clone)]
pub(super) enum Chooser {
    /// As in the original: every slot is equally likely.
    Uniform,
    /// Slots by rank; uses its own random numbers instead of the run's.
    Zipf {
        ranks: Zipf,
        scatter: Permutation,
        rng: Rng,
    },
}

impl Chooser {
    pub(super) fn new(
        choice: FileChoice,
        slots_count: u32,
        seed: u32,
    ) -> Result<Self, StreamError> {
        match choice {
            FileChoice::Uniform => Ok(Self::Uniform),
            FileChoice::Zipf { theta } if theta > 0.0 && theta <= 100.0 => Ok(Self::Zipf {
                ranks: Zipf::new(slots_count.max(1).into(), theta),
                scatter: Permutation::new(slots_count.max(1).into(), seed.into()),
                rng: Rng::new(seed.into()),
            }),
            FileChoice::Zipf { theta } => Err(StreamError::Zipf { theta }),
        }
    }

    /// Exclusive upper limit of the slots that can be selected if random numbers are below `limit`.
    pub(super) const fn reach(&self, limit: u32) -> u32 {
        match self {
            Self::Uniform => limit,
            Self::Zipf { .. } => u32::MAX,
        }
    }

    /// Prefetches the slot that will be selected after one more number is drawn.
    #[inline]
    pub(super) fn fetch_ahead(&self, slots: &Slots, numbers: &PoolRandom) {
        // The other rule draws its own numbers, which are not known ahead.
        if matches!(self, Self::Uniform) {
            slots.fetch_ahead(numbers);
        }
    }

    /// Selects an occupied slot; there must be one in reach.
    #[inline]
    pub(super) fn pick(&mut self, slots: &Slots, numbers: &mut PoolRandom) -> u32 {
        match self {
            Self::Uniform => slots.pick(numbers),
            Self::Zipf {
                ranks,
                scatter,
                rng,
            } => {
                let mut slot = 0;
                // With a skewed choice, the popular slots may be empty for many draws in a row.
                for _ in 0..MISSED_DRAWS_MAX {
                    // Below the number of slots, which has 32 bits.
                    slot = scatter.apply(ranks.rank(rng) - 1) as u32;
                    if slots.contains(slot) {
                        return slot;
                    }
                }
                slots.first_around(slot)
            }
        }
    }
}
