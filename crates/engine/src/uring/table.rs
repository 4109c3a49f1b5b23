//! A ring's own file table, and the file operations that the ring supports.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{Probe, opcode, types};
use rustix::fs::{Mode, OFlags};

use super::last::last_completion;
use crate::{EngineError, Operation};

/// Operations that need a newer kernel to go through the ring, with their opcodes.
pub(super) const NEWER_OPERATIONS: [(Operation, u8); 12] = [
    (Operation::Stat, opcode::Statx::CODE),
    (Operation::Unlink, opcode::UnlinkAt::CODE),
    (Operation::Mkdir, opcode::MkDirAt::CODE),
    (Operation::Rmdir, opcode::UnlinkAt::CODE),
    (Operation::Rename, opcode::RenameAt::CODE),
    (Operation::Link, opcode::LinkAt::CODE),
    (Operation::Symlink, opcode::SymlinkAt::CODE),
    (Operation::Truncate, opcode::Ftruncate::CODE),
    (Operation::Fallocate, opcode::Fallocate::CODE),
    (Operation::SyncFileRange, opcode::SyncFileRange::CODE),
    (Operation::Setxattr, opcode::FSetXattr::CODE),
    (Operation::Getxattr, opcode::FGetXattr::CODE),
];

/// Gives the ring a table with this many empty places.
pub(super) fn make(ring: &io_uring::IoUring, place_count: u32) -> Result<(), EngineError> {
    let submitter = ring.submitter();
    submitter
        .register_files_sparse(place_count)
        // Before 5.19, a table is created from places that are explicitly empty (-1).
        .or_else(|_| submitter.register_files(&vec![-1; place_count as usize]))
        .map_err(|source| EngineError::system("io_uring_register", source))
}

/// Operations that this kernel's ring does not support, or not on files in its table.
///
/// No request may have been submitted yet; `directory` is temporarily put into the table for a
/// trial.
pub(super) fn unsupported_operations(
    ring: &mut io_uring::IoUring,
    directory: &OwnedFd,
) -> Result<Vec<Operation>, EngineError> {
    let mut probe = Probe::new();
    let system = |source| EngineError::system("io_uring_register", source);
    ring.submitter()
        .register_probe(&mut probe)
        .map_err(system)?;
    let unsupported = |(operation, code)| (!probe.is_supported(code)).then_some(operation);
    let mut lacking: Vec<Operation> = NEWER_OPERATIONS
        .into_iter()
        .filter_map(unsupported)
        .collect();
    // Before 5.17, a read looks up its file before the linked open has finished.
    if !ring.params().is_feature_linked_file() {
        lacking.push(Operation::ReadWhole);
    }
    if !lacking.contains(&Operation::Getxattr) && !supports_table_attributes(ring, directory)? {
        lacking.extend([Operation::Setxattr, Operation::Getxattr]);
    }
    Ok(lacking)
}

/// `true` if the kernel supports attributes of files in the table. Some kernels support them only
/// by descriptor and return `EBADF` otherwise.
fn supports_table_attributes(
    ring: &mut io_uring::IoUring,
    directory: &OwnedFd,
) -> Result<bool, EngineError> {
    let register = |source| EngineError::system("io_uring_register", source);
    // `directory` may be open with `O_PATH` only, which always returns `EBADF`.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(opened) = rustix::fs::openat(directory, c".", flags, Mode::empty()) else {
        return Ok(false);
    };
    let fd = opened.as_raw_fd();
    ring.submitter()
        .register_files_update(0, &[fd])
        .map_err(register)?;
    // On the heap, because it is leaked if the kernel may still write to it.
    let mut value = Box::new([0_u8; 1]);
    let name = c"user.pgmeter.trial";
    let start = value.as_mut_ptr().cast();
    let entry = opcode::FGetXattr::new(types::Fixed(0), name.as_ptr(), start, 1).build();
    // SAFETY: the name is static; the value outlives the completion, which is awaited here.
    unsafe { ring.submission().push(&entry) }.expect("a new ring has room");
    let (result, _) = last_completion(ring, value)
        .map_err(|source| EngineError::system("io_uring_enter", source))?;
    ring.submitter()
        .register_files_update(0, &[-1])
        .map_err(register)?;
    Ok(result != -libc::EBADF)
}
