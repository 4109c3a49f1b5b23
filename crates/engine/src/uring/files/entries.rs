//! Queue entries for opening files and for operations on open files.

use std::ffi::c_char;
use std::os::fd::AsRawFd;

use io_uring::{opcode, squeue, types};

use crate::file_operations::OpenHow;
use crate::fileset::RelativeName;
use crate::{Operation, Request};

/// Memory that entries refer to: the slot's buffer, and the attribute's name.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    pub start: *mut u8,
    /// Number of the registered region that contains the buffer.
    pub region: u16,
    pub xattr: *const c_char,
}

/// Opens a file into a place of the ring's table. The name and `how` must keep their addresses.
#[inline]
pub(super) fn open(at: RelativeName<'_>, how: &OpenHow, table_slot: u32) -> squeue::Entry {
    let table_slot = types::DestinationSlot::try_from_slot_target(table_slot)
        .expect("a ring's table has fewer places than numbers");
    let directory = types::Fd(at.directory.as_raw_fd());
    let how = std::ptr::from_ref(how).cast();
    opcode::OpenAt2::new(directory, at.name.as_ptr(), how)
        .file_index(Some(table_slot))
        .build()
}

/// Entry for an operation on the file open at `table_slot`; `None` for other operations.
#[inline]
pub(super) fn on_file(
    request: &Request,
    table_slot: u32,
    at_position: bool,
    memory: Memory,
) -> Option<squeue::Entry> {
    let file = types::Fixed(table_slot);
    let (offset, length) = (request.offset_bytes, request.length_bytes);
    let Memory {
        start,
        region,
        xattr,
    } = memory;
    Some(match request.operation {
        // With a registered buffer, the kernel need not look up its pages for each request.
        Operation::Read => opcode::ReadFixed::new(file, start, length, region)
            .offset(position(offset, at_position))
            .build(),
        Operation::Write if offset == Request::AT_END && !at_position => {
            // As with pwritev2(2): the offset is ignored, but -1 would move the position.
            opcode::WriteFixed::new(file, start, length, region)
                .rw_flags(libc::RWF_APPEND)
                .build()
        }
        Operation::Write => opcode::WriteFixed::new(file, start, length, region)
            .offset(position(offset, at_position))
            .build(),
        Operation::Close => opcode::Close::new(file).build(),
        Operation::Fsync => opcode::Fsync::new(file).build(),
        Operation::Fdatasync => opcode::Fsync::new(file)
            .flags(types::FsyncFlags::DATASYNC)
            .build(),
        Operation::Truncate => opcode::Ftruncate::new(file, offset).build(),
        Operation::Fallocate => opcode::Fallocate::new(file, u64::from(length))
            .offset(offset)
            .build(),
        Operation::SyncFileRange => opcode::SyncFileRange::new(file, length)
            .offset(offset)
            .flags(libc::SYNC_FILE_RANGE_WRITE)
            .build(),
        Operation::Setxattr => opcode::FSetXattr::new(file, xattr, start.cast(), length).build(),
        Operation::Getxattr => opcode::FGetXattr::new(file, xattr, start.cast(), length).build(),
        _ => return None,
    })
}

/// The ring and requests use the same number for the position of the open file.
#[inline]
const fn position(offset: u64, at_position: bool) -> u64 {
    if at_position {
        Request::AT_POSITION
    } else {
        offset
    }
}
