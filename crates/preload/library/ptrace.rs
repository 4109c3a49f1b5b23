//! The call itself: handed on as it is, and completed where the kernel refuses it for being short.

use core::slice::from_raw_parts;

use crate::area::overlay;
use crate::layout::place_of;
use crate::room::Room;
use crate::system::set_errno;

/// Requests of `ptrace` that read a word, which the C library returns.
const PEEKS: core::ops::RangeInclusive<usize> = 1..=3;
/// Hands out a set of registers.
pub const GETREGSET: usize = 0x4204;
/// Takes a set of registers.
pub const SETREGSET: usize = 0x4205;
/// The set of registers that is the processor's extended state.
pub const NT_X86_XSTATE: usize = 0x202;
const EFAULT: isize = 14;

/// What asks the kernel: request, process, address and data; an error is a negative number.
pub type Ask = unsafe fn([usize; 4]) -> isize;

/// How registers are handed over.
///
/// Source: ptrace(2), `PTRACE_GETREGSET`; `struct iovec` of readv(2).
#[repr(C)]
pub struct Registers {
    /// Where they are.
    pub start: *mut u8,
    /// Bytes that there is room for, or that there are.
    pub length: usize,
}

/// `ptrace` of the C library, where `ask` is the kernel's.
///
/// # Safety
/// As of `ptrace`; where registers are set, `data` is null or points to a `struct iovec` whose
/// bytes can be read.
pub unsafe fn ptrace(ask: Ask, arguments: [usize; 4]) -> isize {
    let [request, pid, address, data] = arguments;
    let mut word = 0_isize;
    let is_peek = PEEKS.contains(&request);
    let place = if is_peek {
        &raw mut word as usize
    } else {
        data
    };
    // SAFETY: the caller's promise; a word has room for what is peeked at.
    let mut answer = unsafe { ask([request, pid, address, place]) };
    if answer == -EFAULT && (request, address) == (SETREGSET, NT_X86_XSTATE) && data != 0 {
        // SAFETY: the caller's promise of `data`.
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

/// Sets all registers: those that are given, and the others to what they are.
///
/// # Safety
/// The given bytes can be read.
unsafe fn set_completed(ask: Ask, pid: usize, given: &Registers) -> isize {
    let Some(mut room) = Room::take() else {
        return -EFAULT;
    };
    let bytes = room.bytes();
    let mut whole = Registers {
        start: bytes.as_mut_ptr(),
        length: bytes.len(),
    };
    // SAFETY: the room is ours, and the kernel writes no more than its length.
    let answer = unsafe { ask([GETREGSET, pid, NT_X86_XSTATE, &raw mut whole as usize]) };
    // What fills the room may be cut off.
    if answer < 0 || whole.length >= bytes.len() || given.length >= whole.length {
        return -EFAULT;
    }
    let Some(area) = bytes.get_mut(..whole.length) else {
        return -EFAULT;
    };
    // SAFETY: the caller's promise.
    let given = unsafe { from_raw_parts(given.start, given.length) };
    if !overlay(area, given, place_of) {
        return -EFAULT;
    }
    // SAFETY: the kernel reads the room, which lives until the end.
    unsafe { ask([SETREGSET, pid, NT_X86_XSTATE, &raw mut whole as usize]) }
}
