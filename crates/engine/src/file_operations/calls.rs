//! The system calls on files and names; every answer is a completion's result.

use std::ffi::{CStr, c_char};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, ResolveFlags, SeekFrom};
use rustix::io::{Errno, ReadWriteFlags};

use super::{DIRECTORY_HOW, OpenHow};
use crate::files::{close, moved, result_of};
use crate::fileset::At;
use crate::request::Placed;
use crate::{Operation, Request};

/// Bytes that a directory's entries are read into at once, as C's `readdir` does.
pub(crate) const ENTRIES_BYTES: usize = 32 << 10;

impl At<'_> {
    pub(super) fn parts(&self) -> (i32, *const c_char) {
        (self.directory.as_raw_fd(), self.name.as_ptr())
    }
}

fn answer(value: i32) -> i32 {
    result_of(value as isize)
}

/// Opens by `openat2`, or by `openat` where nothing is to be resolved.
///
/// As with all calls that are made for every file: by the kernel's own interface, since in a
/// program of several threads the C library's functions note, each time, that a thread may be
/// canceled.
#[inline(always)]
pub(crate) fn open(at: At<'_>, how: &OpenHow, plain: bool) -> Result<OwnedFd, i32> {
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

/// What C's buffered streams ask a file that was just opened.
#[inline(always)]
pub(crate) fn stdio_prelude(fd: BorrowedFd<'_>, append: bool) {
    // What a pipe would answer does not matter to them either.
    if append {
        let _ = rustix::fs::seek(fd, SeekFrom::End(0));
    }
    let _ = rustix::fs::fstat(fd);
}

/// Reads or writes at an offset, or where the request's number says.
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
        (_, true) => move_on(fd, is_read, buffer),
        _ if offset >= Request::FIRST_CODE => transfer_by_code(fd, is_read, offset, buffer),
        (true, false) => rustix::io::pread(fd, buffer, offset),
        (false, false) => rustix::io::pwrite(fd, buffer, offset),
    })
}

/// Reads or writes where the file stands.
#[inline(always)]
fn move_on(fd: BorrowedFd<'_>, is_read: bool, buffer: &mut [u8]) -> Result<usize, Errno> {
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
        (Placed::Position, _) => move_on(fd, is_read, buffer),
        (Placed::Units(unit_bytes), _) => move_in_units(fd, is_read, unit_bytes, buffer),
        (Placed::Sought(offset), _) => {
            rustix::fs::seek(fd, SeekFrom::Start(offset))?;
            move_on(fd, is_read, buffer)
        }
        (Placed::SoughtEnd, false) => {
            rustix::fs::seek(fd, SeekFrom::End(0))?;
            move_on(fd, is_read, buffer)
        }
        (Placed::End, false) => append(fd, buffer),
        // There is nothing behind the last byte to read.
        (Placed::Offset(_) | Placed::SoughtEnd | Placed::End, _) => Err(Errno::INVAL),
    }
}

/// Moves all of the buffer by calls of so many bytes, until one moves less or fails.
fn move_in_units(
    fd: BorrowedFd<'_>,
    is_read: bool,
    unit_bytes: u32,
    buffer: &mut [u8],
) -> Result<usize, Errno> {
    let mut moved = 0;
    for unit in buffer.chunks_mut(unit_bytes.max(1) as usize) {
        match move_on(fd, is_read, unit) {
            Ok(count) if count == unit.len() => moved += count,
            Ok(count) => return Ok(moved + count),
            // What was moved before is told, and the next request meets the error again.
            Err(_) if moved > 0 => return Ok(moved),
            Err(errno) => return Err(errno),
        }
    }
    Ok(moved)
}

/// Writes behind a file's last byte and leaves alone where it stands.
fn append(fd: BorrowedFd<'_>, content: &[u8]) -> Result<usize, Errno> {
    // Any offset but -1, which stands for the position and would move it.
    const NO_POSITION: u64 = 0;
    let content = [IoSlice::new(content)];
    rustix::io::pwritev2(fd, &content, NO_POSITION, ReadWriteFlags::APPEND)
}

/// Opens a file, reads it from its start and closes it; the read's result, or that of what failed
/// first.
pub(crate) fn read_whole(at: At<'_>, (how, plain): (&OpenHow, bool), buffer: &mut [u8]) -> i32 {
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

/// Does what goes by the open file and moves no content of it; `buffer` is an attribute's value.
pub(crate) fn on_handle(
    fd: BorrowedFd<'_>,
    request: &Request,
    buffer: &mut [u8],
    xattr: &CStr,
) -> i32 {
    let fd = fd.as_raw_fd();
    let (offset, length) = (request.offset_bytes as i64, i64::from(request.length_bytes));
    let (value, size) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: all of these take a descriptor that is open during the call; the last two read or
    // write no more of the value than they are told to.
    unsafe {
        match request.operation {
            Operation::Fsync => answer(libc::fsync(fd)),
            Operation::Fdatasync => answer(libc::fdatasync(fd)),
            Operation::Truncate => answer(libc::ftruncate64(fd, offset)),
            Operation::Fallocate => answer(libc::fallocate64(fd, 0, offset, length)),
            Operation::SyncFileRange => {
                let flags = libc::SYNC_FILE_RANGE_WRITE;
                answer(libc::sync_file_range(fd, offset, length, flags))
            }
            Operation::Setxattr => answer(libc::fsetxattr(fd, xattr.as_ptr(), value, size, 0)),
            Operation::Lock => answer(lock(fd, request, libc::F_WRLCK)),
            Operation::Unlock => answer(lock(fd, request, libc::F_UNLCK)),
            Operation::Getxattr => result_of(libc::fgetxattr(fd, xattr.as_ptr(), value, size)),
            _ => -libc::EOPNOTSUPP,
        }
    }
}

/// Locks a part of a file, or gives it back.
///
/// # Safety
/// As of `fcntl`: the descriptor is open during the call.
unsafe fn lock(fd: i32, request: &Request, kind: i32) -> i32 {
    // SAFETY: all bits zero are a lock of the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = request.offset_bytes as i64;
    lock.l_len = i64::from(request.length_bytes);
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
fn stat(at: At<'_>) -> i32 {
    let (directory, name) = at.parts();
    let mut stat = MaybeUninit::<libc::stat64>::uninit();
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the kernel fills the structure, which nobody looks at.
    answer(unsafe { libc::fstatat64(directory, name, stat.as_mut_ptr(), flags) })
}

/// Removes a file, or a directory with `AT_REMOVEDIR`.
#[inline(always)]
pub(crate) fn unlink(at: At<'_>, flags: AtFlags) -> i32 {
    match rustix::fs::unlinkat(at.directory, at.name, flags) {
        Ok(()) => 0,
        Err(errno) => -errno.raw_os_error(),
    }
}

fn mkdir(at: At<'_>, mode: u32) -> i32 {
    let (directory, name) = at.parts();
    // SAFETY: as in `unlink`.
    answer(unsafe { libc::mkdirat(directory, name, mode) })
}

/// Does what takes one name and no more.
pub(crate) fn on_name(operation: Operation, at: At<'_>, mode: u32) -> i32 {
    match operation {
        Operation::Stat => stat(at),
        Operation::Mkdir => mkdir(at, mode),
        Operation::Rmdir => unlink(at, AtFlags::REMOVEDIR),
        Operation::Unlink => unlink(at, AtFlags::empty()),
        _ => -libc::EOPNOTSUPP,
    }
}

/// Renames, or makes a hard or a symbolic link.
///
/// A symbolic link's text is the old name's last component, so it leads there when both are in
/// the same directory, and from any other to a name that may not be there.
pub(crate) fn two_names(operation: Operation, old: At<'_>, new: At<'_>) -> i32 {
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

/// Where a name's last component starts.
pub(crate) fn last_component(name: &CStr) -> *const c_char {
    let start = name.to_bytes().iter().rposition(|byte| *byte == b'/');
    name.as_ptr()
        .wrapping_add(start.map_or(0, |slash| slash + 1))
}

/// Opens a directory, makes its entries durable and closes it.
pub(crate) fn sync_directory(at: At<'_>) -> i32 {
    match open(at, &DIRECTORY_HOW, false) {
        // SAFETY: the descriptor is open during the call.
        Ok(directory) => answer(unsafe { libc::fsync(directory.as_raw_fd()) }),
        Err(result) => result,
    }
}

/// Size of the structure that readdir(3) returns for an entry, without its name, in bytes.
const ENTRY_BYTES: usize = size_of::<libc::dirent64>() - 1;

/// Opens a directory, reads all its entries and closes it; the bytes of all entries, as readdir(3)
/// hands them over, with their names.
pub(crate) fn readdir(at: At<'_>, entries: &mut [MaybeUninit<u8>]) -> i32 {
    let directory = match open(at, &DIRECTORY_HOW, false) {
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
