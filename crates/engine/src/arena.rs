//! Memory of the C library's allocator.

/// Lets all threads allocate from one arena. By default, glibc reserves 64 MiB of address space for
/// each of many threads, more than everything else in a small run.
///
/// Source: glibc, `mallopt(3)`, `M_ARENA_MAX`; `HEAP_MAX_SIZE` in `malloc/arena.c`.
pub fn share_arena() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: the call changes a number that the allocator reads under its own lock.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}
