//! Random positions that use each block once, for requests of any size.

use super::super::random_places::RandomOffsets;
use super::super::sides::RequestDirection;
use super::{JobPart, JobWalk, WalkDraws};
use crate::arithmetic::Divisor;

impl JobWalk {
    /// The first unused position from `start_bytes` on, wrapping around at the end. The size is cut
    /// off at the next used block. As in fio, positions after used blocks are therefore used sooner
    /// than others, and few sizes are cut.
    pub(super) fn random_unused(
        &self,
        (part, places, block): (&JobPart, &RandomOffsets, Divisor),
        start_bytes: u64,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
    ) -> Option<(u64, u32)> {
        // Positions may be aligned more coarsely than the blocks of the map.
        let step = (places.align_bytes() / block.value()).max(1);
        let unused = |from: u64, to: u64| {
            let mut from = from;
            loop {
                let blocks = part.first_block + from..part.first_block + to;
                let found = draws.used.first_absent(blocks)? - part.first_block;
                let aligned = found.next_multiple_of(step);
                if aligned == found || (aligned < to && !draws.used.has(part.first_block + aligned))
                {
                    return Some(aligned);
                }
                from = aligned;
            }
        };
        let first = block.divide(start_bytes).0;
        let end = (places.count() - 1) * step + 1;
        // Drawing among all free positions made 70 % more requests of `bssplit=4k/50:64k/50` than
        // fio.
        let first = unused(first, end).or_else(|| unused(0, first))?;
        let start_bytes = first * block.value();
        let sizes = &self.directions[side as usize].sizes;
        let room_bytes = part.size_bytes - start_bytes;
        let wanted_bytes = sizes.fitting(draws.size_rng, room_bytes)?;
        let wanted_end = first + u64::from(wanted_bytes).div_ceil(block.value());
        let range = first..wanted_end;
        let free_count = range
            .take_while(|it| !draws.used.has(part.first_block + it))
            .count() as u64;
        let length_bytes = (free_count * block.value()).min(wanted_bytes.into()) as u32;
        Some(self.used(part, draws, (start_bytes, length_bytes)))
    }

    /// Marks the blocks of a request as used.
    pub(super) fn used(
        &self,
        part: &JobPart,
        draws: &mut WalkDraws<'_>,
        extent: (u64, u32),
    ) -> (u64, u32) {
        if let Some(block) = self.map_block {
            let (start_bytes, length_bytes) = extent;
            let first = block.divide(start_bytes).0;
            let end = block.divide(start_bytes + u64::from(length_bytes) - 1).0 + 1;
            (first..end).for_each(|number| draws.used.put(part.first_block + number));
        }
        extent
    }
}
