//! Creation of a ring. It starts with all features, drops the newest one after each failure, and
//! records the result.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{FileType, OFlags};
use rustix::process::{Resource, getrlimit};

use super::polls::check_polls;
use crate::files::EngineFiles;
use crate::{Buffers, EngineError};

/// Limit of the kernel (`IORING_MAX_ENTRIES`).
const ENTRIES_MAX: u32 = 32_768;
/// Limit of the kernel on one registered buffer.
const REGION_BYTES_MAX: usize = 1 << 30;
/// Time that the kernel's submitting thread spins before it sleeps.
const SQPOLL_IDLE_MS: u32 = 1000;
const DISABLED_SETTING: &str = "/proc/sys/kernel/io_uring_disabled";

/// Optional features of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UringOptions {
    /// Let a kernel thread submit requests.
    pub sqpoll: bool,
    /// Poll for completions; an error if the device does not poll.
    pub iopoll: bool,
    /// Drop cached pages after each request (`RWF_DONTCACHE`); construction checks every file for
    /// support.
    pub dontcache: bool,
    /// Fail reads and writes that would wait (`RWF_NOWAIT`); construction checks every file for
    /// support.
    pub nowait: bool,
}

impl UringOptions {
    /// Flags of reads and writes.
    pub(super) fn call_flags(self) -> i32 {
        let dontcache = if self.dontcache {
            libc::RWF_DONTCACHE
        } else {
            0
        };
        let nowait = if self.nowait { libc::RWF_NOWAIT } else { 0 };
        dontcache | nowait
    }
}

/// A feature that a ring can do without if the kernel lacks it.
#[derive(Clone, Copy)]
struct Feature {
    name: &'static str,
    set: fn(&mut io_uring::Builder) -> &mut io_uring::Builder,
}

/// Newest first, the order in which they are dropped. `SUBMIT_ALL` is from 5.18, `COOP_TASKRUN`
/// 5.19, `SINGLE_ISSUER` 6.0, `DEFER_TASKRUN` 6.1 (needs `SINGLE_ISSUER`) and `NO_SQARRAY` 6.6.
const FEATURES: [Feature; 5] = [
    Feature {
        name: "no_sqarray",
        set: io_uring::Builder::setup_no_sqarray,
    },
    Feature {
        name: "defer_taskrun",
        set: io_uring::Builder::setup_defer_taskrun,
    },
    Feature {
        name: "single_issuer",
        set: io_uring::Builder::setup_single_issuer,
    },
    Feature {
        name: "coop_taskrun",
        set: io_uring::Builder::setup_coop_taskrun,
    },
    Feature {
        name: "submit_all",
        set: io_uring::Builder::setup_submit_all,
    },
];

/// Ring features that the kernel granted or refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RingGrants {
    /// Names of the setup flags in force, in lower case.
    pub granted: Vec<&'static str>,
    /// Names of the setup flags that this kernel refused, in lower case.
    pub refused: Vec<&'static str>,
    /// `true` if the ring itself is registered with the thread.
    pub registered_ring: bool,
    /// `true` if kernel threads execute the reads of some file, because its file system cannot
    /// issue them without blocking.
    pub kernel_threads: bool,
    /// `true` if some file is in memory and its reads were moved from kernel threads to the
    /// submitting thread, which other programs do not do.
    pub memory_inline: bool,
    /// Entries of the submission queue.
    pub submission_entries: u32,
    /// Entries of the completion queue; at least one per slot.
    pub completion_entries: u32,
}

impl RingGrants {
    /// One line for each reason why this ring is slower than the best possible ring, or differs
    /// from the rings of other programs.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.refused.is_empty() {
            notes.push(format!(
                "this kernel has no {} for io_uring",
                self.refused.join(", ")
            ));
        }
        if !self.registered_ring {
            notes.push("this kernel cannot register the descriptor of an io_uring".to_owned());
        }
        if self.kernel_threads {
            notes.push(
                "this file system blocks: io_uring reads run on kernel threads (io-wq)".to_owned(),
            );
        }
        if self.memory_inline {
            notes.push(
                "this file system is in memory: reads run on the submitting thread (O_NONBLOCK), \
                 not on kernel threads, which are the default of io_uring"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Checks that the options have an effect on all files.
pub(super) fn check_files(files: &EngineFiles, options: UringOptions) -> Result<(), EngineError> {
    if options.dontcache {
        files.probe_dontcache()?;
    }
    if options.nowait {
        files.probe_nowait()?;
    }
    if options.iopoll {
        for (file_index, file) in files.iter() {
            check_polled_file(file_index, file)?;
        }
    }
    Ok(())
}

fn check_polled_file(file_index: u32, file: &OwnedFd) -> Result<(), EngineError> {
    let flags =
        rustix::fs::fcntl_getfl(file).map_err(|errno| EngineError::system("fcntl", errno))?;
    if !flags.contains(OFlags::DIRECT) {
        return Err(EngineError::PollingBuffered { file_index });
    }
    let stat = rustix::fs::fstat(file).map_err(|errno| EngineError::system("fstat", errno))?;
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    check_polls(if is_device { stat.st_rdev } else { stat.st_dev })
}

/// Creates a ring with `entries_per_slot` entries per slot in both queues.
pub(crate) fn build_ring(
    slot_count: u32,
    entries_per_slot: u32,
    options: UringOptions,
) -> Result<(io_uring::IoUring, RingGrants), EngineError> {
    // The kernel's submitting thread frees entries only after a whole batch. By then some may have
    // completed and been pushed again, so twice the number of slots is always enough.
    let entries_per_slot = entries_per_slot * if options.sqpoll { 2 } else { 1 };
    let most_count = ENTRIES_MAX / entries_per_slot;
    if slot_count == 0 || slot_count > most_count {
        return Err(EngineError::SlotCount {
            asked_count: slot_count,
            most_count,
        });
    }
    // The kernel rounds the submission queue in this way, and the completion queue must not be
    // smaller.
    let entries = (slot_count * entries_per_slot).next_power_of_two();
    let wanted: Vec<Feature> = FEATURES
        .into_iter()
        // The kernel's submitting thread does not use these two features, and the kernel rejects
        // them.
        .filter(|it| !(options.sqpoll && matches!(it.name, "defer_taskrun" | "coop_taskrun")))
        .collect();
    let mut given_up_count = 0;
    loop {
        let features = &wanted[given_up_count..];
        match builder(features, entries, options).build(entries) {
            Ok(ring) => return Ok(described(ring, &wanted, given_up_count)),
            // `EINVAL` is the kernel's answer to a flag that it does not know.
            Err(error)
                if error.raw_os_error() == Some(libc::EINVAL) && given_up_count < wanted.len() =>
            {
                given_up_count += 1;
            }
            Err(error) => return Err(setup_error(error)),
        }
    }
}

fn builder(features: &[Feature], entries: u32, options: UringOptions) -> io_uring::Builder {
    let mut builder = io_uring::IoUring::builder();
    builder.setup_cqsize(entries).dontfork();
    for feature in features {
        (feature.set)(&mut builder);
    }
    if options.sqpoll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
    }
    if options.iopoll {
        builder.setup_iopoll();
    }
    builder
}

fn described(
    ring: io_uring::IoUring,
    wanted: &[Feature],
    given_up_count: usize,
) -> (io_uring::IoUring, RingGrants) {
    let (refused, granted) = wanted.split_at(given_up_count);
    let mut granted: Vec<&'static str> = granted.iter().map(|feature| feature.name).collect();
    let parameters = ring.params();
    granted.extend(parameters.is_setup_sqpoll().then_some("sqpoll"));
    granted.extend(parameters.is_setup_iopoll().then_some("iopoll"));
    let setup = RingGrants {
        granted,
        refused: refused.iter().map(|feature| feature.name).collect(),
        registered_ring: false,
        kernel_threads: false,
        memory_inline: false,
        submission_entries: parameters.sq_entries(),
        completion_entries: parameters.cq_entries(),
    };
    (ring, setup)
}

fn setup_error(source: io::Error) -> EngineError {
    match source.raw_os_error() {
        Some(libc::ENOSYS) => EngineError::UringMissing,
        Some(libc::EPERM | libc::EACCES) => {
            // The setting distinguishes a refusal by the administrator from one by seccomp.
            let setting = std::fs::read_to_string(DISABLED_SETTING).unwrap_or_default();
            refusal(setting.trim().parse().unwrap_or(0), source)
        }
        _ => EngineError::system("io_uring_setup", source),
    }
}

fn refusal(setting: u32, source: io::Error) -> EngineError {
    match setting {
        0 => EngineError::UringForbidden { source },
        setting => EngineError::UringDisabled { setting },
    }
}

/// Registers all buffers as a few large regions. Returns the shift by which a slot number becomes
/// the number of its region.
pub(super) fn register_buffers(
    ring: &io_uring::IoUring,
    buffers: &Buffers,
) -> Result<u32, EngineError> {
    // A power of two, so that a shift instead of a division finds a slot's region.
    let shift = (REGION_BYTES_MAX / buffers.stride_bytes()).max(1).ilog2();
    let slots_per_region = 1_u32 << shift;
    let regions: Vec<libc::iovec> = (0..buffers.slot_count())
        .step_by(slots_per_region as usize)
        .map(|slot| {
            let slot_count = slots_per_region.min(buffers.slot_count() - slot);
            libc::iovec {
                iov_base: buffers.slot_pointer(slot).cast(),
                iov_len: slot_count as usize * buffers.stride_bytes(),
            }
        })
        .collect();
    // SAFETY: the regions are the memory of the buffers, which the engine keeps longer than the
    // ring.
    unsafe { ring.submitter().register_buffers(&regions) }
        .map_err(|error| buffer_error(error, buffers.memory_bytes() as u64))?;
    Ok(shift)
}

fn buffer_error(source: io::Error, need_bytes: u64) -> EngineError {
    match source.raw_os_error() {
        Some(libc::ENOMEM | libc::EPERM) => EngineError::LockedMemory {
            need_bytes,
            limit_bytes: getrlimit(Resource::Memlock).current.unwrap_or(u64::MAX),
        },
        _ => EngineError::system("io_uring_register", source),
    }
}

pub(super) fn register_files(
    ring: &io_uring::IoUring,
    files: &EngineFiles,
) -> Result<(), EngineError> {
    // The kernel rejects an empty table.
    if files.count() == 0 {
        return Ok(());
    }
    let fds: Vec<i32> = files.iter().map(|(_, file)| file.as_raw_fd()).collect();
    ring.submitter()
        .register_files(&fds)
        .map_err(|source| EngineError::system("io_uring_register", source))
}
