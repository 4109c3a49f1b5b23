//! Files that outlast a run: found in one of the user's directories, or moved there at the end.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use plan::program::{PersistentFiles, PersistentRole};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, XattrFlags, fgetxattr, fsetxattr, fstat, linkat,
    mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use storage::Tree;

use crate::RunError;

/// Attribute of a file that a run left, with its state at that time. It shows that the file belongs
/// to pgmeter, and that nobody has written to it since.
const STATE_ATTRIBUTE: &CStr = c"user.pgmeter.left";

/// Checks that files to be used exist, and that names of files to be left are free. Removes files
/// that an earlier run left under these names, if nobody has changed them.
///
/// # Errors
/// The first name that fails the check; then no file is removed.
pub(super) fn check(lasting: &PersistentFiles) -> Result<(), RunError> {
    let directory = Tree::found(&lasting.directory)?;
    let mut replaced = Vec::new();
    for name in &lasting.names {
        // A link could lead out of the user's directory.
        let found = statat(directory.directory(), name, AtFlags::SYMLINK_NOFOLLOW);
        let not_found = |why: String| RunError::ExistingFiles {
            path: path_of(lasting, name),
            why,
        };
        match (lasting.role, found) {
            (PersistentRole::Leaves, Err(Errno::NOENT)) => {}
            (PersistentRole::Leaves, Ok(_))
                if is_unchanged(directory.directory().as_fd(), name) =>
            {
                replaced.push(name);
            }
            (PersistentRole::Leaves, Ok(_)) => {
                return Err(RunError::file(
                    "make",
                    &path_of(lasting, name),
                    Errno::EXIST,
                ));
            }
            (_, Err(errno)) => return Err(not_found(std::io::Error::from(errno).to_string())),
            (_, Ok(found)) => {
                let kind = FileType::from_raw_mode(found.st_mode);
                let bytes = u64::try_from(found.st_size).unwrap_or(0);
                match (lasting.file_bytes, kind) {
                    (Some(wanted), FileType::RegularFile) if bytes >= wanted => {}
                    (Some(wanted), FileType::RegularFile) => {
                        let why = format!("it has {bytes} bytes, but {wanted} are to be read");
                        return Err(not_found(why));
                    }
                    (None, FileType::Directory) => {}
                    (Some(_), _) => return Err(not_found("it is not a regular file".to_owned())),
                    (None, _) => return Err(not_found("it is not a directory".to_owned())),
                }
            }
        }
    }
    for name in replaced {
        match unlinkat(directory.directory(), name, AtFlags::empty()) {
            // Another process of the run may have removed the file already.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => {
                return Err(RunError::file("remove", &path_of(lasting, name), errno));
            }
        }
    }
    Ok(())
}

/// Moves the files made in a tree to their names, or removes the directories that are empty now. If
/// several processes made files together, the first one moves all of them.
///
/// # Errors
/// The first file that could not be moved; it is removed with the work directory.
pub(super) fn finish(lasting: &PersistentFiles, tree: &Tree) -> Result<(), RunError> {
    let directory = Tree::found(&lasting.directory)?;
    let (from, to) = (tree.directory(), directory.directory());
    for name in &lasting.names {
        match lasting.role {
            PersistentRole::Finds => {}
            PersistentRole::Removes => {
                // A directory in which another program left files is not empty and stays.
                let _ = unlinkat(to, name, AtFlags::REMOVEDIR);
            }
            PersistentRole::Leaves => {
                match move_without_replacing(from.as_fd(), to.as_fd(), name) {
                    Ok(()) => note_state(to.as_fd(), name),
                    // Another process of the run may have moved the file already.
                    Err(Errno::NOENT) => {}
                    Err(errno) => {
                        return Err(RunError::file("make", &path_of(lasting, name), errno));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Stores the state of a file that a run left. Without this attribute, which some file systems do
/// not support, no later run replaces the file.
fn note_state(directory: BorrowedFd<'_>, name: &str) {
    if let Some((file, state)) = state_of(directory, name) {
        let _ = fsetxattr(
            &file,
            STATE_ATTRIBUTE,
            state.as_bytes(),
            XattrFlags::empty(),
        );
    }
}

/// `true` if a run left this file and it has not been written to since.
fn is_unchanged(directory: BorrowedFd<'_>, name: &str) -> bool {
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
fn move_without_replacing(
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

/// Path of a name, as the user wrote it.
fn path_of(lasting: &PersistentFiles, name: &str) -> PathBuf {
    match lasting.directory == Path::new(".") {
        true => PathBuf::from(name),
        false => lasting.directory.join(name),
    }
}
