//! System calls, and the `errno` of the C library.

use core::arch::asm;

const PTRACE: usize = 101;
const MMAP: usize = 9;
const MUNMAP: usize = 11;

const PROT_READ_WRITE: usize = 0x3;
const MAP_PRIVATE_ANONYMOUS: usize = 0x22;
/// File descriptor of an anonymous mapping.
const NONE: usize = usize::MAX;

unsafe extern "C" {
    /// Address of this thread's `errno` in the C library; part of the Linux Standard Base.
    fn __errno_location() -> *mut i32;
}

/// The kernel's `ptrace`. Returns its result; an error is a negative number.
///
/// # Safety
/// As for the system call.
pub unsafe fn ptrace(arguments: [usize; 4]) -> isize {
    let [request, pid, address, data] = arguments;
    // SAFETY: guaranteed by the caller.
    unsafe { call(PTRACE, [request, pid, address, data, 0, 0]) }
}

/// Maps zeroed memory; `None` if there is none.
pub fn map(length: usize) -> Option<*mut u8> {
    let arguments = [0, length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, NONE, 0];
    // SAFETY: the kernel chooses the address, so no existing memory is touched.
    let answer = unsafe { call(MMAP, arguments) };
    (answer > 0).then_some(answer as *mut u8)
}

/// Unmaps memory.
///
/// # Safety
/// The memory comes from `map`, has this length and is no longer used.
pub unsafe fn unmap(start: *mut u8, length: usize) {
    // SAFETY: the caller's contract. Unmapping an existing mapping does not fail.
    unsafe { call(MUNMAP, [start as usize, length, 0, 0, 0, 0]) };
}

/// Sets the `errno` of the C library.
pub fn set_errno(number: i32) {
    // SAFETY: the C library has one per thread, which lives as long as the thread.
    unsafe { *__errno_location() = number };
}

/// # Safety
/// As for the system call with this number.
unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let answer;
    // SAFETY: the kernel reads the arguments from these registers and changes only the registers
    // listed. The caller answers for the effect on memory.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            in("r9") sixth,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: the instruction ends the process, like an abort.
    unsafe { asm!("ud2", options(noreturn)) }
}
