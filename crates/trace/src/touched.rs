//! Bytes that requests touch, counted once each.

use crate::names::NameId;

/// Number of extents that are kept before neighbors are joined.
const EXTENTS_MAX: usize = 1 << 17;
/// Number of extents above which extents are rounded, so that joining stays rare.
const ROUNDED_ABOVE: usize = 1 << 16;
const ROUNDING_BYTES_MIN: u64 = 4096;

/// A set of extents on several devices in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct TouchedExtents {
    extents: Vec<TouchedExtent>,
    /// Extents are rounded outward to this size; 0 while they are exact.
    rounding_bytes: u64,
}

/// Bytes from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TouchedExtent {
    device: NameId,
    start: u64,
    end: u64,
}

impl TouchedExtents {
    /// Adds the bytes from `start` to before `end`.
    pub(crate) fn add(&mut self, device: NameId, start: u64, end: u64) {
        if start >= end {
            return;
        }
        // Sequential requests extend the last extent, which saves most of the work.
        if let Some(last) = self.extents.last_mut()
            && last.device == device
            && last.start <= start
            && start <= last.end
        {
            last.end = last.end.max(end);
            return;
        }
        let extent = TouchedExtent { device, start, end };
        self.extents.push(self.rounded(extent));
        if self.extents.len() >= EXTENTS_MAX {
            self.join();
            while self.extents.len() > ROUNDED_ABOVE {
                self.rounding_bytes = (self.rounding_bytes * 2).max(ROUNDING_BYTES_MIN);
                let rounded = self.extents.iter().map(|extent| self.rounded(*extent));
                self.extents = rounded.collect();
                self.join();
            }
        }
    }

    fn rounded(&self, extent: TouchedExtent) -> TouchedExtent {
        let Some(mask) = self.rounding_bytes.checked_sub(1) else {
            return extent;
        };
        TouchedExtent {
            start: extent.start & !mask,
            end: extent.end.saturating_add(mask) & !mask,
            ..extent
        }
    }

    /// Joins extents that overlap or touch.
    fn join(&mut self) {
        self.extents.sort_unstable();
        self.extents.dedup_by(|next, kept| {
            let is_joined = next.device == kept.device && next.start <= kept.end;
            if is_joined {
                kept.end = kept.end.max(next.end);
            }
            is_joined
        });
    }

    /// Number of bytes on one device, or on all.
    pub(crate) fn bytes(&mut self, device: Option<NameId>) -> u64 {
        self.join();
        let of_device =
            |extent: &&TouchedExtent| device.is_none_or(|device| extent.device == device);
        let lengths = self.extents.iter().filter(of_device);
        lengths.fold(0, |sum: u64, it| sum.saturating_add(it.end - it.start))
    }

    /// Size to which extents were rounded outward; 0 if the numbers are exact.
    pub(crate) fn rounding_bytes(&self) -> u64 {
        self.rounding_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: NameId = NameId::UNKNOWN;

    #[test]
    fn bytes_count_once_per_device() {
        let mut touched = TouchedExtents::default();
        for (start, end) in [(0, 10), (5, 20), (100, 100), (30, 40), (20, 30)] {
            touched.add(DEVICE, start, end);
        }
        touched.add(NameId::OVERFLOW, 0, 7);
        assert_eq!(touched.bytes(Some(DEVICE)), 40);
        assert_eq!(touched.bytes(None), 47);
        assert_eq!(touched.rounding_bytes(), 0);
    }

    #[test]
    fn many_extents_are_rounded_outward_in_bounded_memory() {
        let mut touched = TouchedExtents::default();
        for index in 0..1_000_000_u64 {
            // Scattered, so that few of them are neighbors.
            let start = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            touched.add(DEVICE, start, start + 512);
        }
        assert!(touched.extents.len() <= EXTENTS_MAX);
        assert!(touched.rounding_bytes() >= ROUNDING_BYTES_MIN);
        assert!(touched.bytes(None) >= 1_000_000 * 512 / 2);
    }
}
