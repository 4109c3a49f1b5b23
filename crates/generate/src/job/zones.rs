//! Zones of a job's files with gaps between them, used one after another.

use plan::job::ZoneRule;

use super::file_position::FilePosition;
use super::number;
use crate::GenerateError;

/// Zones of a file, relative to its first used byte.
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

    /// Size of a zone.
    pub(super) const fn room_bytes(&self) -> u64 {
        self.zone_bytes
    }

    /// Distance between the starts of consecutive zones.
    pub(super) const fn pitch_bytes(&self) -> u64 {
        self.pitch_bytes
    }

    /// Start and end of the zone of the next request; the part may end earlier.
    ///
    /// After `used_bytes` in a zone, the next zone follows; until then requests go through the zone
    /// again. Both directions return to its start each time `zone_bytes` were moved.
    pub(super) fn enter(&self, file: &mut FilePosition, size_bytes: u64) -> (u64, u64) {
        if file.zone_moved_bytes >= self.used_bytes {
            file.zone = self.next_zone(size_bytes, file.zone);
            file.zone_moved_bytes = 0;
            file.zone_pass_bytes = 0;
        }
        let low_bytes = file.zone * self.pitch_bytes;
        if file.zone_pass_bytes == 0 {
            file.begin_zone(low_bytes);
        }
        (low_bytes, low_bytes.saturating_add(self.zone_bytes))
    }

    /// Records a request in the zone.
    pub(super) const fn moved(&self, file: &mut FilePosition, length_bytes: u32) {
        file.zone_moved_bytes += length_bytes as u64;
        file.zone_pass_bytes += length_bytes as u64;
        if file.zone_pass_bytes >= self.zone_bytes {
            // A request may cross the end of its zone; the rest counts in the next pass.
            file.zone_pass_bytes %= self.zone_bytes;
        }
    }

    /// The following zone; the first one if the part ends before it.
    const fn next_zone(&self, size_bytes: u64, zone: u64) -> u64 {
        match (zone + 1).checked_mul(self.pitch_bytes) {
            Some(low_bytes) if low_bytes < size_bytes => zone + 1,
            _ => 0,
        }
    }
}
