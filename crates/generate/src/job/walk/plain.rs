//! Fast path for jobs with one file and requests of one size at random positions.

use plan::job::StreamPlan;

use super::super::sides::RequestDirection;
use super::{JobWalk, WalkPosition};

/// `true` if pauses, syncs and a number of requests do not affect the next request of a stream.
/// Only then the fast path, which looks at the position only, may make it.
pub(in super::super) fn has_position_only(stream: &StreamPlan) -> bool {
    stream.think.is_none()
        && stream.sync.fsync_each == 0
        && stream.sync.fdatasync_each == 0
        && stream.sync.range.is_none()
        && stream.end.requests.is_none()
}

impl JobWalk {
    /// `true` if [`Self::next_plain_offset`] can place all requests of a direction.
    pub(in super::super) fn is_plain(&self, side: RequestDirection) -> bool {
        let number = side as usize;
        let rule = &self.directions[number];
        let has_places = |part: &super::JobPart| part.random[number].is_some();
        self.parts.len() == 1
            && self.parts.iter().all(has_places)
            && rule.random >= 1 << 32
            && rule.sizes.is_fixed()
            && rule.sizes.min_bytes() == self.smallest_bytes
            && self.run_length == 1
            && self.zones.is_none()
            && self.map_block.is_none()
    }

    /// Offset of the next request in the file, the same that [`Self::next`] would return. `None` if
    /// all positions were used; [`Self::next`] then closes the file.
    #[inline]
    pub(in super::super) fn next_plain_offset(
        &self,
        position: &mut WalkPosition,
        side: RequestDirection,
    ) -> Option<u64> {
        let number = side as usize;
        let part = self.parts.first()?;
        let file = position.files.first_mut()?;
        let length_bytes = u64::from(self.smallest_bytes);
        if self.is_done_by_bytes && file.moved_bytes + length_bytes > part.size_bytes {
            return None;
        }
        let offsets = part.random[number].as_ref()?;
        let turn = &mut file.turns[if self.shares_order { 0 } else { number }];
        // Only positions at which a whole request fits.
        let start_bytes = offsets.start_bytes(&mut position.rng, turn, 0);
        file.moved_bytes += length_bytes;
        Some(part.start_bytes + start_bytes)
    }
}
