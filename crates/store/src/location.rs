//! Location of the store.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// The user's store: `pgmeter/results.db` in `$XDG_DATA_HOME` or `~/.local/share`.
///
/// # Errors
/// [`StoreError::NoHome`] if there is no home directory.
///
/// Source: XDG Base Directory Specification 0.8; relative paths are ignored.
pub fn default_path() -> Result<PathBuf, StoreError> {
    below(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn below(data_home: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, StoreError> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let in_home = || {
        home.and_then(absolute)
            .map(|home| home.join(".local/share"))
    };
    let data_home = data_home.and_then(absolute).or_else(in_home);
    let directory = data_home.ok_or(StoreError::NoHome)?;
    Ok(directory.join("pgmeter").join("results.db"))
}

/// Creates the directories above the store, accessible only to this user.
pub(crate) fn make_parents(path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(());
    };
    // The XDG Base Directory Specification asks for this mode.
    let result = DirBuilder::new().recursive(true).mode(0o700).create(parent);
    result.map_err(|error| StoreError::of_io(path, &error))
}

/// Metadata of the store's file; `None` if it does not exist.
///
/// Opening another kind of file could wait forever or, for a device, destroy it.
pub(crate) fn regular_file(path: &Path) -> Result<Option<Metadata>, StoreError> {
    // Links are followed: the user may keep the store elsewhere.
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::of_io(path, &error)),
    };
    if found.is_file() {
        return Ok(Some(found));
    }
    Err(StoreError::NotAStore {
        path: path.to_owned(),
        reason: "it is not a regular file".to_owned(),
    })
}

/// Device and inode of the file.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// `true` if both are on the same file system, or `target` is the block device under `path`.
pub(crate) fn shares_device(path: &Path, target: &Path) -> bool {
    let device_of = |path: &Path| existing(path).map(|found| found.dev());
    let Some(store) = device_of(path) else {
        return false;
    };
    match existing(target) {
        Some(found) if found.file_type().is_block_device() => found.rdev() == store,
        Some(found) => found.dev() == store,
        None => false,
    }
}

/// Metadata of the file, or of the nearest existing directory above it.
fn existing(path: &Path) -> Option<Metadata> {
    let absolute = std::path::absolute(path).ok()?;
    absolute
        .ancestors()
        // A store or target that does not exist yet will be on the file system of this directory.
        .find_map(|ancestor| fs::metadata(ancestor).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default(data_home: Option<&str>, home: Option<&str>) -> Option<String> {
        let path = below(data_home.map(OsString::from), home.map(OsString::from)).ok()?;
        Some(path.to_string_lossy().into_owned())
    }

    #[test]
    fn the_store_is_in_the_data_home_or_its_default() {
        let stored = Some("/home/u/.local/share/pgmeter/results.db".to_owned());
        assert_eq!(default(None, Some("/home/u")), stored);
        assert_eq!(default(Some("not/absolute"), Some("/home/u")), stored);
        assert_eq!(default(Some(""), Some("/home/u")), stored);
        assert_eq!(
            default(Some("/srv/d"), Some("/home/u")).as_deref(),
            Some("/srv/d/pgmeter/results.db")
        );
        assert_eq!(default(None, None), None);
        assert_eq!(default(None, Some("")), None);
    }

    #[test]
    fn a_store_shares_the_device_of_its_nearest_directory() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("not/yet/made.db");
        assert!(shares_device(&store, &directory.path().join("target")));
        assert!(!shares_device(&store, Path::new("/proc")));
    }
}
