//! Start positions of a job's random requests in one of its files, or in a zone of a file.

use plan::Distribution;

use super::size_draw::check_weights;
use crate::arithmetic::Divisor;
use crate::choice::AliasTable;
use crate::position::{Draw, Permutation, Seeds};
use crate::{GenerateError, Rng};
use stats::mix;

/// Possible start positions of random requests of a direction in a part of a file.
#[derive(Debug, Clone)]
pub(super) struct RandomOffsets {
    align: Divisor,
    count: u64,
    /// Seed of the orders of later rounds.
    seed: u64,
    draw: OffsetDraw,
}

#[derive(Debug, Clone)]
enum OffsetDraw {
    NoRepeat(Permutation),
    Drawn(Draw),
    /// First position and number of positions of each zone.
    Zones {
        choice: AliasTable,
        zones: Box<[(u64, u64)]>,
    },
}

/// Selection rule for the positions of a direction.
#[derive(Debug, Clone, Copy)]
pub(super) enum OffsetRule<'a> {
    /// Each position once before any is repeated.
    NoRepeat,
    Drawn(&'a Distribution),
    /// By zones: share of the requests in percent, and bytes.
    Zones(&'a [(f64, u64)]),
}

/// Seeds for the order of the positions and for scattering ranks over them.
#[derive(Debug, Clone, Copy)]
pub(super) struct OffsetSeeds {
    pub(super) order: u64,
    pub(super) scatter: u64,
}

impl RandomOffsets {
    /// The positions in `room_bytes`, which must be large enough for a request of `smallest_bytes`.
    pub(super) fn new(
        rule: &OffsetRule<'_>,
        (room_bytes, smallest_bytes, align_bytes): (u64, u32, u32),
        seeds: OffsetSeeds,
    ) -> Result<Self, GenerateError> {
        let align = Divisor::new(align_bytes.into());
        let count = align.divide(room_bytes - u64::from(smallest_bytes)).0 + 1;
        let law = match rule {
            OffsetRule::NoRepeat => OffsetDraw::NoRepeat(Permutation::new(count, seeds.order)),
            OffsetRule::Drawn(distribution) => OffsetDraw::Drawn(Draw::new(
                distribution,
                count,
                Seeds {
                    order: seeds.order,
                    scatter: seeds.scatter,
                },
            )?),
            OffsetRule::Zones(zones) => zone_law(zones, align, count)?,
        };
        Ok(Self {
            align,
            count,
            seed: seeds.order,
            draw: law,
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
        let index = match &self.draw {
            OffsetDraw::NoRepeat(order) => {
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
            OffsetDraw::Drawn(draw) => draw.index(rng),
            OffsetDraw::Zones { choice, zones } => {
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
fn zone_law(zones: &[(f64, u64)], align: Divisor, count: u64) -> Result<OffsetDraw, GenerateError> {
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
    Ok(OffsetDraw::Zones {
        choice: AliasTable::new(&weights),
        zones: ranges.into(),
    })
}
