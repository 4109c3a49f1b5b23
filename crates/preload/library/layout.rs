//! Offsets of the features in the area on this processor.

use core::arch::x86_64::__cpuid_count;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The CPUID leaf that describes the area.
const LEAF: u32 = 0xd;

/// Cached offset (upper half) and end (lower half) of each feature; 0 if not queried yet. CPUID
/// takes tens of microseconds in a virtual machine.
static TOLD: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// A feature that this processor lacks, or that has no place in the standard format.
const NOWHERE: u64 = u64::MAX;

/// Byte range of a feature in the area; `None` if it has none.
///
/// Source: Intel, "Software Developer's Manual", volume 1, 13.2, "Enumeration of CPU support".
pub fn place_of(feature: u32) -> Option<Range<usize>> {
    let slot = TOLD.get(feature as usize)?;
    let told = match slot.load(Ordering::Relaxed) {
        0 => {
            let told = ask(feature);
            slot.store(told, Ordering::Relaxed);
            told
        }
        told => told,
    };
    (told != NOWHERE).then_some((told >> 32) as usize..(told as u32) as usize)
}

fn ask(feature: u32) -> u64 {
    let found = __cpuid_count(LEAF, feature);
    let (size, offset) = (u64::from(found.eax), u64::from(found.ebx));
    match size == 0 || offset == 0 {
        true => NOWHERE,
        false => offset << 32 | (offset + size),
    }
}
