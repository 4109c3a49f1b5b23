//! Location of a stage's files, and the way they are opened.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::{FileEngineOptions, Fileset, Filesets};
use plan::{CacheMode, Cell};
use storage::Tree;

use crate::RunError;

/// Location of files, and the way they are opened.
#[derive(Clone)]
pub(crate) struct OpenFileset {
    pub fileset: Arc<Fileset>,
    /// Further filesets, which requests select by number.
    pub other_filesets: Arc<[Arc<Fileset>]>,
    pub options: FileEngineOptions,
}

impl OpenFileset {
    /// Creates it with a single fileset.
    pub fn of(fileset: Arc<Fileset>, options: FileEngineOptions) -> Self {
        Self {
            fileset,
            other_filesets: Arc::new([]),
            options,
        }
    }

    /// All filesets.
    pub fn filesets(&self) -> Filesets {
        Filesets::new(Arc::clone(&self.fileset), &self.other_filesets)
    }
}

/// Permissions of directories in pgmeter's own tree.
pub(crate) const DIRECTORY_MODE: u32 = 0o700;

/// Permissions for new directories, before the process's umask.
pub(crate) fn directory_mode(tree: &Tree) -> u32 {
    match tree.is_in_place() {
        // The user's umask decides, as for the original programs.
        true => 0o777,
        false => DIRECTORY_MODE,
    }
}

/// Open options of a cell's files, unless the workload has its own.
pub(crate) fn options(cell: &Cell) -> FileEngineOptions {
    let mut options = FileEngineOptions::default();
    if cell.cache == CacheMode::Direct {
        options.open = options.open.with(direct_flag());
    }
    options
}

pub(crate) fn direct_flag() -> i32 {
    rustix::fs::OFlags::DIRECT.bits().cast_signed()
}

/// New handle of a directory in a tree: the tree itself, or a subdirectory, which is created if it
/// is missing.
pub(crate) fn location(tree: &Tree, name: Option<&str>) -> Result<OwnedFd, RunError> {
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
