//! The call itself. It is passed on unchanged, and completed if the kernel rejects it as too short.

use core::slice::from_raw_parts;

use crate::area::overlay;
use crate::layout::byte_range;
use crate::room::Room;
use crate::system::set_errno;

/// Requests of `ptrace` that read a word; the C library returns it as the result.
const PEEKS: core::ops::RangeInclusive<usize> = 1..=3;
/// Request that reads a register set.
pub const GETREGSET: usize = 0x4204;
/// Request that writes a register set.
pub const SETREGSET: usize = 0x4205;
/// Register set of the extended processor state.
pub const NT_X86_XSTATE: usize = 0x202;
const EFAULT: isize = 14;

/// The kernel's `ptrace`: request, process, address and data. Errors are negative numbers.
pub type Ask = unsafe fn([usize; 4]) -> isize;

/// Buffer through which registers are passed.
///
/// Source: ptrace(2), `PTRACE_GETREGSET`; `struct iovec` of readv(2).
#[repr(C)]
pub struct Registers {
    /// Start of the buffer.
    pub start: *mut u8,
    /// Size of the buffer, or number of bytes in it.
    pub length: usize,
}

/// `ptrace` as the C library provides it, on top of the kernel's `ask`.
///
/// # Safety
/// As for `ptrace`. If registers are set, `data` is null or points to a readable `struct iovec`
/// whose bytes can be read.
pub unsafe fn ptrace(ask: Ask, arguments: [usize; 4]) -> isize {
    let [request, pid, address, data] = arguments;
    let mut word = 0_isize;
    let is_peek = PEEKS.contains(&request);
    let place = if is_peek {
        &raw mut word as usize
    } else {
        data
    };
    // SAFETY: the caller's contract; for a peek, `word` has room for the result.
    let mut answer = unsafe { ask([request, pid, address, place]) };
    if answer == -EFAULT && (request, address) == (SETREGSET, NT_X86_XSTATE) && data != 0 {
        // SAFETY: the caller guarantees that `data` is valid.
        answer = unsafe { set_completed(ask, pid, &*(data as *const Registers)) };
    }
    if answer < 0 {
        set_errno(-answer as i32);
        return -1;
    }
    if is_peek {
        set_errno(0);
        return word;
    }
    answer
}

/// Sets all registers: those in `given` to the given values, the others to their current values.
///
/// # Safety
/// The bytes of `given` can be read.
unsafe fn set_completed(ask: Ask, pid: usize, given: &Registers) -> isize {
    let Some(mut room) = Room::take() else {
        return -EFAULT;
    };
    let bytes = room.bytes();
    let mut registers = Registers {
        start: bytes.as_mut_ptr(),
        length: bytes.len(),
    };
    // SAFETY: the room is ours, and the kernel writes at most `length` bytes.
    let answer = unsafe { ask([GETREGSET, pid, NT_X86_XSTATE, &raw mut registers as usize]) };
    // An area that fills the room may have been truncated.
    if answer < 0 || registers.length >= bytes.len() || given.length >= registers.length {
        return -EFAULT;
    }
    let Some(area) = bytes.get_mut(..registers.length) else {
        return -EFAULT;
    };
    // SAFETY: the caller's contract.
    let given = unsafe { from_raw_parts(given.start, given.length) };
    if !overlay(area, given, byte_range) {
        return -EFAULT;
    }
    // SAFETY: the kernel reads the room, which lives until the end of the function.
    unsafe { ask([SETREGSET, pid, NT_X86_XSTATE, &raw mut registers as usize]) }
}
