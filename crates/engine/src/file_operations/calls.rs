//! The system calls on files and names; every answer is a completion's result.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::{NameBuffer, OpenHow, pointer};
use crate::files::result_of;
use crate::open::RESOLVE;
use crate::{Operation, Request};

/// Bytes that a directory's entries are read into at once, as C's `readdir` does.
pub(crate) const ENTRIES_BYTES: usize = 32 << 10;

/// A name with what it is relative to.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub directory: BorrowedFd<'a>,
    pub name: &'a NameBuffer,
}

impl At<'_> {
    fn parts(&self) -> (i32, *const c_char) {
        (self.directory.as_raw_fd(), pointer(self.name))
    }
}

fn answer(value: i32) -> i32 {
    result_of(value as isize)
}

/// Opens by `openat2`, or by `openat` where nothing is to be resolved.
#[inline]
pub(crate) fn open(at: At<'_>, how: &OpenHow, plain: bool) -> Result<OwnedFd, i32> {
    let (directory, name) = at.parts();
    let result = if plain {
        let (flags, mode) = (how.flags as i32, how.mode as u32);
        // SAFETY: the name ends with a zero byte and outlives the call.
        answer(unsafe { libc::openat(directory, name, flags, mode) })
    } else {
        // SAFETY: as above; the structure is as long as the kernel is told.
        result_of(unsafe {
            libc::syscall(
                libc::SYS_openat2,
                directory,
                name,
                std::ptr::from_ref(how),
                size_of::<OpenHow>(),
            )
        } as isize)
    };
    if result < 0 {
        return Err(result);
    }
    // SAFETY: the kernel just made the descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}

/// What C's buffered streams ask a file that was just opened.
pub(crate) fn stdio_prelude(fd: BorrowedFd<'_>, append: bool) {
    // What a pipe would answer does not matter to them either.
    if append {
        let _ = rustix::fs::seek(fd, rustix::fs::SeekFrom::End(0));
    }
    let _ = rustix::fs::fstat(fd);
}

/// Reads or writes at a position, or where the file stands.
#[inline]
pub(crate) fn transfer(fd: BorrowedFd<'_>, request: &Request, buffer: &mut [u8]) -> i32 {
    let fd = fd.as_raw_fd();
    let (start, length) = (buffer.as_mut_ptr().cast(), buffer.len());
    let offset = request.offset_bytes as i64;
    let stands = request.offset_bytes == Request::AT_POSITION;
    // SAFETY: in each case the kernel reads or writes the buffer only, which is borrowed here
    // exclusively.
    let moved = unsafe {
        match (request.operation == Operation::Read, stands) {
            (true, false) => libc::pread64(fd, start, length, offset),
            (false, false) => libc::pwrite64(fd, start, length, offset),
            (true, true) => libc::read(fd, start, length),
            (false, true) => libc::write(fd, start, length),
        }
    };
    result_of(moved)
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
            Operation::Getxattr => result_of(libc::fgetxattr(fd, xattr.as_ptr(), value, size)),
            _ => -libc::EOPNOTSUPP,
        }
    }
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
#[inline]
pub(crate) fn unlink(at: At<'_>, flags: i32) -> i32 {
    let (directory, name) = at.parts();
    // SAFETY: the name ends with a zero byte and outlives the call.
    answer(unsafe { libc::unlinkat(directory, name, flags) })
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
        Operation::Rmdir => unlink(at, libc::AT_REMOVEDIR),
        Operation::Unlink => unlink(at, 0),
        _ => -libc::EOPNOTSUPP,
    }
}

/// Renames, or makes a hard or a symbolic link.
///
/// A symbolic link's text is the old name's last component, so it leads there when both are in
/// the same directory.
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
pub(crate) fn last_component(name: &NameBuffer) -> *const c_char {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(0);
    let start = name[..end].iter().rposition(|byte| *byte == b'/');
    pointer(name).wrapping_add(start.map_or(0, |slash| slash + 1))
}

/// Opens a directory, reads all its entries and closes it; how many there are besides itself and
/// its parent.
pub(crate) fn readdir(at: At<'_>, entries: &mut [MaybeUninit<u8>]) -> i32 {
    let how = OpenHow {
        flags: u64::from((OFlags::DIRECTORY | OFlags::CLOEXEC).bits()),
        mode: u64::from(Mode::empty().bits()),
        resolve: RESOLVE.bits(),
    };
    let directory = match open(at, &how, false) {
        Ok(directory) => directory,
        Err(result) => return result,
    };
    match count_entries(&directory, entries) {
        Ok(count) => count,
        Err(errno) => -errno.raw_os_error(),
    }
}

fn count_entries(directory: &OwnedFd, entries: &mut [MaybeUninit<u8>]) -> Result<i32, Errno> {
    let mut count = 0;
    let mut directory = RawDir::new(directory, entries);
    while let Some(entry) = directory.next() {
        let entry = entry?;
        count += i32::from(entry.file_name() != c"." && entry.file_name() != c"..");
    }
    Ok(count)
}
