//! Files that jobs of another program leave in the directories of the user, and find there again.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};

use plan::Cell;
use plan::job::NamedFile;
use results::{Warning, WarningCode};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use storage::Tree;

use crate::RunError;
use crate::left_file::{finish_left, is_unchanged, move_without_replacing};
use crate::session::Session;

impl Session<'_> {
    /// Moves a file that an earlier run left, and that nobody has changed, to the work directory.
    pub(super) fn take_left_file(
        &mut self,
        (file, name): (&NamedFile, &str),
    ) -> Result<(), RunError> {
        let directory = Tree::found(&self.plan.targets[file.target_index as usize].path)?;
        let job_tree = self.job_trees.get_mut(&file.target_index);
        let job_tree = job_tree.expect("the tree of each target with files was made");
        let (path, last) = name.rsplit_once('/').unwrap_or(("", name));
        let Ok(from) = opened(&directory, path) else {
            return Ok(());
        };
        if !is_unchanged(from.as_fd(), last) {
            return Ok(());
        }
        let to = opened(&job_tree.tree, path)?;
        match move_without_replacing(from.as_fd(), to.as_fd(), last) {
            Ok(()) => {}
            // An earlier wave has made or taken it.
            Err(Errno::EXIST) => return Ok(()),
            Err(errno) => return Err(RunError::file("move", &directory.path().join(name), errno)),
        }
        job_tree.taken.insert(name.to_owned());
        // A new layout would hide what a job is to verify.
        job_tree.written.insert(name.to_owned());
        Ok(())
    }

    /// Moves the files that the original program leaves to their places. After a run that is not
    /// complete, these are only the files that were taken from there.
    pub(crate) fn leave_job_files(&mut self, is_complete: bool) {
        let plan = self.plan;
        let cells = plan.cells.iter();
        let all = cells.filter_map(Cell::job_files).flat_map(|it| &it.files);
        let left: BTreeSet<(u32, &str)> = all
            .filter(|file| file.is_left)
            .filter_map(|file| Some((file.target_index, file.name.as_deref()?)))
            .collect();
        for (target_index, name) in left {
            let Some(job_tree) = self.job_trees.get(&target_index) else {
                continue;
            };
            if !is_complete && !job_tree.taken.contains(name) {
                continue;
            }
            let directory = &plan.targets[target_index as usize].path;
            let moved = Tree::found(directory)
                .map_err(RunError::from)
                .and_then(|directory| leave(&job_tree.tree, &directory, name));
            let path = directory.join(name);
            let message = match moved {
                Ok(()) => continue,
                Err(RunError::File { source, .. })
                    if source.kind() == std::io::ErrorKind::AlreadyExists =>
                {
                    format!(
                        "`{}` existed before and is unchanged; the file that this run wrote is \
                         removed",
                        path.display()
                    )
                }
                Err(error) => error.to_string(),
            };
            self.warn(Warning::of_run(WarningCode::DiffersFromOriginal, message));
        }
    }
}

/// Moves a file from the work directory to the user's directory. Replaces only a file that an
/// earlier run left and nobody has changed.
fn leave(tree: &Tree, directory: &Tree, name: &str) -> Result<(), RunError> {
    let failed = |errno| RunError::file("make", &directory.path().join(name), errno);
    let (path, last) = name.rsplit_once('/').unwrap_or(("", name));
    let from = opened(tree, path)?;
    let to = made(directory, path).map_err(failed)?;
    if is_unchanged(to.as_fd(), last) {
        unlinkat(&to, last, AtFlags::empty()).map_err(failed)?;
    }
    match move_without_replacing(from.as_fd(), to.as_fd(), last) {
        Ok(()) => {
            finish_left(to.as_fd(), last);
            Ok(())
        }
        // No job has created it, or one has removed it.
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(failed(errno)),
    }
}

/// Opens the directory at a path in a tree; the tree itself if the path is empty.
fn opened(tree: &Tree, path: &str) -> Result<OwnedFd, RunError> {
    match path {
        "" => tree
            .directory()
            .try_clone()
            .map_err(|source| RunError::File {
                verb: "open",
                path: tree.path().to_owned(),
                source,
            }),
        path => Ok(tree.make_subdirectory(path)?),
    }
}

/// Opens the directory at a path in the user's directory, and creates what is missing.
fn made(directory: &Tree, path: &str) -> Result<OwnedFd, Errno> {
    let mut opened = rustix::io::fcntl_dupfd_cloexec(directory.directory(), 0)?;
    for component in path.split('/').filter(|it| !it.is_empty()) {
        match mkdirat(&opened, component, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        // No link may lead out of the user's directory.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        opened = openat(&opened, component, flags, Mode::empty())?;
    }
    Ok(opened)
}
