//! Where the files of a stage lie and how they are opened.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::{FileOptions, Fileset, Filesets};
use plan::{CacheMode, Cell};
use target::Tree;

use crate::RunError;

/// Where files lie and how they are opened.
#[derive(Clone)]
pub(crate) struct OpenFileset {
    pub fileset: Arc<Fileset>,
    /// Filesets besides, which requests say by number.
    pub others: Arc<[Arc<Fileset>]>,
    pub options: FileOptions,
}

impl OpenFileset {
    /// One fileset.
    pub fn of(fileset: Arc<Fileset>, options: FileOptions) -> Self {
        Self {
            fileset,
            others: Arc::new([]),
            options,
        }
    }

    /// All of them.
    pub fn filesets(&self) -> Filesets {
        Filesets::new(Arc::clone(&self.fileset), &self.others)
    }
}

/// Permissions of the directories that are made.
pub(super) const DIRECTORY_MODE: u32 = 0o700;

/// Permissions of directories that are made, before the process's mask.
pub(super) fn directory_mode(tree: &Tree) -> u32 {
    match tree.is_in_place() {
        true => 0o777,
        false => DIRECTORY_MODE,
    }
}

/// How a cell's files are opened where the classic has no way of its own.
pub(super) fn options(cell: &Cell) -> FileOptions {
    let mut options = FileOptions::default();
    if cell.cache == CacheMode::Direct {
        options.open = options.open.with(direct_flag());
    }
    options
}

pub(super) fn direct_flag() -> i32 {
    rustix::fs::OFlags::DIRECT.bits().cast_signed()
}

/// A handle of its own on a directory of a tree: the tree itself, or a subdirectory, made if need
/// be.
pub(super) fn location(tree: &Tree, name: Option<&str>) -> Result<OwnedFd, RunError> {
    match name {
        Some(name) => Ok(tree.make_subdirectory(name)?),
        None => tree
            .directory()
            .try_clone()
            .map_err(|source| RunError::System {
                what: format!("open `{}` again", tree.path().display()),
                source,
            }),
    }
}
