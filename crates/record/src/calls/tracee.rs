//! What a stopped thread holds: registers, memory and descriptors.

use std::ffi::OsString;
use std::io::IoSliceMut;

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Maximum length of a path, as of the kernel (PATH_MAX).
const PATH_BYTES_MAX: usize = 4096;
/// No read crosses the end of a page, because the next one may be missing.
const PAGE_BYTES: u64 = 4096;

#[cfg(target_arch = "x86_64")]
const NATIVE_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE_ARCHITECTURE: u32 = 0xc000_00b7;

/// Where a thread stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallStop {
    /// Before a call.
    Entry {
        /// Number of the call.
        number: i64,
        /// Its arguments.
        values: [u64; 6],
    },
    /// After a call, with its result.
    Exit(i64),
    /// Neither, or a call of a 32-bit program.
    Other,
}

/// A thread that is stopped.
pub(super) struct Tracee(pub(super) Pid);

impl Tracee {
    /// Where the thread stopped.
    ///
    /// # Errors
    ///
    /// The thread does not exist any more.
    pub(super) fn stop(&self) -> Result<CallStop, Errno> {
        let info = ptrace::syscall_info(self.0)?;
        if info.arch != NATIVE_ARCHITECTURE {
            return Ok(CallStop::Other);
        }
        let registers = ptrace::getregs(self.0)?;
        Ok(match info.op {
            libc::PTRACE_SYSCALL_INFO_ENTRY => entry(&registers),
            libc::PTRACE_SYSCALL_INFO_EXIT => CallStop::Exit(result(&registers)),
            _ => CallStop::Other,
        })
    }

    /// The string at an address of the thread, up to its zero byte or [`PATH_BYTES_MAX`].
    pub(super) fn string(&self, mut address: u64) -> Option<Vec<u8>> {
        let mut string = Vec::new();
        while string.len() < PATH_BYTES_MAX {
            let mut part = [0; PAGE_BYTES as usize];
            let room = PAGE_BYTES - address % PAGE_BYTES;
            let part = &mut part[..usize::try_from(room).ok()?.min(256)];
            let count = self.read(address, part)?;
            let part = &part[..count];
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                string.extend_from_slice(&part[..end]);
                return Some(string);
            }
            string.extend_from_slice(part);
            address = address.checked_add(count as u64)?;
        }
        Some(string)
    }

    /// The number at an address of the thread.
    pub(super) fn number(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        let count = self.read(address, &mut bytes)?;
        (count == bytes.len()).then(|| u64::from_ne_bytes(bytes))
    }

    /// Path of a descriptor; pipes and sockets have names such as `pipe:[1234]`.
    pub(super) fn path_of(&self, descriptor: i64) -> Option<OsString> {
        self.link(&format!("fd/{descriptor}"))
    }

    /// The directory in which relative paths start.
    pub(super) fn working_directory(&self) -> Option<OsString> {
        self.link("cwd")
    }

    fn link(&self, name: &str) -> Option<OsString> {
        let path = std::fs::read_link(format!("/proc/{}/{name}", self.0)).ok()?;
        Some(path.into_os_string())
    }

    /// Reads up to the length of `part`; `None` if nothing can be read.
    fn read(&self, address: u64, part: &mut [u8]) -> Option<usize> {
        let remote = RemoteIoVec {
            base: usize::try_from(address).ok()?,
            len: part.len(),
        };
        let count = process_vm_readv(self.0, &mut [IoSliceMut::new(part)], &[remote]).ok()?;
        (count > 0).then_some(count)
    }
}

#[cfg(target_arch = "x86_64")]
fn entry(registers: &libc::user_regs_struct) -> CallStop {
    CallStop::Entry {
        number: registers.orig_rax.cast_signed(),
        values: [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ],
    }
}

#[cfg(target_arch = "x86_64")]
fn result(registers: &libc::user_regs_struct) -> i64 {
    registers.rax.cast_signed()
}

#[cfg(target_arch = "aarch64")]
fn entry(registers: &libc::user_regs_struct) -> CallStop {
    let [a, b, c, d, e, f, ..] = registers.regs;
    CallStop::Entry {
        number: registers.regs[8].cast_signed(),
        values: [a, b, c, d, e, f],
    }
}

#[cfg(target_arch = "aarch64")]
fn result(registers: &libc::user_regs_struct) -> i64 {
    registers.regs[0].cast_signed()
}
