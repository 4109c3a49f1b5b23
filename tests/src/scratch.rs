//! Directories that are removed when dropped, and the removal of leftovers of killed tests.

use std::path::{Path, PathBuf};

use crate::mount::{mounts_below, unmount};
use crate::{FixtureError, run_tool};

/// How every scratch directory's name starts; the owner's process id follows.
const PREFIX: &str = "pgmeter-e2e-";

/// A directory that is removed with everything in it.
#[derive(Debug)]
pub struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// A new directory where the system keeps temporary files.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn new() -> Result<Scratch, FixtureError> {
        Scratch::below(&std::env::temp_dir())
    }

    /// A new directory below `parent`.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn below(parent: &Path) -> Result<Scratch, FixtureError> {
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(parent)
            .map_err(FixtureError::file(parent))?;
        Ok(Scratch { directory })
    }

    /// A new directory in memory.
    ///
    /// # Errors
    /// `Unavailable` where `/dev/shm` is no tmpfs.
    pub fn in_memory() -> Result<Scratch, FixtureError> {
        let parent = Path::new("/dev/shm");
        if !parent.is_dir() {
            return Err(FixtureError::Unavailable(
                "there is no `/dev/shm`".to_owned(),
            ));
        }
        Scratch::below(parent)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A path in the directory.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A new directory in the directory.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn directory(&self, name: &str) -> Result<PathBuf, FixtureError> {
        let path = self.join(name);
        std::fs::create_dir(&path).map_err(FixtureError::file(&path))?;
        Ok(path)
    }
}

/// Takes down mounts, loop devices and directories of scratch directories whose owners are dead.
///
/// Returns how many directories were removed. What cannot be removed is left alone.
pub fn sweep() -> usize {
    let parents = [std::env::temp_dir(), PathBuf::from("/dev/shm")];
    let abandoned: Vec<PathBuf> = parents
        .iter()
        .flat_map(|parent| abandoned_in(parent))
        .collect();
    for directory in &abandoned {
        tear_down(directory);
    }
    abandoned
        .iter()
        .filter(|directory| !directory.exists())
        .count()
}

fn abandoned_in(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| owner(path).is_some_and(|pid| !Path::new("/proc").join(pid).exists()))
        .collect()
}

/// The owner's process id, from a scratch directory's name.
fn owner(path: &Path) -> Option<String> {
    let rest = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    let pid = rest.split('-').next()?;
    pid.parse::<u32>().ok().map(|pid| pid.to_string())
}

fn tear_down(directory: &Path) {
    for mount in mounts_below(directory) {
        // A mount that stays keeps its directory, which is then seen again by the next sweep.
        let _ = unmount(&mount);
    }
    let listed = run_tool(
        "losetup",
        &["--list", "--noheadings", "--output", "NAME,BACK-FILE"],
    );
    for line in listed.unwrap_or_default().lines() {
        let mut parts = line.split_whitespace();
        if let (Some(device), Some(image)) = (parts.next(), parts.next())
            && Path::new(image).starts_with(directory)
        {
            let _ = run_tool("losetup", &["--detach", device]);
        }
    }
    if mounts_below(directory).is_empty() {
        let _ = std::fs::remove_dir_all(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_is_removed_on_drop() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_path_buf();
        std::fs::write(scratch.join("a"), "b").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_scratch_directory_names_its_owner() {
        let scratch = Scratch::new().unwrap();
        assert_eq!(owner(scratch.path()), Some(std::process::id().to_string()));
        assert_eq!(owner(Path::new("pgmeter-e2e-x")), None);
        assert_eq!(owner(Path::new("something-else")), None);
    }

    #[test]
    fn only_directories_of_dead_owners_are_abandoned() {
        let parent = Scratch::new().unwrap();
        let own = Scratch::below(parent.path()).unwrap();
        // No system has a process of the largest id.
        let dead = parent
            .directory(&format!("{PREFIX}{}-x", u32::MAX))
            .unwrap();
        assert_eq!(abandoned_in(parent.path()), vec![dead.clone()]);
        tear_down(&dead);
        assert!(!dead.exists());
        assert!(own.path().exists());
    }
}
