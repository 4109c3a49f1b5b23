//! A library for the kernel of guests, User-mode Linux, to be preloaded (`LD_PRELOAD`) into it.
//!
//! User-mode Linux hands the registers of its processes to the host's kernel by `ptrace`
//! (`PTRACE_SETREGSET`, `NT_X86_XSTATE`), from a buffer of 2696 bytes. The host's kernel takes all
//! of the processor's extended state or nothing, and there are processors that have more: 11008
//! bytes with AMX. The library's `ptrace` completes what is given from what is there. Where the
//! kernel takes what it is given, nothing is changed.
//!
//! Source: Linux, `arch/x86/kernel/fpu/regset.c`, `xstateregs_set`, and
//! `arch/x86/um/user-offsets.c` of Linux 6.1.

/// The library as a file's content; none on targets on which there is no use for it.
#[cfg(has_library)]
pub const LIBRARY: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/ptrace.so")));

/// The library as a file's content; none on targets on which there is no use for it.
#[cfg(not(has_library))]
pub const LIBRARY: Option<&[u8]> = None;

#[cfg(test)]
#[path = "../library/area.rs"]
mod area;
