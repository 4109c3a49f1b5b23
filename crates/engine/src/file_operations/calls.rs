//! System calls on files and names; every return value is a completion's result.

use std::ffi::{CStr, c_char};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, ResolveFlags, SeekFrom};
use rustix::io::{Errno, ReadWriteFlags};

use super::{OPEN_DIRECTORY, OpenHow};
use crate::files::{close, moved, syscall_result};
use crate::fileset::RelativeName;
use crate::request::TransferPosition;
use crate::{Operation, Request};

/// Buffer size for reading directory entries, the same as in C's `readdir`.
pub(crate) const ENTRIES_BYTES: usize = 32 << 10;

impl RelativeName<'_> {
    pub(super) fn parts(&self) -> (i32, *const c_char) {
        (self.directory.as_raw_fd(), self.name.as_ptr())
    }
}

fn answer(value: i32) -> i32 {
    syscall_result(value as isize)
}

/// Opens by `openat2`, or by `openat` if `plain`.
///
/// Like all calls made for every file, it uses the kernel's interface directly. In multithreaded
/// programs, each call through the C library also marks a cancellation point.
#[inline(always)]
pub(crate) fn open(at: RelativeName<'_>, how: &OpenHow, plain: bool) -> Result<OwnedFd, i32> {
    let flags = OFlags::from_bits_retain(how.flags as u32);
    let mode = Mode::from_raw_mode(how.mode as u32);
    let opened = if plain {
        rustix::fs::openat(at.directory, at.name, flags, mode)
    } else {
        let resolve = ResolveFlags::from_bits_retain(how.resolve);
        rustix::fs::openat2(at.directory, at.name, flags, mode, resolve)
    };
    opened.map_err(|errno| -errno.raw_os_error())
}

/// The calls that C's buffered streams make on a file that was just opened.
#[inline(always)]
pub(crate) fn stdio_prelude(fd: BorrowedFd<'_>, append: bool) {
    // Streams ignore errors too, for example from a pipe.
    if append {
        let _ = rustix::fs::seek(fd, SeekFrom::End(0));
    }
    let _ = rustix::fs::fstat(fd);
}

/// Reads or writes at an offset, or at the place that the request encodes in its number.
#[inline(always)]
pub(crate) fn transfer(
    fd: BorrowedFd<'_>,
    request: &Request,
    buffer: &mut [u8],
    at_position: bool,
) -> i32 {
    let offset = request.offset_bytes;
    let is_read = request.operation == Operation::Read;
    moved(match (is_read, at_position) {
        (_, true) => transfer_at_current_offset(fd, is_read, buffer),
        _ if offset >= Request::FIRST_CODE => transfer_by_code(fd, is_read, offset, buffer),
        (true, false) => rustix::io::pread(fd, buffer, offset),
        (false, false) => rustix::io::pwrite(fd, buffer, offset),
    })
}

/// Reads or writes at the file's current position.
#[inline(always)]
fn transfer_at_current_offset(
    fd: BorrowedFd<'_>,
    is_read: bool,
    buffer: &mut [u8],
) -> Result<usize, Errno> {
    match is_read {
        true => rustix::io::read(fd, buffer),
        false => rustix::io::write(fd, buffer),
    }
}

fn transfer_by_code(
    fd: BorrowedFd<'_>,
    is_read: bool,
    code: u64,
    buffer: &mut [u8],
) -> Result<usize, Errno> {
    match (Request::place(code), is_read) {
        (TransferPosition::Position, _) => transfer_at_current_offset(fd, is_read, buffer),
        (TransferPosition::Units(unit_bytes), _) => move_in_units(fd, is_read, unit_bytes, buffer),
        (TransferPosition::Seek(offset), _) => {
            rustix::fs::seek(fd, SeekFrom::Start(offset))?;
            transfer_at_current_offset(fd, is_read, buffer)
        }
        (TransferPosition::SeekEnd, false) => {
            rustix::fs::seek(fd, SeekFrom::End(0))?;
            transfer_at_current_offset(fd, is_read, buffer)
        }
        (TransferPosition::End, false) => append(fd, buffer),
        // Nothing can be read at the end of the file.
        (TransferPosition::Offset(_) | TransferPosition::SeekEnd | TransferPosition::End, _) => {
            Err(Errno::INVAL)
        }
    }
}

/// Transfers the whole buffer by calls of `unit_bytes` each, until one is short or fails.
fn move_in_units(
    fd: BorrowedFd<'_>,
    is_read: bool,
    unit_bytes: u32,
    buffer: &mut [u8],
) -> Result<usize, Errno> {
    let mut moved = 0;
    for unit in buffer.chunks_mut(unit_bytes.max(1) as usize) {
        match transfer_at_current_offset(fd, is_read, unit) {
            Ok(count) if count == unit.len() => moved += count,
            Ok(count) => return Ok(moved + count),
            // Return the bytes transferred so far; the next request meets the error again.
            Err(_) if moved > 0 => return Ok(moved),
            Err(errno) => return Err(errno),
        }
    }
    Ok(moved)
}

/// Appends to a file without changing its position.
fn append(fd: BorrowedFd<'_>, content: &[u8]) -> Result<usize, Errno> {
    // Any offset but -1, which means the current position and would move it.
    const ANY_OFFSET: u64 = 0;
    let content = [IoSlice::new(content)];
    rustix::io::pwritev2(fd, &content, ANY_OFFSET, ReadWriteFlags::APPEND)
}

/// Opens a file, reads it from its start and closes it. Returns the result of the read or of the
/// first call that failed.
pub(crate) fn read_whole(
    at: RelativeName<'_>,
    (how, plain): (&OpenHow, bool),
    buffer: &mut [u8],
) -> i32 {
    let file = match open(at, how, plain) {
        Ok(file) => file,
        Err(result) => return result,
    };
    let read = moved(rustix::io::pread(&file, buffer, 0));
    let closed = close(file);
    if read < 0 || closed >= 0 {
        read
    } else {
        closed
    }
}

/// Executes an operation on an open file that does not transfer content; `buffer` is for the value
/// of an extended attribute.
pub(crate) fn on_handle(
    fd: BorrowedFd<'_>,
    request: &Request,
    buffer: &mut [u8],
    xattr: &CStr,
) -> i32 {
    let fd = fd.as_raw_fd();
    let (offset, length) = (request.offset_bytes as i64, i64::from(request.length_bytes));
    let (value, size) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: all of these take a descriptor that is open during the call; the attribute calls
    // access no more than `size` bytes of the value.
    unsafe {
        match request.operation {
            Operation::Fsync => answer(libc::fsync(fd)),
            Operation::Fdatasync => answer(libc::fdatasync(fd)),
            Operation::Truncate => answer(libc::ftruncate64(fd, offset)),
            Operation::Fallocate => answer(libc::fallocate64(fd, 0, offset, length)),
            Operation::SyncFileRange => {
                // `handle` selects a register here, so a request cannot select other flags.
                let flags = libc::SYNC_FILE_RANGE_WRITE;
                answer(libc::sync_file_range(fd, offset, length, flags))
            }
            Operation::Setxattr => answer(libc::fsetxattr(fd, xattr.as_ptr(), value, size, 0)),
            Operation::Lock if request.offset_bytes & Request::SHARED_LOCK != 0 => {
                answer(lock(fd, request, libc::F_RDLCK))
            }
            Operation::Lock => answer(lock(fd, request, libc::F_WRLCK)),
            Operation::Unlock => answer(lock(fd, request, libc::F_UNLCK)),
            Operation::Getxattr => syscall_result(libc::fgetxattr(fd, xattr.as_ptr(), value, size)),
            _ => -libc::EOPNOTSUPP,
        }
    }
}

/// Locks or unlocks a part of a file.
///
/// # Safety
/// As for `fcntl`: the descriptor must be open during the call.
unsafe fn lock(fd: i32, request: &Request, kind: i32) -> i32 {
    // SAFETY: all zero bits are a valid lock of the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = (request.offset_bytes & !Request::SHARED_LOCK) as i64;
    lock.l_len = i64::from(request.length_bytes);
    // Waits until other locks are released, as dbench does.
    // SAFETY: the kernel reads the structure during the call.
    unsafe { libc::fcntl(fd, libc::F_SETLKW, &raw const lock) }
}

pub(crate) fn stat_handle(fd: BorrowedFd<'_>) -> i32 {
    match rustix::fs::fstat(fd) {
        Ok(_) => 0,
        Err(errno) => -errno.raw_os_error(),
    }
}

#[inline]
fn stat(at: RelativeName<'_>) -> i32 {
    let (directory, name) = at.parts();
    let mut stat = MaybeUninit::<libc::stat64>::uninit();
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the kernel fills the structure, which is not read.
    answer(unsafe { libc::fstatat64(directory, name, stat.as_mut_ptr(), flags) })
}

/// Removes a file, or a directory with `AT_REMOVEDIR`.
#[inline(always)]
pub(crate) fn unlink(at: RelativeName<'_>, flags: AtFlags) -> i32 {
    match rustix::fs::unlinkat(at.directory, at.name, flags) {
        Ok(()) => 0,
        Err(errno) => -errno.raw_os_error(),
    }
}

fn mkdir(at: RelativeName<'_>, mode: u32) -> i32 {
    let (directory, name) = at.parts();
    // SAFETY: as in `unlink`.
    answer(unsafe { libc::mkdirat(directory, name, mode) })
}

/// Executes an operation on one name.
pub(crate) fn on_name(operation: Operation, at: RelativeName<'_>, mode: u32) -> i32 {
    match operation {
        Operation::Stat => stat(at),
        Operation::Mkdir => mkdir(at, mode),
        Operation::Rmdir => unlink(at, AtFlags::REMOVEDIR),
        Operation::Unlink => unlink(at, AtFlags::empty()),
        _ => -libc::EOPNOTSUPP,
    }
}

/// Renames a file, or creates a hard or symbolic link.
///
/// The target of a symbolic link is the last component of the old name. The link is valid if both
/// names are in the same directory; otherwise the target may not exist.
pub(crate) fn two_names(operation: Operation, old: RelativeName<'_>, new: RelativeName<'_>) -> i32 {
    let (old_directory, old_name) = old.parts();
    let (directory, name) = new.parts();
    // SAFETY: both names end with a zero byte and outlive the call.
    answer(unsafe {
        match operation {
            Operation::Rename => libc::renameat(old_directory, old_name, directory, name),
            Operation::Link => libc::linkat(old_directory, old_name, directory, name, 0),
            Operation::Symlink => libc::symlinkat(last_component(old.name), directory, name),
            _ => return -libc::EOPNOTSUPP,
        }
    })
}

/// Pointer to the last component of a name.
pub(crate) fn last_component(name: &CStr) -> *const c_char {
    let start = name.to_bytes().iter().rposition(|byte| *byte == b'/');
    name.as_ptr()
        .wrapping_add(start.map_or(0, |slash| slash + 1))
}

/// Opens a directory, syncs its entries and closes it.
pub(crate) fn sync_directory(at: RelativeName<'_>) -> i32 {
    match open(at, &OPEN_DIRECTORY, false) {
        // SAFETY: the descriptor is open during the call.
        Ok(directory) => answer(unsafe { libc::fsync(directory.as_raw_fd()) }),
        Err(result) => result,
    }
}

/// Size in bytes, without the name, of the structure that readdir(3) returns for an entry.
// filebench counts this size and the name for each entry that `listdir` reads.
const ENTRY_BYTES: usize = size_of::<libc::dirent64>() - 1;

/// Opens a directory, reads all its entries and closes it. Returns the size of all entries as
/// readdir(3) returns them, names included.
pub(crate) fn readdir(at: RelativeName<'_>, entries: &mut [MaybeUninit<u8>]) -> i32 {
    let directory = match open(at, &OPEN_DIRECTORY, false) {
        Ok(directory) => directory,
        Err(result) => return result,
    };
    match bytes_of_entries(&directory, entries) {
        Ok(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
        Err(errno) => -errno.raw_os_error(),
    }
}

fn bytes_of_entries(directory: &OwnedFd, entries: &mut [MaybeUninit<u8>]) -> Result<usize, Errno> {
    let mut bytes = 0;
    let mut directory = RawDir::new(directory, entries);
    while let Some(entry) = directory.next() {
        bytes += entry?.file_name().to_bytes().len() + ENTRY_BYTES;
    }
    Ok(bytes)
}
