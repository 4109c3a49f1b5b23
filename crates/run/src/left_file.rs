//! Files that a run leaves in a directory of the user, and that a later run may replace or use.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, XattrFlags, fchmod, fgetxattr, fsetxattr, fstat,
    linkat, mkdirat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

/// Attribute of a file that a run left, with its state at that time. It shows that the file belongs
/// to pgmeter, and that nobody has written to it since.
const STATE_ATTRIBUTE: &CStr = c"user.pgmeter.left";

/// Mode of files that the original programs leave, before the umask.
const MODE: u32 = 0o644;

/// Gives a file that a run left the mode that the original program gives it, and stores its state.
/// Without this attribute, which some file systems do not support, no later run replaces the file.
pub(crate) fn finish_left(directory: BorrowedFd<'_>, name: &str) {
    if let Some((file, state)) = state_of(directory, name) {
        // In the work directory, nobody else could read it.
        if let Some(umask) = umask() {
            let _ = fchmod(&file, Mode::from_raw_mode(MODE & !umask));
        }
        let _ = fsetxattr(
            &file,
            STATE_ATTRIBUTE,
            state.as_bytes(),
            XattrFlags::empty(),
        );
    }
}

/// The umask of this process. The system call returns it only when setting another, which would
/// affect files that other threads create meanwhile.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let octal = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(octal.trim(), 8).ok()
}

/// `true` if a run left this file and it has not been written to since.
pub(crate) fn is_unchanged(directory: BorrowedFd<'_>, name: &str) -> bool {
    let Some((file, state)) = state_of(directory, name) else {
        return false;
    };
    // A state has at most about 70 bytes.
    let mut stored = [0; 128];
    let length = fgetxattr(&file, STATE_ATTRIBUTE, &mut stored);
    length.is_ok_and(|length| stored.get(..length) == Some(state.as_bytes()))
}

/// An open regular file, with its inode, size and modification time; `None` for anything else.
fn state_of(directory: BorrowedFd<'_>, name: &str) -> Option<(OwnedFd, String)> {
    // A FIFO would block, and a link could lead out of the user's directory.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::empty()).ok()?;
    let found = fstat(&file).ok()?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let state = format!(
        "{} {} {}.{:09}",
        found.st_ino, found.st_size, found.st_mtime, found.st_mtime_nsec
    );
    is_file.then_some((file, state))
}

/// Moves a file or a directory to another directory, if the name is free there.
pub(crate) fn move_without_replacing(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    name: &str,
) -> Result<(), Errno> {
    match renameat_with(from, name, to, name, RenameFlags::NOREPLACE) {
        // NFS and some other file systems do not support this flag.
        Err(Errno::INVAL | Errno::NOSYS) => {}
        moved => return moved,
    }
    match linkat(from, name, to, name, AtFlags::empty()) {
        Ok(()) => return unlinkat(from, name, AtFlags::empty()),
        // A directory cannot have a second link.
        Err(Errno::PERM | Errno::ISDIR) => {}
        Err(errno) => return Err(errno),
    }
    // The new directory is empty, so `rename` may replace it.
    mkdirat(to, name, Mode::RWXU)?;
    renameat(from, name, to, name)
}
