//! The library under a program that sets registers from a buffer that is too short for the kernel.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::arch::x86_64::__cpuid_count;
use std::ffi::{c_uint, c_void};
use std::io;
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;

const NT_X86_XSTATE: usize = 0x202;
/// The header's `XSTATE_BV`.
const FEATURES: Range<usize> = 512..520;
const HEADER_END: usize = 576;
/// Environment variable that marks the test process that runs with the library preloaded, and the
/// test process without it.
const ROLE: &str = "PGMETER_TEST_PRELOAD";

/// A process that has stopped before its first instruction.
struct Traced(Child);

impl Traced {
    fn start() -> Self {
        let mut command = Command::new("/bin/true");
        let traced = || {
            // SAFETY: it has no arguments; the calling process asks to be traced.
            let answer = unsafe { libc::ptrace(libc::PTRACE_TRACEME) };
            if answer < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        };
        // SAFETY: between fork and exec there is one system call.
        unsafe { command.pre_exec(traced) };
        let child = command.stdin(Stdio::null()).spawn();
        let process = Self(child.expect("a program starts"));
        let mut status = 0;
        // SAFETY: the status is ours to be written.
        let stopped = unsafe { libc::waitpid(process.pid(), &raw mut status, 0) };
        assert_eq!(stopped, process.pid());
        assert!(libc::WIFSTOPPED(status), "{status}");
        process
    }

    fn pid(&self) -> libc::pid_t {
        self.0.id() as libc::pid_t
    }

    fn registers(&self, request: c_uint, area: &mut [u8]) -> io::Result<usize> {
        let mut part = libc::iovec {
            iov_base: area.as_mut_ptr().cast(),
            iov_len: area.len(),
        };
        let address = NT_X86_XSTATE as *mut c_void;
        // SAFETY: the part lies in the area, which lives longer.
        let answer = unsafe { libc::ptrace(request, self.pid(), address, &raw mut part) };
        match answer {
            0 => Ok(part.iov_len),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn get(&self) -> Vec<u8> {
        let mut area = vec![0; 64 << 10];
        let length = self.registers(libc::PTRACE_GETREGSET, &mut area);
        area.truncate(length.expect("the registers can be read"));
        area
    }

    fn set(&self, area: &[u8]) -> io::Result<usize> {
        self.registers(libc::PTRACE_SETREGSET, &mut area.to_vec())
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        // One that is gone already is gone as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where this processor has the feature, where it is one of vectors that hold any bits.
fn vectors(feature: u32) -> Option<Range<usize>> {
    let cpuid = __cpuid_count(0xd, feature);
    let start = cpuid.ebx as usize;
    let is_vector = matches!(feature, 2 | 5 | 6 | 7);
    (is_vector && cpuid.eax > 0).then(|| start..start + cpuid.eax as usize)
}

fn features(area: &[u8]) -> u64 {
    u64::from_le_bytes(
        area[FEATURES]
            .try_into()
            .expect("the header has 8 bytes of them"),
    )
}

/// An area whose vectors are all in use and hold that byte.
fn filled(plain: &[u8], byte: u8) -> Vec<u8> {
    let mut area = plain.to_vec();
    let mut used = features(plain) | 3;
    // Registers of SSE; what lies before them has bits with a meaning.
    area[160..416].fill(byte);
    for feature in 2..8 {
        if let Some(range) = vectors(feature) {
            area[range].fill(byte);
            used |= 1 << feature;
        }
    }
    area[FEATURES].copy_from_slice(&used.to_le_bytes());
    area
}

/// Runs a test of this file once more, as a program of its own.
fn again(test: &str, role: &str, library: Option<&std::path::Path>) {
    let mut command = Command::new(std::env::current_exe().expect("a test is a program"));
    command
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, role);
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    let done = command.output().expect("this program starts");
    let output = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{output}");
    assert!(!output.contains("ld.so"), "{output}");
}

#[test]
fn short_registers_are_completed_and_others_stay() {
    let role = std::env::var(ROLE).unwrap_or_default();
    if role.is_empty() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("library.so");
        std::fs::write(&path, preload::LIBRARY.unwrap()).unwrap();
        let own = "short_registers_are_completed_and_others_stay";
        again(own, "plain", None);
        again(own, "preloaded", Some(&path));
        return;
    }
    let process = Traced::start();
    let plain = process.get();
    let mut shorter: Vec<usize> = vec![HEADER_END, 640, 832, 1088, 1152, 2000, 2696];
    shorter.retain(|length| *length < plain.len());
    for length in shorter {
        process.set(&filled(&plain, 0x11)).unwrap();
        let before = process.get();
        let given = filled(&plain, 0x22);
        let answer = process.set(&given[..length]);
        if role == "plain" {
            // What the kernel wants; without this there would be nothing to complete.
            assert_eq!(answer.unwrap_err().raw_os_error(), Some(libc::EFAULT));
            assert_eq!(process.get(), before);
            continue;
        }
        assert_eq!(answer.unwrap(), length);
        let after = process.get();
        assert_eq!(after[160..416], given[160..416], "{length}");
        for place in (2..8).filter_map(vectors) {
            let wanted = if place.end <= length { &given } else { &before };
            assert_eq!(after[place.clone()], wanted[place], "{length}");
        }
        assert_eq!(features(&after), features(&before), "{length}");
    }
}

#[test]
fn what_the_kernel_refuses_stays_refused() {
    if std::env::var_os(ROLE).is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("library.so");
        std::fs::write(&path, preload::LIBRARY.unwrap()).unwrap();
        again(
            "what_the_kernel_refuses_stays_refused",
            "preloaded",
            Some(&path),
        );
        return;
    }
    let process = Traced::start();
    let before = process.get();
    let refused = |area: &[u8]| process.set(area).unwrap_err().raw_os_error();
    // No header to go by.
    assert_eq!(refused(&before[..HEADER_END - 8]), Some(libc::EFAULT));
    // A feature that there is not, in an area that is short.
    let mut invalid = before[..HEADER_END].to_vec();
    invalid[FEATURES.end - 1] |= 0x40;
    assert_eq!(refused(&invalid), Some(libc::EINVAL));
    assert_eq!(process.get(), before);
    // A word that is read comes back as the C library hands it over.
    let stack = {
        // SAFETY: the structure is numbers only.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the registers are ours to be written.
        let answer = unsafe {
            let no = null_mut::<c_void>();
            libc::ptrace(libc::PTRACE_GETREGS, process.pid(), no, &raw mut registers)
        };
        assert_eq!(answer, 0);
        registers.rsp as *mut c_void
    };
    // SAFETY: the kernel reads the other process's memory, where its stack is.
    let arguments = unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, process.pid(), stack, 0) };
    assert_eq!(arguments, 1, "the number of arguments");
}
