//! Where random requests of a job begin in one of its files, or in a zone of one.

use plan::Distribution;

use super::size_draw::check_weights;
use crate::arithmetic::Divisor;
use crate::choice::Weighted;
use crate::position::{Draw, Permutation, Seeds};
use crate::rng::mix;
use crate::{GenerateError, Rng};

/// The places where random requests of a direction can begin in a part of a file.
#[derive(Debug, Clone)]
pub(super) struct RandomPlaces {
    align: Divisor,
    count: u64,
    /// Of the orders of rounds behind the first.
    seed: u64,
    law: PlaceLaw,
}

#[derive(Debug, Clone)]
enum PlaceLaw {
    Once(Permutation),
    Drawn(Draw),
    /// First place and number of places of each zone.
    Zones {
        choice: Weighted,
        zones: Box<[(u64, u64)]>,
    },
}

/// How the places of a direction come.
#[derive(Debug, Clone, Copy)]
pub(super) enum PlaceRule<'a> {
    /// Each once before any comes again.
    Once,
    /// By a law.
    Drawn(&'a Distribution),
    /// By zones: share of the requests in percent, and bytes.
    Zones(&'a [(f64, u64)]),
}

/// Which order the places have and where those of a rank lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceSeeds {
    pub(super) order: u64,
    pub(super) scatter: u64,
}

impl RandomPlaces {
    /// The places in `room_bytes`, which hold one request of `smallest_bytes` at least.
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

    /// Where the next request begins, counted from the start of the part; `turn` is how many came
    /// before in this order, and `round` which order that is.
    #[inline]
    pub(super) fn start_bytes(&self, rng: &mut Rng, turn: &mut u64, round: u64) -> u64 {
        let index = match &self.law {
            PlaceLaw::Once(order) => {
                let index = *turn;
                *turn = if index + 1 == self.count {
                    0
                } else {
                    index + 1
                };
                if round == 0 {
                    order.apply(index)
                } else {
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

    /// The last place that is not behind one.
    #[inline]
    pub(super) const fn at_or_before(&self, offset_bytes: u64) -> u64 {
        self.align.round_down(offset_bytes)
    }
}

/// Zones that are told in bytes; those behind the end of the part are left out.
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
