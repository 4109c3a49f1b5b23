//! Which file a transaction works on.

use plan::program::FileChoice;

use super::slots::Slots;
use super::{Numbers, StreamError};
use crate::Rng;
use crate::position::{Permutation, Zipf};

/// Empty slots that are drawn before the next file behind the last of them is taken.
const VAIN_DRAWS_MAX: u32 = 64;

/// A way to choose files, ready to draw.
#[derive(Clone)]
pub(super) enum Chooser {
    /// The original's: every slot is as likely as any other.
    Uniform,
    /// Slots by rank; the run's own numbers are not touched.
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

    /// One more than the last slot that can be chosen where numbers are below `limit`.
    pub(super) const fn reach(&self, limit: u32) -> u32 {
        match self {
            Self::Uniform => limit,
            Self::Zipf { .. } => u32::MAX,
        }
    }

    /// Brings near what will be chosen once one number was drawn.
    #[inline]
    pub(super) fn fetch_ahead(&self, slots: &Slots, numbers: &Numbers) {
        if matches!(self, Self::Uniform) {
            slots.fetch_ahead(numbers);
        }
    }

    /// Chooses an occupied slot; there must be one in reach.
    #[inline]
    pub(super) fn pick(&mut self, slots: &Slots, numbers: &mut Numbers) -> u32 {
        match self {
            Self::Uniform => slots.pick(numbers),
            Self::Zipf {
                ranks,
                scatter,
                rng,
            } => {
                let mut slot = 0;
                for _ in 0..VAIN_DRAWS_MAX {
                    // Below the number of slots, which is 32 bits.
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
