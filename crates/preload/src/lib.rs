//! A library to be preloaded (`LD_PRELOAD`) into User-mode Linux, the kernel of guests.
//!
//! User-mode Linux passes the registers of its processes to the host kernel by `ptrace`
//! (`PTRACE_SETREGSET`, `NT_X86_XSTATE`), from a buffer of 2696 bytes. The host kernel accepts only
//! the complete extended state of the processor, and some processors have a larger one: 11008 bytes
//! with AMX. The library's `ptrace` fills in the missing part from the current state. If the kernel
//! accepts the buffer as it is, the call is not changed.
//!
//! Source: Linux, `arch/x86/kernel/fpu/regset.c`, `xstateregs_set`, and
//! `arch/x86/um/user-offsets.c` of Linux 6.1.

/// Content of the library file; `None` on targets that cannot use it.
#[cfg(has_library)]
pub const LIBRARY: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/ptrace.so")));

/// Content of the library file; `None` on targets that cannot use it.
#[cfg(not(has_library))]
pub const LIBRARY: Option<&[u8]> = None;

#[cfg(test)]
#[path = "../library/area.rs"]
mod area;
