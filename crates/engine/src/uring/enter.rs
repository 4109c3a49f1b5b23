//! The one system call of the measurement loop.

use std::os::fd::AsRawFd;

use super::setup::RingGrants;
use crate::{EngineError, Wait};

const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_SQ_WAKEUP: u32 = 1 << 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// Outcome of a call that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnterOutcome {
    /// The kernel accepted as many entries as it could, and waited as requested.
    Done,
    /// A signal arrived.
    Interrupted,
}

/// Calls `io_uring_enter` directly. The wrapper of the `io_uring` crate supports only plain
/// descriptors, not a registered ring, and runs deferred completions only when it waits.
#[derive(Debug)]
pub(super) struct EnterCall {
    /// Index of the registered ring, or descriptor of the ring.
    fd: i32,
    flags: u32,
    ring_fd: i32,
    sqpoll: bool,
    spins: bool,
}

#[repr(C)]
struct RsrcUpdate {
    offset: u32,
    reserved: u32,
    value: u64,
}

#[repr(C)]
struct GetEventsArg {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timespec: u64,
}

#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

impl EnterCall {
    /// Registers the ring with this thread if the kernel supports it (5.18), which saves a
    /// descriptor lookup per call.
    pub(super) fn new(ring: &io_uring::IoUring, setup: &mut RingGrants) -> Self {
        let ring_fd = ring.as_raw_fd();
        let parameters = ring.params();
        let registered = register_ring(ring_fd);
        setup.registered_ring = registered.is_some();
        Self {
            fd: registered.unwrap_or(ring_fd),
            flags: if registered.is_some() {
                ENTER_REGISTERED_RING
            } else {
                0
            },
            ring_fd,
            sqpoll: parameters.is_setup_sqpoll(),
            // Polled completions are found only by polling, and without `EXT_ARG` a wait has no
            // time limit.
            spins: parameters.is_setup_iopoll() || !parameters.is_feature_ext_arg(),
        }
    }

    /// `true` if a wait with a time limit must poll.
    #[inline]
    pub(super) fn spins(&self) -> bool {
        self.spins
    }

    /// Makes every further call fail.
    #[cfg(test)]
    pub(super) fn fail(&mut self) {
        let unknown_flag = 1 << 31;
        self.flags |= unknown_flag;
    }

    /// Submits entries and waits as requested. Entries that the kernel does not accept stay in the
    /// queue.
    #[inline]
    pub(super) fn call(
        &self,
        ring: &mut io_uring::IoUring,
        pushed_count: u32,
        wait: Wait,
    ) -> Result<EnterOutcome, EngineError> {
        // Set even without a wait: with `DEFER_TASKRUN`, completions run only with this flag.
        let mut flags = self.flags | ENTER_GETEVENTS;
        if self.sqpoll {
            let wakeup = ring.submission().need_wakeup();
            if wakeup {
                flags |= ENTER_SQ_WAKEUP;
            } else if wait == Wait::Poll {
                // While awake, the kernel's thread takes the entries without a call.
                return Ok(EnterOutcome::Done);
            }
        }
        match wait {
            Wait::Poll => self.enter(pushed_count, 0, flags, None),
            Wait::One { timeout_ns: 0 } => self.enter(pushed_count, 1, flags, None),
            Wait::One { timeout_ns } => {
                let span = KernelTimespec {
                    seconds: (timeout_ns / 1_000_000_000) as i64,
                    nanoseconds: (timeout_ns % 1_000_000_000) as i64,
                };
                self.enter(pushed_count, 1, flags | ENTER_EXT_ARG, Some(&span))
            }
        }
    }

    #[inline]
    fn enter(
        &self,
        pushed_count: u32,
        wanted_count: u32,
        flags: u32,
        span: Option<&KernelTimespec>,
    ) -> Result<EnterOutcome, EngineError> {
        let arg = span.map(|span| GetEventsArg {
            sigmask: 0,
            sigmask_bytes: 0,
            min_wait_us: 0,
            timespec: std::ptr::from_ref(span) as u64,
        });
        let (pointer, bytes) = arg.as_ref().map_or((std::ptr::null(), 0), |arg| {
            (std::ptr::from_ref(arg), size_of::<GetEventsArg>())
        });
        // SAFETY: the argument and the time it points to outlive the call; the code that pushed the
        // entries is responsible for their validity.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.fd,
                pushed_count,
                wanted_count,
                flags,
                pointer,
                bytes,
            )
        };
        if answer >= 0 {
            Ok(EnterOutcome::Done)
        } else {
            classify_failure()
        }
    }
}

/// Distinguishes temporary conditions from failures. `EAGAIN` and `EBUSY` mean that the kernel is
/// short of memory or needs completions reaped first; the next call submits the queued entries.
#[cold]
fn classify_failure() -> Result<EnterOutcome, EngineError> {
    let source = std::io::Error::last_os_error();
    match source.raw_os_error() {
        Some(libc::ETIME | libc::EAGAIN | libc::EBUSY) => Ok(EnterOutcome::Done),
        Some(libc::EINTR) => Ok(EnterOutcome::Interrupted),
        _ => Err(EngineError::system("io_uring_enter", source)),
    }
}

fn register_ring(ring_fd: i32) -> Option<i32> {
    let mut update = RsrcUpdate {
        // The kernel chooses an index and writes it here.
        offset: u32::MAX,
        reserved: 0,
        value: ring_fd as u64,
    };
    // SAFETY: the kernel reads and writes only this structure.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring_fd,
            REGISTER_RING_FDS,
            &raw mut update,
            1,
        )
    };
    (answer == 1).then_some(update.offset as i32)
}

impl Drop for EnterCall {
    fn drop(&mut self) {
        if self.flags & ENTER_REGISTERED_RING == 0 {
            return;
        }
        let mut update = RsrcUpdate {
            offset: self.fd as u32,
            reserved: 0,
            value: 0,
        };
        // SAFETY: as in `register_ring`. If it stayed registered, the ring would live as long as
        // the thread.
        unsafe {
            libc::syscall(
                libc::SYS_io_uring_register,
                self.ring_fd,
                UNREGISTER_RING_FDS,
                &raw mut update,
                1,
            );
        }
    }
}
