//! A ring's own table of files, and which operations on files it knows.

use io_uring::{Probe, opcode};

use crate::{EngineError, Operation};

/// What goes through the ring only where the kernel is new enough, with the ring's number for it.
const YOUNG: [(Operation, u8); 12] = [
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

/// Gives the ring an empty place for each slot.
pub(super) fn make(ring: &io_uring::IoUring, slot_count: u32) -> Result<(), EngineError> {
    let submitter = ring.submitter();
    submitter
        .register_files_sparse(slot_count)
        // Before 5.19 a table is made of places that are said to be empty.
        .or_else(|_| submitter.register_files(&vec![-1; slot_count as usize]))
        .map_err(|source| EngineError::system("io_uring_register", source))
}

/// Which operations this kernel's ring does not know.
pub(super) fn lacking(ring: &io_uring::IoUring) -> Result<Vec<Operation>, EngineError> {
    let mut probe = Probe::new();
    ring.submitter()
        .register_probe(&mut probe)
        .map_err(|source| EngineError::system("io_uring_register", source))?;
    let lacks = |(operation, code)| (!probe.is_supported(code)).then_some(operation);
    Ok(YOUNG.into_iter().filter_map(lacks).collect())
}
