//! Drops the kernel's caches, of all file systems.

use std::fs;
use std::path::Path;

use crate::TargetError;

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// Drops pages, directory entries and inodes.
const DROP_ALL: &str = "3";
/// A single round leaves the metadata of recently written files in ext4's journal.
const ROUNDS: usize = 2;

/// Syncs all dirty data and drops all clean pages, directory entries and inodes of this machine.
///
/// # Errors
/// [`TargetError::NoDropCaches`] for users other than root, and where `/proc/sys` is read-only.
///
/// Source: Linux, `Documentation/admin-guide/sysctl/vm.rst`, `drop_caches`.
pub fn drop_caches() -> Result<(), TargetError> {
    drop_by(Path::new(DROP_CACHES))
}

/// Checks that [`drop_caches`] is allowed, without dropping anything.
///
/// # Errors
/// Same as [`drop_caches`].
pub fn check_drop_caches() -> Result<(), TargetError> {
    check_by(Path::new(DROP_CACHES))
}

fn check_by(switch: &Path) -> Result<(), TargetError> {
    let opened = fs::OpenOptions::new().write(true).open(switch);
    opened
        .map(drop)
        .map_err(|source| TargetError::NoDropCaches { source })
}

fn drop_by(switch: &Path) -> Result<(), TargetError> {
    // Dirty pages are not dropped.
    rustix::fs::sync();
    // After recent writes, the journal still holds metadata pages. The first round drops the inodes
    // that pin them, the second one the pages.
    for _ in 0..ROUNDS {
        fs::write(switch, DROP_ALL).map_err(|source| TargetError::NoDropCaches { source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{LoopMount, is_cached};

    #[test]
    fn failing_to_drop_caches_is_an_error_with_advice() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = drop_by(&directory.path().join("no/such")).expect_err("a refusal");
        assert!(
            error
                .to_string()
                .starts_with("cannot drop the kernel's caches: "),
            "{error}"
        );
        assert_eq!(error.help(), "run as root, or leave the caches as they are");
        let before = check_by(&directory.path().join("no/such")).expect_err("a refusal");
        assert_eq!(before.to_string(), error.to_string());
    }

    #[test]
    fn dropping_caches_evicts_a_file_that_was_just_written() {
        let Some(mut device) = LoopMount::new(64) else {
            return;
        };
        if !device.make(&["mkfs.ext4", "-q", "-F"]) {
            return;
        }
        let Some(point) = device.mount("rw") else {
            return;
        };
        let path = point.join("file");
        fs::write(&path, vec![1; 1 << 16]).expect("a file");
        assert!(is_cached(&path));
        if let Err(error) = drop_caches() {
            println!("skipped: {error}");
            return;
        }
        assert!(!is_cached(&path));
    }
}
