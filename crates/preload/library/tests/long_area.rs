//! The library on a kernel whose area is that of a processor with AMX, which the machine need not
//! have: 11008 bytes, of which the machine's own are the first.
//!
//! With `--cfg not_completed` the kernel alone, as it was before there was the library.
#![no_std]

#[path = "../area.rs"]
mod area;
#[path = "../layout.rs"]
mod layout;
#[path = "../ptrace.rs"]
mod ptrace;
#[path = "../room.rs"]
mod room;
#[path = "../system.rs"]
mod system;

use ptrace::{Ask, GETREGSET, NT_X86_XSTATE, Registers, SETREGSET};

const LENGTH: usize = 11_008;
const EFAULT: isize = 14;

/// Replaces the C library's `ptrace`.
///
/// # Safety
/// As for the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptrace(request: i32, pid: i32, address: usize, data: usize) -> isize {
    let completed: Ask = long;
    let alone: Ask = refusing;
    let ask = if cfg!(not_completed) {
        alone
    } else {
        completed
    };
    // SAFETY: the caller guarantees what the function requires.
    unsafe { ptrace::ptrace(ask, [request as usize, pid as usize, address, data]) }
}

/// A kernel that takes and gives a long area.
///
/// # Safety
/// As for the system call.
unsafe fn long(arguments: [usize; 4]) -> isize {
    let [request, pid, address, data] = arguments;
    let is_set = request == SETREGSET;
    if address != NT_X86_XSTATE || !(is_set || request == GETREGSET) {
        // SAFETY: guaranteed by the caller.
        return unsafe { system::ptrace(arguments) };
    }
    // SAFETY: guaranteed by the caller.
    let asked = unsafe { &mut *(data as *mut Registers) };
    if is_set && asked.length != LENGTH {
        return -EFAULT;
    }
    let mut own = Registers {
        start: asked.start,
        length: if is_set {
            own_length(pid)
        } else {
            asked.length
        },
    };
    // SAFETY: as the caller's, or the first part of it.
    let answer = unsafe { system::ptrace([request, pid, address, &raw mut own as usize]) };
    asked.length = asked.length.min(LENGTH);
    answer
}

/// The length of the machine's own area.
fn own_length(pid: usize) -> usize {
    let Some(mut room) = room::Room::take() else {
        return 0;
    };
    let bytes = room.bytes();
    let mut own = Registers {
        start: bytes.as_mut_ptr(),
        length: bytes.len(),
    };
    // SAFETY: the room is ours, and the kernel writes no more than its length.
    unsafe { system::ptrace([GETREGSET, pid, NT_X86_XSTATE, &raw mut own as usize]) };
    own.length
}

/// The same, but a length that differs from the kernel's is an error instead of being completed.
///
/// # Safety
/// As for the system call.
unsafe fn refusing(arguments: [usize; 4]) -> isize {
    let [request, _, address, _] = arguments;
    if (request, address) == (SETREGSET, NT_X86_XSTATE) {
        return -EFAULT;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { long(arguments) }
}
