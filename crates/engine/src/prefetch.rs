//! Memory brought near before it is used.

/// Asks the processor to bring the start of a value into its caches, and does not wait for it.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    let start: *const T = value;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing that a program could see and is allowed on any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = start;
}
