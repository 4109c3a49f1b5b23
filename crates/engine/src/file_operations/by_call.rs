//! Operations that io_uring does not have. All engines perform them in the same way, by one or more
//! system calls.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Timespec, Timestamps};
use rustix::io::Errno;

use super::calls::{last_component, unlink};
use super::streams::{DirectoryStream, open_stream};
use crate::files::syscall_result;
use crate::fileset::{Filesets, NAME_BYTES_MAX, NameKey, RelativeName};
use crate::{Operation, Request};

/// Maximum depth of nested directories that are emptied.
const DEPTH_MAX: u32 = 64;
/// Buffer size for reading the entries of a nested directory.
// Each level has its own buffer on the stack: 512 KiB for all of them.
const INNER_ENTRIES_BYTES: usize = 8 << 10;

/// Resources of operations that io_uring does not have.
pub(crate) struct SyscallContext<'a> {
    pub filesets: &'a Filesets,
    pub name: &'a mut [u8; NAME_BYTES_MAX],
    pub entries: &'a mut [MaybeUninit<u8>],
    /// The directory that the slot reads name by name.
    pub stream: &'a mut DirectoryStream,
}

impl SyscallContext<'_> {
    /// Executes an operation on a name, or on no name at all.
    pub fn execute(self, request: &Request) -> i32 {
        let key = NameKey::of(request);
        match request.operation {
            Operation::Sync => {
                rustix::fs::sync();
                // sync(2) reports no errors.
                return 0;
            }
            Operation::Statfs => {
                let location = self.filesets.location(request.fileset);
                return location.map_or(-libc::EBADF, statfs);
            }
            Operation::Search => return self.search(request, key),
            Operation::NextEntry => {
                let found = self.next_entry(request, key);
                return found.unwrap_or_else(|result| result);
            }
            _ => {}
        }
        let Some(at) = self.filesets.name(key, self.name) else {
            return -libc::EBADF;
        };
        match request.operation {
            Operation::Chmod => chmod(at, request.offset_bytes),
            Operation::Utime => utime(at, request.offset_bytes),
            Operation::EmptyTree => empty_tree(at, self.entries),
            _ => -libc::EOPNOTSUPP,
        }
    }

    fn next_entry(self, request: &Request, key: NameKey) -> Result<i32, i32> {
        if request.offset_bytes != 0 {
            let at = self.filesets.directory_name(key, self.name);
            self.stream.open(at.ok_or(-libc::EBADF)?)?;
        }
        while let Some(name) = self.stream.next()? {
            if let Some(file) = self.filesets.find(key, name) {
                // 0 means that no name is left.
                return Ok(i32::try_from(file).map_or(-libc::EOVERFLOW, |file| file + 1));
            }
        }
        Ok(0)
    }

    fn search(self, request: &Request, key: NameKey) -> i32 {
        let mut wanted = [0; NAME_BYTES_MAX];
        let Some(at) = self.filesets.name(key, &mut wanted) else {
            return -libc::EBADF;
        };
        // SAFETY: the pointer is into a zero-terminated string that outlives this use.
        let wanted = unsafe { CStr::from_ptr(last_component(at.name)) };
        match self.filesets.directory_name(key, self.name) {
            Some(at) => {
                let found = search(at, wanted.to_bytes(), request.offset_bytes, self.entries);
                found.unwrap_or_else(|result| result)
            }
            None => -libc::EBADF,
        }
    }
}

const fn negated(errno: Errno) -> i32 {
    -errno.raw_os_error()
}

fn done(result: rustix::io::Result<()>) -> i32 {
    result.map_or_else(negated, |()| 0)
}

/// Number of fchmodat2(2) on x86-64 and all newer architectures. The crate `libc` lacks it for some
/// of them.
///
/// Source: `scripts/syscall.tbl` of Linux.
const SYS_FCHMODAT2: libc::c_long = 452;

/// Sets a file's permissions without following a link.
///
/// Source: fchmodat2(2), Linux 6.6; on older kernels the C library uses `/proc/self/fd`.
fn chmod(at: RelativeName<'_>, mode: u64) -> i32 {
    let (directory, name) = at.parts();
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // Permission bits only.
    let mode = mode as libc::mode_t & 0o7777;
    // SAFETY: the name ends with a zero byte and outlives the calls.
    let result = unsafe {
        match libc::syscall(SYS_FCHMODAT2, directory, name, mode, flags) {
            -1 if Errno::from_io_error(&std::io::Error::last_os_error()) == Some(Errno::NOSYS) => {
                libc::fchmodat(directory, name, mode, flags) as libc::c_long
            }
            result => result,
        }
    };
    syscall_result(result as isize)
}

fn statfs(directory: BorrowedFd<'_>) -> i32 {
    done(rustix::fs::fstatfs(directory).map(|_| ()))
}

fn utime(at: RelativeName<'_>, seconds: u64) -> i32 {
    let time = Timespec {
        tv_sec: seconds as i64,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    done(rustix::fs::utimensat(at.directory, at.name, &times, flags))
}

/// Reads entries until the wanted one is found; if `most` is not 0, until `most` entries were read.
/// Returns the number of entries read.
fn search(
    at: RelativeName<'_>,
    wanted: &[u8],
    most: u64,
    entries: &mut [MaybeUninit<u8>],
) -> Result<i32, i32> {
    let directory = open_stream(at)?;
    let mut directory = RawDir::new(&directory, entries);
    let mut count = 0;
    while let Some(entry) = directory.next() {
        let entry = entry.map_err(negated)?;
        count += 1;
        let is_enough = match most {
            // dbench compares in this way, because it imitates Samba's lookup of names.
            0 => entry.file_name().to_bytes().eq_ignore_ascii_case(wanted),
            most => count as u64 >= most,
        };
        if is_enough {
            break;
        }
    }
    Ok(count)
}

fn empty_tree(at: RelativeName<'_>, entries: &mut [MaybeUninit<u8>]) -> i32 {
    match open_stream(at) {
        Ok(directory) => done(empty(directory.as_fd(), entries, DEPTH_MAX)),
        Err(result) => result,
    }
}

/// Removes files, and continues if one cannot be removed. Returns the first error.
fn empty(
    directory: BorrowedFd<'_>,
    entries: &mut [MaybeUninit<u8>],
    depth: u32,
) -> rustix::io::Result<()> {
    let mut first = Ok(());
    let mut stream = RawDir::new(directory, entries);
    while let Some(entry) = stream.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        // The entry has a type, but dbench's `Deltree` makes this call for each entry.
        let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let is_directory =
            stat.is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Directory);
        let result = match (is_directory, depth) {
            // Deeper nesting would need more stack.
            (true, 0) => Err(Errno::LOOP),
            (true, _) => empty_below(directory, name, depth - 1),
            (false, _) => match unlink(RelativeName { directory, name }, AtFlags::empty()) {
                0 => Ok(()),
                result => Err(Errno::from_raw_os_error(-result)),
            },
        };
        first = first.and(result);
    }
    first
}

fn empty_below(directory: BorrowedFd<'_>, name: &CStr, depth: u32) -> rustix::io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let below = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    // C's `opendir` calls `fstat` as well.
    let _ = rustix::fs::fstat(&below);
    let mut entries = [const { MaybeUninit::uninit() }; INNER_ENTRIES_BYTES];
    empty(below.as_fd(), &mut entries, depth)
}
