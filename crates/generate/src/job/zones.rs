//! Parts of a job's files with gaps between them, one after the other.

use workload::job::ZoneRule;

use super::file_position::FilePosition;
use super::number;
use crate::GenerateError;

/// Zones of a file, counted from its first byte that is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct ZoneWalk {
    used_bytes: u64,
    zone_bytes: u64,
    pitch_bytes: u64,
}

impl ZoneWalk {
    pub(super) fn new(rule: &ZoneRule) -> Result<Self, GenerateError> {
        number("the length of a zone", rule.zone_bytes, "above 0")?;
        number(
            "the part of a zone that is used",
            rule.used_bytes,
            "above 0",
        )?;
        Ok(Self {
            used_bytes: rule.used_bytes,
            zone_bytes: rule.zone_bytes,
            pitch_bytes: rule.zone_bytes.saturating_add(rule.skip_bytes),
        })
    }

    /// Bytes of a zone.
    pub(super) const fn room_bytes(&self) -> u64 {
        self.zone_bytes
    }

    /// From the start of a zone to the next one's.
    pub(super) const fn pitch_bytes(&self) -> u64 {
        self.pitch_bytes
    }

    /// Whether as much was moved in the zone as is moved in each.
    pub(super) const fn is_used_up(&self, file: &FilePosition) -> bool {
        file.zone_moved_bytes >= self.used_bytes
    }

    /// First byte of a zone and the one behind its last in a part of so many bytes.
    pub(super) fn range(&self, size_bytes: u64, zone: u64) -> (u64, u64) {
        let low_bytes = zone * self.pitch_bytes;
        let high_bytes = low_bytes.saturating_add(self.zone_bytes);
        (low_bytes, high_bytes.min(size_bytes))
    }

    /// The zone behind one; the first where no request fits behind it.
    pub(super) fn behind(&self, size_bytes: u64, smallest_bytes: u32, zone: u64) -> u64 {
        let (low_bytes, high_bytes) = self.range(size_bytes, zone + 1);
        if low_bytes.saturating_add(smallest_bytes.into()) <= high_bytes {
            zone + 1
        } else {
            0
        }
    }
}
