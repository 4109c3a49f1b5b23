//! Start positions of a job's random requests in one of its files, or in a zone of a file.

use plan::Distribution;

use super::size_draw::check_weights;
use crate::arithmetic::Divisor;
use crate::choice::Weighted;
use crate::position::{Draw, Permutation, Seeds};
use crate::rng::mix;
use crate::{GenerateError, Rng};

/// Possible start positions of random requests of a direction in a part of a file.
#[derive(Debug, Clone)]
pub(super) struct RandomPlaces {
    align: Divisor,
    count: u64,
    /// Seed of the orders of later rounds.
    seed: u64,
    law: PlaceLaw,
}

#[derive(Debug, Clone)]
enum PlaceLaw {
    Once(Permutation),
    Drawn(Draw),
    /// First position and number of positions of each zone.
    Zones {
        choice: Weighted,
        zones: Box<[(u64, u64)]>,
    },
}

/// Selection rule for the positions of a direction.
#[derive(Debug, Clone, Copy)]
pub(super) enum PlaceRule<'a> {
    /// Each position once before any is repeated.
    Once,
    /// By a distribution.
    Drawn(&'a Distribution),
    /// By zones: share of the requests in percent, and bytes.
    Zones(&'a [(f64, u64)]),
}

/// Seeds for the order of the positions and for scattering ranks over them.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceSeeds {
    pub(super) order: u64,
    pub(super) scatter: u64,
}

impl RandomPlaces {
    /// The positions in `room_bytes`, which must be large enough for a request of `smallest_bytes`.
    pub(super) fn new(
        rule: &PlaceRule<'_>,
        (room_bytes, smallest_bytes, align_bytes): (u64, u32, u32),
        seeds: PlaceSeeds,
    ) -> Result<Self, GenerateError> {
        let align = Divisor::new(align_bytes.into());
        let count = align.divide(room_bytes - u64::from(smallest_bytes)).0 + 1;
        let law = match rule {
            PlaceRule::Once => PlaceLaw::Once(Permutation::new(count, seeds.order)),
            PlaceRule::Drawn(distribution) => PlaceLaw::Drawn(Draw::new(
                distribution,
                count,
                Seeds {
                    order: seeds.order,
                    scatter: seeds.scatter,
                },
            )?),
            PlaceRule::Zones(zones) => drawn_zones(zones, align, count)?,
        };
        Ok(Self {
            align,
            count,
            seed: seeds.order,
            law,
        })
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) const fn align_bytes(&self) -> u64 {
        self.align.value()
    }

    /// Start of the next request, relative to the start of the part. `turn` is the number of
    /// previous requests in this order, and `round` is the number of the order.
    #[inline]
    pub(super) fn start_bytes(&self, rng: &mut Rng, turn: &mut u64, round: u64) -> u64 {
        let index = match &self.law {
            PlaceLaw::Once(order) => {
                let index = *turn;
                // fio repeats the same order after the last position.
                *turn = if index + 1 == self.count {
                    0
                } else {
                    index + 1
                };
                if round == 0 {
                    order.apply(index)
                } else {
                    // Only zones have later rounds, so their orders are computed when needed and
                    // not kept.
                    Permutation::new(self.count, mix(self.seed ^ round)).apply(index)
                }
            }
            PlaceLaw::Drawn(draw) => draw.index(rng),
            PlaceLaw::Zones { choice, zones } => {
                let (first, count) = zones[choice.pick(rng.next_u64())];
                first + rng.below(count)
            }
        };
        index * self.align.value()
    }

    /// Last position at or before an offset.
    #[inline]
    pub(super) const fn at_or_before(&self, offset_bytes: u64) -> u64 {
        self.align.round_down(offset_bytes)
    }
}

/// Zones given in bytes; zones after the end of the part are left out.
fn drawn_zones(
    zones: &[(f64, u64)],
    align: Divisor,
    count: u64,
) -> Result<PlaceLaw, GenerateError> {
    let (mut weights, mut ranges) = (Vec::new(), Vec::new());
    let mut end_bytes = 0_u64;
    for &(percent, bytes) in zones {
        let first = align.divide(end_bytes).0;
        end_bytes = end_bytes.saturating_add(bytes);
        // A zone that is smaller than the alignment still has one position.
        let last = align.divide(end_bytes).0.max(first + 1).min(count);
        if first < last {
            weights.push(percent);
            ranges.push((first, last - first));
        }
    }
    check_weights(&weights)?;
    Ok(PlaceLaw::Zones {
        choice: Weighted::new(&weights),
        zones: ranges.into(),
    })
}
