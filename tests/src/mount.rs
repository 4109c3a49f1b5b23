//! Mounts that are taken down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{FixtureError, run_tool};

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub struct Mount {
    directory: PathBuf,
}

impl Mount {
    /// Mounts `device` at the existing directory `directory`.
    ///
    /// # Errors
    /// What `mount` says.
    pub fn new(device: &Path, directory: &Path, options: &str) -> Result<Mount, FixtureError> {
        let (device, at) = (device.to_string_lossy(), directory.to_string_lossy());
        run_tool("mount", &["-o", options, &device, &at])?;
        Ok(Mount {
            directory: directory.to_path_buf(),
        })
    }

    /// Mounts an empty file system in memory of `size_bytes` at the existing directory.
    ///
    /// # Errors
    /// `Unavailable` without root.
    pub fn tmpfs(directory: &Path, size_bytes: u64) -> Result<Mount, FixtureError> {
        if !rustix::process::geteuid().is_root() {
            return Err(FixtureError::Unavailable("needs root".to_owned()));
        }
        let options = format!("size={size_bytes}");
        let at = directory.to_string_lossy();
        run_tool("mount", &["-t", "tmpfs", "-o", &options, "tmpfs", &at])?;
        Ok(Mount {
            directory: directory.to_path_buf(),
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Mounts it again with other options, such as `ro`.
    ///
    /// # Errors
    /// The error of `mount`.
    pub fn remount(&self, options: &str) -> Result<(), FixtureError> {
        let options = format!("remount,{options}");
        run_tool(
            "mount",
            &["-o", &options, &self.directory.to_string_lossy()],
        )
        .map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.directory) {
            eprintln!("warning: {error}");
        }
    }
}

/// Unmounts a directory; a file system stays busy for a moment after a process with a ring dies.
///
/// # Errors
/// What `umount` says after 5 s of trying.
pub fn unmount(directory: &Path) -> Result<(), FixtureError> {
    let mut outcome = Ok(());
    for _ in 0..50 {
        if !is_mounted(directory) {
            return Ok(());
        }
        outcome = run_tool("umount", &[&directory.to_string_lossy()]).map(drop);
        if outcome.is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    outcome
}

fn is_mounted(directory: &Path) -> bool {
    mounts_below(directory)
        .iter()
        .any(|mount| mount == directory)
}

/// All mounts at or below a directory, innermost first.
pub(crate) fn mounts_below(directory: &Path) -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut mounts: Vec<PathBuf> = table
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .map(|field| PathBuf::from(field.replace("\\040", " ")))
        .filter(|mount| mount.starts_with(directory))
        .collect();
    mounts.sort_by_key(|mount| std::cmp::Reverse(mount.components().count()));
    mounts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmounting_an_unmounted_directory_succeeds() {
        let scratch = crate::Scratch::new().unwrap();
        assert!(unmount(scratch.path()).is_ok());
    }

    #[test]
    fn the_root_has_mounts_below_it() {
        let mounts = mounts_below(Path::new("/"));
        assert_eq!(mounts.last().map(PathBuf::as_path), Some(Path::new("/")));
    }
}
