//! Files that outlast a run: found in one of the user's directories, or moved there at the end.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use plan::program::{PersistentFiles, PersistentRole};
use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;
use storage::Tree;

use crate::RunError;
use crate::left_file::{finish_left, is_unchanged, move_without_replacing};

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
            (PersistentRole::Leaves, Err(Errno::NOENT)) | (PersistentRole::Replaces, _) => {}
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
            PersistentRole::Replaces => {
                if is_unchanged(to.as_fd(), name) {
                    // Another process of the run may have removed it already.
                    let _ = unlinkat(to, name, AtFlags::empty());
                }
            }
            PersistentRole::Removes => {
                // A directory in which another program left files is not empty and stays.
                let _ = unlinkat(to, name, AtFlags::REMOVEDIR);
            }
            PersistentRole::Leaves => {
                match move_without_replacing(from.as_fd(), to.as_fd(), name) {
                    Ok(()) => finish_left(to.as_fd(), name),
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

/// Path of a name, as the user wrote it.
fn path_of(lasting: &PersistentFiles, name: &str) -> PathBuf {
    match lasting.directory == Path::new(".") {
        true => PathBuf::from(name),
        false => lasting.directory.join(name),
    }
}
