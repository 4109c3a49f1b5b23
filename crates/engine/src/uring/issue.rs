//! On which thread the kernel executes a file's requests.
//!
//! A ring executes a request on the thread that submits it if the file promises not to block
//! (`FMODE_NOWAIT`) or it takes it for such a one, and otherwise hands it to a thread of its own,
//! at several times the cost.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::squeue::Flags;
use rustix::fs::OFlags;

use super::setup::RingSetup;
use super::trial::{Waiter, waiter};
use crate::files::Files;
use crate::{EngineError, Fileset, Filesets};

const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;
/// The kernel keeps to four threads a processor unless told otherwise, which would quietly hold
/// the queue depth down; more than this are of no use to anybody.
const THREADS_MAX: u32 = 512;

/// Where requests for a file are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On the submitting thread, by the file's own promise or because nothing waits for it there.
    Submitter,
    /// On the submitting thread, because its file system lies in memory and has nothing to wait
    /// for, though it does not promise so.
    SubmitterUnpromised,
    /// On threads of the kernel.
    Threads,
}

/// Prepares `file` and gives the flags of its read requests: where threads are needed anyway, the
/// vain attempt without them is left out.
pub(super) fn prepare(
    file: &OwnedFd,
    slot_count: u32,
    setup: &mut RingSetup,
) -> Result<Flags, EngineError> {
    match place(file, slot_count) {
        Place::Submitter => Ok(Flags::empty()),
        Place::SubmitterUnpromised => {
            setup.memory_inline = true;
            // The flag means nothing to a regular file, but to a ring it is the promise.
            let system = |errno| EngineError::system("fcntl", errno);
            let flags = rustix::fs::fcntl_getfl(file).map_err(system)?;
            rustix::fs::fcntl_setfl(file, flags | OFlags::NONBLOCK).map_err(system)?;
            Ok(Flags::empty())
        }
        Place::Threads => Ok(Flags::ASYNC),
    }
}

/// Prepares all files, lets the kernel have a thread for each slot where it needs them, and
/// writes down whether it does.
pub(super) fn prepare_all(
    ring: &io_uring::IoUring,
    files: &Files,
    slot_count: u32,
    setup: &mut RingSetup,
) -> Result<Vec<Flags>, EngineError> {
    let flags = files
        .iter()
        .map(|(_, file)| prepare(file, slot_count, setup))
        .collect::<Result<Vec<_>, EngineError>>()?;
    setup.kernel_threads = flags.contains(&Flags::ASYNC);
    if setup.kernel_threads {
        allow_threads(ring, slot_count);
    }
    Ok(flags)
}

/// Lets the kernel have a thread for each slot.
pub(super) fn allow_threads(ring: &io_uring::IoUring, slot_count: u32) {
    let mut most_counts = [slot_count.min(THREADS_MAX), 0];
    // Older kernels (before 5.15) keep to their own number.
    let _ = ring.submitter().register_iowq_max_workers(&mut most_counts);
}

/// Whether all files of all sets lie in memory, where reads need no threads.
pub(super) fn in_memory(filesets: &Filesets, setup: &mut RingSetup) -> bool {
    let mut locations = filesets.iter().flat_map(Fileset::locations);
    setup.memory_inline = locations.all(lies_in_memory);
    setup.memory_inline
}

fn place(file: &OwnedFd, slot_count: u32) -> Place {
    if promises(file) {
        return Place::Submitter;
    }
    if lies_in_memory(file) {
        return Place::SubmitterUnpromised;
    }
    match waiter(file) {
        Some(Waiter::Nobody) => Place::Submitter,
        // A single request has no other to keep waiting.
        Some(Waiter::Submitter) if slot_count == 1 => Place::Submitter,
        _ => Place::Threads,
    }
}

fn lies_in_memory(file: &OwnedFd) -> bool {
    let magic = rustix::fs::fstatfs(file).map_or(0, |stat| stat.f_type as u64 & 0xffff_ffff);
    matches!(magic, TMPFS_MAGIC | RAMFS_MAGIC)
}

/// Tries a read without waiting: only a file without the promise answers `EOPNOTSUPP`. A file that
/// is not open for reading cannot be asked and is left to the kernel.
fn promises(file: &OwnedFd) -> bool {
    let mut byte = 0_u8;
    let iovec = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // SAFETY: the kernel writes at most the one byte that the vector names.
    let answer = unsafe { libc::preadv2(file.as_raw_fd(), &iovec, 1, 0, libc::RWF_NOWAIT) };
    let error = std::io::Error::last_os_error();
    answer >= 0 || error.raw_os_error() != Some(libc::EOPNOTSUPP)
}
