//! A read to try: who waits for a file that does not promise not to block.
//!
//! Newer kernels (6.18 does) take a file that can be polled, as one on FUSE can, for one that does
//! not block, and read it on the submitting thread. A file system that goes on by itself
//! (`FUSE_ASYNC_DIO`) is then at its fastest; any other lets one request in at a time.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fs::OFlags;

use super::last::last_completion;
use crate::Buffers;

const READ_BYTES: u32 = 4096;

/// Who waits until a read is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiter {
    /// The thread that submits it, or it is done at once.
    Submitter,
    /// A thread of the kernel that the ring hands it to.
    Thread,
    /// Nobody: the file system says when it is done.
    Nobody,
}

/// Reads the beginning of a file without the page cache; nothing where that cannot be tried.
///
/// In a ring whose completions wait to be asked for (6.1), those that are there when submission
/// returns are of requests that were done by then, however fast the file system is.
///
/// Tried on a thread of its own: the kernel's threads for a ring belong to the thread that submits,
/// and those of another read are not to be taken for this one's.
pub(super) fn waiter(file: &OwnedFd) -> Option<Waiter> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("trial".to_owned());
        let trial = builder.spawn_scoped(scope, || try_read(file));
        trial.ok()?.join().ok()?
    })
}

fn try_read(file: &OwnedFd) -> Option<Waiter> {
    let flags = rustix::fs::fcntl_getfl(file).ok()?;
    if !flags.contains(OFlags::DIRECT) {
        return None;
    }
    let buffers = Buffers::new(1, READ_BYTES).ok()?;
    let mut builder = IoUring::<squeue::Entry, cqueue::Entry>::builder();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .dontfork();
    let mut ring = builder.build(1).ok()?;
    let file = types::Fd(file.as_raw_fd());
    let entry = opcode::Read::new(file, buffers.slot_pointer(0), READ_BYTES).build();
    // SAFETY: the buffer outlives the read, which is waited for below.
    unsafe { ring.submission().push(&entry) }.ok()?;
    // SAFETY: no argument is passed.
    let entered = unsafe { ring.submitter().enter::<libc::sigset_t>(1, 0, 0, None) };
    if entered.is_err() {
        // The kernel may have taken the read all the same.
        std::mem::forget(buffers);
        return None;
    }
    let is_done = !ring.completion().is_empty();
    let (result, _) = last_completion(&mut ring, buffers).ok()?;
    Some(match (is_done, result) {
        // An empty file or an error says nothing of how others are read.
        (true, _) | (_, ..=0) => Waiter::Submitter,
        (false, _) if has_threads() => Waiter::Thread,
        (false, _) => Waiter::Nobody,
    })
}

/// Whether the kernel has a thread for the rings of this one, which stays for seconds after what
/// it did. It is named after the thread that submits.
fn has_threads() -> bool {
    let own = format!("iou-wrk-{}", rustix::thread::gettid().as_raw_nonzero());
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks.flatten().any(|task| {
        let name = std::fs::read(task.path().join("comm"));
        name.is_ok_and(|name| name.trim_ascii_end() == own.as_bytes())
    })
}
