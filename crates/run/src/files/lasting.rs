//! Files that outlast a run: found in a directory of the user, or moved there at the end.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use plan::program::{LastingFiles, LastingRole};
use rustix::fs::{
    AtFlags, FileType, Mode, RenameFlags, linkat, mkdirat, renameat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;
use target::Tree;

use crate::RunError;

/// Holds that files which are to be found are there, and that names which are to be given are free.
///
/// # Errors
/// The first name for which that is not so.
pub(super) fn check(lasting: &LastingFiles) -> Result<(), RunError> {
    let directory = Tree::found(&lasting.directory)?;
    for name in &lasting.names {
        let found = statat(directory.directory(), name, AtFlags::SYMLINK_NOFOLLOW);
        let not_found = |why: String| RunError::Found {
            path: path_of(lasting, name),
            why,
        };
        match (lasting.role, found) {
            (LastingRole::Leaves, Err(Errno::NOENT)) => {}
            (LastingRole::Leaves, Ok(_)) => {
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
                        let why = format!("it has {bytes} bytes, and {wanted} are to be read");
                        return Err(not_found(why));
                    }
                    (None, FileType::Directory) => {}
                    (Some(_), _) => return Err(not_found("it is not a regular file".to_owned())),
                    (None, _) => return Err(not_found("it is not a directory".to_owned())),
                }
            }
        }
    }
    Ok(())
}

/// Moves what was made in a tree to its names, or removes the directories that are empty now. Of
/// what several processes made together, the first takes all.
///
/// # Errors
/// The first that could not be moved; it is removed with the work directory.
pub(super) fn finish(lasting: &LastingFiles, tree: &Tree) -> Result<(), RunError> {
    let directory = Tree::found(&lasting.directory)?;
    let (from, to) = (tree.directory(), directory.directory());
    for name in &lasting.names {
        match lasting.role {
            LastingRole::Finds => {}
            LastingRole::Removes => {
                // One in which somebody put something stays.
                let _ = unlinkat(to, name, AtFlags::REMOVEDIR);
            }
            LastingRole::Leaves => match move_to_free(from.as_fd(), to.as_fd(), name) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => {
                    return Err(RunError::file("make", &path_of(lasting, name), errno));
                }
            },
        }
    }
    Ok(())
}

/// Gives a file or a directory to another directory where the name is free.
fn move_to_free(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match renameat_with(from, name, to, name, RenameFlags::NOREPLACE) {
        // NFS and some others have no such flag.
        Err(Errno::INVAL | Errno::NOSYS) => {}
        moved => return moved,
    }
    match linkat(from, name, to, name, AtFlags::empty()) {
        Ok(()) => return unlinkat(from, name, AtFlags::empty()),
        // Of a directory there is only one link.
        Err(Errno::PERM | Errno::ISDIR) => {}
        Err(errno) => return Err(errno),
    }
    // One that was made here is empty and may be replaced.
    mkdirat(to, name, Mode::RWXU)?;
    renameat(from, name, to, name)
}

/// A name as the user wrote it.
fn path_of(lasting: &LastingFiles, name: &str) -> PathBuf {
    match lasting.directory == Path::new(".") {
        true => PathBuf::from(name),
        false => lasting.directory.join(name),
    }
}
