//! The next position of a job with zones.

use super::super::file_position::FilePosition;
use super::super::sides::RequestDirection;
use super::super::zones::ZoneWalk;
use super::{JobPart, JobWalk, WalkDraws};

impl JobWalk {
    /// As `extent_in_range`, zone by zone. As in fio, a request may extend past the end of its
    /// zone.
    pub(super) fn extent_in_zones(
        &self,
        zones: &ZoneWalk,
        part: &JobPart,
        file: &mut FilePosition,
        draws: &mut WalkDraws<'_>,
        side: RequestDirection,
    ) -> Option<(u64, u32)> {
        let (low_bytes, high_bytes) = zones.enter(file, part.size_bytes);
        let end_bytes = &mut file.end_bytes[side as usize];
        if *end_bytes >= high_bytes {
            *end_bytes = low_bytes;
        }
        let room = (low_bytes, part.size_bytes);
        let extent = self.extent_in_range(part, file, draws, side, room)?;
        zones.moved(file, extent.1);
        Some(extent)
    }
}
