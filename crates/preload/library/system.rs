//! The kernel below, and what is the C library's: `errno`.

use core::arch::asm;

const PTRACE: usize = 101;
const MMAP: usize = 9;
const MUNMAP: usize = 11;

const PROT_READ_WRITE: usize = 0x3;
const MAP_PRIVATE_ANONYMOUS: usize = 0x22;
/// No file.
const NONE: usize = usize::MAX;

unsafe extern "C" {
    /// Where the C library has this thread's `errno`; part of the Linux Standard Base.
    fn __errno_location() -> *mut i32;
}

/// `ptrace`; the answer is what the kernel says, an error as a negative number.
///
/// # Safety
/// As of the system call.
pub unsafe fn ptrace(arguments: [usize; 4]) -> isize {
    let [request, pid, address, data] = arguments;
    // SAFETY: the caller's promise.
    unsafe { call(PTRACE, [request, pid, address, data, 0, 0]) }
}

/// New memory, zeroed.
pub fn map(length: usize) -> Option<*mut u8> {
    let arguments = [0, length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, NONE, 0];
    // SAFETY: where the kernel chooses the place, nothing that is there is touched.
    let answer = unsafe { call(MMAP, arguments) };
    (answer > 0).then_some(answer as *mut u8)
}

/// Gives memory back.
///
/// # Safety
/// It is of `map`, of that length, and nobody uses it any more.
pub unsafe fn unmap(start: *mut u8, length: usize) {
    // SAFETY: the caller's promise. It cannot fail for a mapping that is there.
    unsafe { call(MUNMAP, [start as usize, length, 0, 0, 0, 0]) };
}

/// Sets the C library's `errno`.
pub fn set_errno(number: i32) {
    // SAFETY: the C library has one for each thread, for as long as the thread lives.
    unsafe { *__errno_location() = number };
}

/// # Safety
/// As of the system call of that number.
unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let answer;
    // SAFETY: the kernel takes the arguments where they are put and changes no other register
    // than those named; what it does to memory is the caller's to allow.
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
    // SAFETY: it ends the process, as an abort does.
    unsafe { asm!("ud2", options(noreturn)) }
}
