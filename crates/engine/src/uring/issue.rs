//! Thread on which the kernel executes a file's requests.
//!
//! A ring executes a request on the submitting thread if the file is nonblocking (`FMODE_NOWAIT`)
//! or treated as such. Otherwise it passes the request to a kernel thread, at several times the
//! cost.

use std::os::fd::OwnedFd;

use io_uring::squeue::Flags;
use rustix::fs::OFlags;

use super::setup::RingGrants;
use super::trial::{Waiter, detect_waiter};
use crate::files::{EngineFiles, read_byte};
use crate::{EngineError, Fileset, Filesets};

const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;
/// By default the kernel limits itself to four threads per CPU, which would silently reduce the
/// queue depth. More threads than this bring no benefit.
const THREADS_MAX: u32 = 512;

/// Thread that executes the requests for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Executor {
    /// The submitting thread: the file is nonblocking, or nothing waits for it there.
    Submitter,
    /// The submitting thread: the file system is in memory and never waits, although it does not
    /// report its files as nonblocking.
    SubmitterInMemory,
    /// Kernel threads.
    Threads,
}

/// Prepares `file` and returns the flags of its reads. If kernel threads are needed anyway, `ASYNC`
/// skips the useless attempt without them.
pub(super) fn prepare(
    file: &OwnedFd,
    slot_count: u32,
    setup: &mut RingGrants,
) -> Result<Flags, EngineError> {
    match place(file, slot_count) {
        Executor::Submitter => Ok(Flags::empty()),
        Executor::SubmitterInMemory => {
            setup.memory_inline = true;
            // The flag has no effect on a regular file, but tells the ring that it is nonblocking.
            let system = |errno| EngineError::system("fcntl", errno);
            let flags = rustix::fs::fcntl_getfl(file).map_err(system)?;
            rustix::fs::fcntl_setfl(file, flags | OFlags::NONBLOCK).map_err(system)?;
            Ok(Flags::empty())
        }
        Executor::Threads => Ok(Flags::ASYNC),
    }
}

/// Prepares all files. If kernel threads are needed, allows one per slot and records that in
/// `setup`.
pub(super) fn prepare_all(
    ring: &io_uring::IoUring,
    files: &EngineFiles,
    slot_count: u32,
    setup: &mut RingGrants,
) -> Result<Vec<Flags>, EngineError> {
    let flags = files
        .iter()
        .map(|(_, file)| prepare(file, slot_count, setup))
        .collect::<Result<Vec<_>, EngineError>>()?;
    setup.kernel_threads = flags.contains(&Flags::ASYNC);
    if setup.kernel_threads {
        allow_threads(&ring.submitter(), slot_count);
    }
    Ok(flags)
}

/// Allows the kernel one thread per slot.
pub(super) fn allow_threads(submitter: &io_uring::Submitter<'_>, slot_count: u32) {
    // 0 keeps the kernel's second limit, which is for work of unbounded length.
    let mut most_counts = [slot_count.min(THREADS_MAX), 0];
    // Kernels before 5.15 use their own limit.
    let _ = submitter.register_iowq_max_workers(&mut most_counts);
}

/// `true` if all files of all filesets are in memory, where reads need no kernel threads. Recorded
/// in `setup`.
pub(super) fn in_memory(filesets: &Filesets, setup: &mut RingGrants) -> bool {
    let mut locations = filesets.iter().flat_map(Fileset::locations);
    setup.memory_inline = locations.all(is_on_memory_file_system);
    setup.memory_inline
}

fn place(file: &OwnedFd, slot_count: u32) -> Executor {
    if supports_nowait(file) {
        return Executor::Submitter;
    }
    if is_on_memory_file_system(file) {
        return Executor::SubmitterInMemory;
    }
    match detect_waiter(file) {
        Some(Waiter::None) => Executor::Submitter,
        // A single request cannot delay another.
        Some(Waiter::Submitter) if slot_count == 1 => Executor::Submitter,
        _ => Executor::Threads,
    }
}

fn is_on_memory_file_system(file: &OwnedFd) -> bool {
    // On some machines the type has 32 bits and a sign, which the magic number of ramfs sets.
    let magic = rustix::fs::fstatfs(file).map_or(0, |stat| stat.f_type as u64 & 0xffff_ffff);
    matches!(magic, TMPFS_MAGIC | RAMFS_MAGIC)
}

/// Tries a nonblocking read, which fails with `EOPNOTSUPP` only if the file does not support it. A
/// file that is not open for reading cannot be tried; the kernel decides for it.
fn supports_nowait(file: &OwnedFd) -> bool {
    let refused = read_byte(file, libc::RWF_NOWAIT).err();
    refused.is_none_or(|it| it.raw_os_error() != Some(libc::EOPNOTSUPP))
}
