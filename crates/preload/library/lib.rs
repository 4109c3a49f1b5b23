//! `ptrace` as programs of the C library call it.
#![no_std]

mod area;
mod layout;
mod ptrace;
mod room;
mod system;

/// What the C library has under that name.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptrace(request: i32, pid: i32, address: usize, data: usize) -> isize {
    // SAFETY: the caller's promises are those that are asked for.
    unsafe {
        ptrace::ptrace(
            system::ptrace,
            [request as usize, pid as usize, address, data],
        )
    }
}
