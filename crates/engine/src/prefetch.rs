//! Prefetching of memory.

/// Requests the start of a value into the processor's caches without waiting for it.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    let start: *const T = value;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction has no visible effect and is allowed on any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = start;
}
