//! Buffers of the slots, in one region of anonymous memory.

use std::ffi::c_void;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::EngineError;

const HUGE_PAGE_BYTES: usize = 2 << 20;
// The smallest logical block of a device, so no direct request is smaller.
const SECTOR_BYTES: usize = 512;

/// One buffer per slot, in one region of memory that is touched on creation.
///
/// Each buffer is aligned to its size rounded up to a power of two, at least 512 and at most 4096
/// bytes, as direct I/O of that size requires. Small buffers are packed closely: if they were
/// page-aligned, all would compete for the same few sets of the CPU cache.
#[derive(Debug)]
pub struct Buffers {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    /// Offset of slot 0 in the mapping; aligned to huge pages if the region is large enough for
    /// them.
    start_bytes: usize,
    slot_count: u32,
    buffer_bytes: usize,
    stride_bytes: usize,
}

// SAFETY: the region belongs to this value alone, like a boxed slice.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maximum buffer size, 1 GiB: the largest piece that a ring can register.
    pub const BUFFER_BYTES_MAX: u32 = 1 << 30;

    /// Allocates `slot_count` buffers of `buffer_bytes` each; 0 counts as 1 for both.
    ///
    /// # Errors
    /// If a buffer is too large or there is not enough memory.
    pub fn new(slot_count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        if buffer_bytes > Self::BUFFER_BYTES_MAX {
            let (asked_bytes, most_bytes) = (buffer_bytes, Self::BUFFER_BYTES_MAX);
            return Err(EngineError::BufferSize {
                asked_bytes,
                most_bytes,
            });
        }
        let slot_count = slot_count.max(1);
        let buffer_bytes = buffer_bytes.max(1) as usize;
        let stride_bytes = stride_bytes(buffer_bytes);
        // The size does not fit in a number, so the error cannot state it.
        let too_large = || EngineError::BufferMemory {
            need_bytes: u64::MAX,
            source: rustix::io::Errno::NOMEM.into(),
        };
        let region_bytes = (slot_count as usize)
            .checked_mul(stride_bytes)
            .ok_or_else(too_large)?;
        let huge = region_bytes >= HUGE_PAGE_BYTES;
        // `mmap` aligns to small pages only. One more huge page leaves room to move the start.
        let slack_bytes = if huge { HUGE_PAGE_BYTES } else { 0 };
        let mapping_bytes = region_bytes
            .checked_add(slack_bytes)
            .ok_or_else(too_large)?;
        let mapping = map_anonymous(mapping_bytes)?;
        let start_bytes = if huge {
            mapping.as_ptr().align_offset(HUGE_PAGE_BYTES)
        } else {
            0
        };
        let buffers = Self {
            mapping,
            mapping_bytes,
            start_bytes,
            slot_count,
            buffer_bytes,
            stride_bytes,
        };
        buffers.touch(huge, region_bytes);
        Ok(buffers)
    }

    /// Faults in every page, so that no page fault is measured.
    fn touch(&self, huge: bool, region_bytes: usize) {
        let start = self.slot_pointer(0);
        if huge {
            // SAFETY: the range is within the mapping of this value. Advice may be refused (no huge
            // pages in this kernel); ordinary pages work as well.
            let _ = unsafe {
                rustix::mm::madvise(start.cast::<c_void>(), region_bytes, Advice::LinuxHugepage)
            };
        }
        // The smallest page size of Linux; larger pages are only touched more than once.
        for offset in (0..region_bytes).step_by(4096) {
            // SAFETY: `offset` is within the region, which is writable and not shared.
            unsafe { start.add(offset).write_volatile(0) };
        }
    }

    /// Number of slots.
    #[must_use]
    pub const fn slot_count(&self) -> u32 {
        self.slot_count
    }

    /// Size of one slot's buffer in bytes.
    #[must_use]
    pub const fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// Distance between the starts of consecutive buffers in bytes.
    #[must_use]
    pub const fn stride_bytes(&self) -> usize {
        self.stride_bytes
    }

    /// Memory for all buffers in bytes.
    #[must_use]
    pub const fn memory_bytes(&self) -> usize {
        self.slot_count as usize * self.stride_bytes
    }

    /// The buffer of a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn slot(&mut self, slot: u32) -> &mut [u8] {
        // Also checked in release builds, because a slot beyond the last would reach other memory.
        assert!(slot < self.slot_count, "a slot is below the slot count");
        // SAFETY: slots do not overlap and are within the mapping, which is initialized; `&mut
        // self` makes this the only reference into it.
        unsafe { std::slice::from_raw_parts_mut(self.slot_pointer(slot), self.buffer_bytes) }
    }

    /// Start of the slot's buffer. The user of the pointer must ensure that the slot exists.
    #[inline]
    pub(crate) fn slot_pointer(&self, slot: u32) -> *mut u8 {
        debug_assert!(slot < self.slot_count, "a slot is below the slot count");
        let offset = self.start_bytes + slot as usize * self.stride_bytes;
        // Wraps, because a safe function may be called with any slot; only using the pointer is
        // unsafe.
        self.mapping.as_ptr().wrapping_add(offset)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no reference into it outlives the value.
        let _ = unsafe {
            rustix::mm::munmap(self.mapping.as_ptr().cast::<c_void>(), self.mapping_bytes)
        };
    }
}

fn stride_bytes(buffer_bytes: usize) -> usize {
    let alignment_bytes = buffer_bytes.next_power_of_two().clamp(SECTOR_BYTES, 4096);
    buffer_bytes.next_multiple_of(alignment_bytes)
}

fn map_anonymous(bytes: usize) -> Result<NonNull<u8>, EngineError> {
    // SAFETY: a new mapping at an address of the kernel's choice does not affect others.
    let mapped = unsafe {
        rustix::mm::mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    };
    let pointer = mapped.map_err(|errno| EngineError::BufferMemory {
        need_bytes: bytes as u64,
        source: errno.into(),
    })?;
    Ok(NonNull::new(pointer.cast::<u8>()).expect("the kernel never maps address 0 unasked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_overlap_and_are_aligned_for_direct_io() {
        for (buffer_bytes, alignment) in [(1, 512), (512, 512), (1000, 1024), (4096, 4096)] {
            let mut buffers = Buffers::new(7, buffer_bytes).unwrap();
            for slot in 0..7 {
                let buffer = buffers.slot(slot);
                assert_eq!(buffer.as_ptr() as usize % alignment, 0, "{buffer_bytes}");
                buffer.fill(slot as u8);
            }
            for slot in 0..7 {
                assert!(buffers.slot(slot).iter().all(|byte| *byte == slot as u8));
            }
        }
    }

    #[test]
    fn sizes_beyond_a_page_are_aligned_to_pages() {
        for buffer_bytes in [4097, 65_536, 100_000, 1 << 20] {
            let mut buffers = Buffers::new(3, buffer_bytes).unwrap();
            assert_eq!(buffers.slot(2).len(), buffer_bytes as usize);
            assert_eq!(buffers.slot(2).as_ptr() as usize % 4096, 0);
        }
    }

    #[test]
    fn depth_128_of_4_kib_takes_half_a_mebibyte() {
        assert_eq!(Buffers::new(128, 4096).unwrap().memory_bytes(), 512 << 10);
    }

    #[test]
    fn large_regions_start_at_a_huge_page() {
        let mut buffers = Buffers::new(32, 1 << 20).unwrap();
        assert_eq!(buffers.slot(0).as_ptr() as usize % HUGE_PAGE_BYTES, 0);
        buffers.slot(31).fill(1);
    }

    #[test]
    fn unavailable_memory_is_a_typed_error() {
        let error = Buffers::new(u32::MAX, 1 << 30).unwrap_err();
        assert!(matches!(error, EngineError::BufferMemory { .. }), "{error}");
        let error = Buffers::new(1, (1 << 30) + 1).unwrap_err();
        assert!(matches!(error, EngineError::BufferSize { .. }), "{error}");
    }

    #[test]
    #[should_panic(expected = "a slot is below the slot count")]
    fn a_slot_beyond_the_last_is_a_broken_invariant() {
        Buffers::new(2, 512).unwrap().slot(2);
    }
}
