//! The board that the server shows. Its site is built by a separate process, in a directory of the
//! server, and again when a file of the board has changed.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, Metadata};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::answer::RefusedAnswer;
use crate::scratch::{SITE, Scratch};

/// The newest site; none until the first request for a page of the board.
#[derive(Debug, Default)]
pub(crate) struct BoardSites(pub Mutex<Option<Arc<BuiltSite>>>);

/// A site, removed once no request reads it.
#[derive(Debug)]
pub(crate) struct BuiltSite {
    /// State of the board's files when the build began.
    pub state: BoardState,
    /// Directory with the site.
    pub scratch: Scratch,
}

/// Hash of the names, times and sizes of a board's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoardState(u64);

impl BuiltSite {
    /// Reads a file of the site.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, RefusedAnswer> {
        let path = Path::new(path);
        // `..` and absolute paths would leave the site.
        let is_below = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let file = self.scratch.path().join(SITE).join(path);
        match is_below {
            true => fs::read(file).map_err(|_| RefusedAnswer::not_found()),
            false => Err(RefusedAnswer::not_found()),
        }
    }
}

impl BoardState {
    /// Examines the files of a board without reading them.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let mut files = vec![(PathBuf::new(), fs::metadata(directory.join("board.toml"))?)];
        let submissions = directory.join("submissions");
        if submissions.is_dir() {
            for entry in fs::read_dir(submissions)? {
                let path = entry?.path();
                // A submission without files counts too: the site says that it is unreadable.
                files.push((path.clone(), fs::metadata(&path)?));
                for entry in fs::read_dir(&path).into_iter().flatten() {
                    let entry = entry?;
                    files.push((entry.path(), entry.metadata()?));
                }
            }
        }
        // `read_dir` has no order.
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let mut hasher = DefaultHasher::new();
        for (path, metadata) in &files {
            (path, marks(metadata)).hash(&mut hasher);
        }
        Ok(Self(hasher.finish()))
    }
}

/// Returns values of which one differs after a file was written or replaced.
fn marks(metadata: &Metadata) -> impl Hash {
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    // A copied file may keep its time of modification, but not this one.
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    (metadata.ino(), metadata.len(), modified, changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_changed_or_removed_file_changes_the_state_of_a_board() {
        let board = tempfile::tempdir().unwrap();
        let at = |name: &str| board.path().join(name);
        assert!(BoardState::of(board.path()).is_err());
        fs::write(at("board.toml"), "a").unwrap();
        let mut states = vec![BoardState::of(board.path()).unwrap()];
        let mut changed = || {
            let state = BoardState::of(board.path()).unwrap();
            assert_eq!(state, BoardState::of(board.path()).unwrap());
            assert_ne!(&state, states.last().unwrap());
            states.push(state);
        };
        fs::create_dir_all(at("submissions/a")).unwrap();
        changed();
        fs::write(at("submissions/a/submission.toml"), "a").unwrap();
        changed();
        fs::write(at("submissions/a/submission.toml"), "ab").unwrap();
        changed();
        fs::remove_file(at("submissions/a/submission.toml")).unwrap();
        changed();
        fs::write(at("board.toml"), "abc").unwrap();
        changed();
    }

    #[test]
    fn only_files_of_the_site_are_read() {
        let scratch = Scratch::with(None).unwrap();
        let site = scratch.path().join(SITE);
        fs::create_dir_all(site.join("tables")).unwrap();
        fs::write(site.join("tables/a.html"), "a").unwrap();
        fs::write(scratch.path().join("b"), "b").unwrap();
        let path = scratch.path().to_owned();
        let built = BuiltSite {
            state: BoardState(0),
            scratch,
        };
        assert_eq!(built.read("tables/a.html").unwrap(), b"a");
        let outside = path.join("b");
        for path in [
            "../b",
            "tables/../../b",
            outside.to_str().unwrap(),
            "tables",
            "",
            "b",
            "a\0",
        ] {
            assert!(built.read(path).is_err(), "{path}");
        }
        drop(built);
        assert!(!path.exists());
    }
}
