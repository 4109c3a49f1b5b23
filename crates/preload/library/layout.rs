//! Offsets of the features in the area on this processor.

use core::arch::x86_64::__cpuid_count;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The CPUID leaf that describes the area.
const LEAF: u32 = 0xd;

/// Cached offset (upper half) and end (lower half) of each feature; 0 if not queried yet. CPUID
/// takes tens of microseconds in a virtual machine.
static CACHED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// A feature that this processor lacks, or that has no offset in the standard format.
const ABSENT: u64 = u64::MAX;

/// Byte range of a feature in the area; `None` if it has none.
///
/// Source: Intel, "Software Developer's Manual", volume 1, 13.2, "Enumeration of CPU support".
pub fn byte_range(feature: u32) -> Option<Range<usize>> {
    let slot = CACHED.get(feature as usize)?;
    let packed_range = match slot.load(Ordering::Relaxed) {
        0 => {
            let packed_range = query(feature);
            slot.store(packed_range, Ordering::Relaxed);
            packed_range
        }
        packed_range => packed_range,
    };
    let range = (packed_range >> 32) as usize..(packed_range as u32) as usize;
    (packed_range != ABSENT).then_some(range)
}

fn query(feature: u32) -> u64 {
    let found = __cpuid_count(LEAF, feature);
    let (size, offset) = (u64::from(found.eax), u64::from(found.ebx));
    match size == 0 || offset == 0 {
        true => ABSENT,
        false => offset << 32 | (offset + size),
    }
}
