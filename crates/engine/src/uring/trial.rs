//! A trial read, which shows what waits for a file that is not marked as nonblocking.
//!
//! Newer kernels (such as 6.18) treat a pollable file, for example on FUSE, as nonblocking and read
//! it on the submitting thread. A file system that completes requests asynchronously
//! (`FUSE_ASYNC_DIO`) is then fastest; any other processes one request at a time.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fs::OFlags;

use super::last::last_completion;
use crate::Buffers;

const READ_BYTES: u32 = 4096;

/// Waits until a read is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiter {
    /// The submitting thread, or the read is done immediately.
    Submitter,
    /// A kernel thread that executes the read for the ring.
    Thread,
    /// Nothing: the file system reports completion asynchronously.
    None,
}

/// Reads the start of a file without the page cache. `None` if this cannot be tried.
///
/// In a ring with deferred completions (6.1), completions that exist when the submission returns
/// belong to requests that were done by then, however fast the file system is.
///
/// The trial uses its own thread: the kernel's threads for a ring belong to the submitting thread,
/// so another read's threads cannot be mistaken for this one's.
pub(super) fn detect_waiter(file: &OwnedFd) -> Option<Waiter> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("trial".to_owned());
        let trial = builder.spawn_scoped(scope, || try_read(file));
        trial.ok()?.join().ok()?
    })
}

fn try_read(file: &OwnedFd) -> Option<Waiter> {
    let flags = rustix::fs::fcntl_getfl(file).ok()?;
    // Without a result, kernel threads execute the reads, as they do for reads through the page
    // cache.
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
    // SAFETY: the buffer outlives the read, which is awaited below.
    unsafe { ring.submission().push(&entry) }.ok()?;
    // Submits without `GETEVENTS`, which would run deferred completions before the check below.
    // SAFETY: no argument is passed.
    let entered = unsafe { ring.submitter().enter::<libc::sigset_t>(1, 0, 0, None) };
    if entered.is_err() {
        // The kernel may have accepted the read nevertheless.
        std::mem::forget(buffers);
        return None;
    }
    let is_done = !ring.completion().is_empty();
    let (result, _) = last_completion(&mut ring, buffers).ok()?;
    Some(match (is_done, result) {
        // An empty file or an error does not show how other files are read.
        (true, _) | (_, ..=0) => Waiter::Submitter,
        (false, _) if has_threads() => Waiter::Thread,
        (false, _) => Waiter::None,
    })
}

/// `true` if the kernel has a thread for this thread's rings. Such a thread stays for seconds after
/// its work and is named after the submitting thread.
fn has_threads() -> bool {
    let own = format!("iou-wrk-{}", rustix::thread::gettid().as_raw_nonzero());
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks.flatten().any(|task| {
        let name = std::fs::read(task.path().join("comm"));
        name.is_ok_and(|name| name.trim_ascii_end() == own.as_bytes())
    })
}
