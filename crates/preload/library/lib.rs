//! The `ptrace` function that programs call through the C library.
#![no_std]

mod area;
mod layout;
mod ptrace;
mod room;
mod system;

/// Replaces the C library's function of this name.
///
/// # Safety
/// As for the C library's `ptrace`.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptrace(request: i32, pid: i32, address: usize, data: usize) -> isize {
    // SAFETY: the caller upholds the contract of `ptrace`.
    unsafe {
        ptrace::ptrace(
            system::ptrace,
            [request as usize, pid as usize, address, data],
        )
    }
}
