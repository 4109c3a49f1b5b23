//! Free space of a file system.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rustix::fs::fstatvfs;

use crate::error::LabError;

/// Maximum number of polls; some file systems free space only after a while.
const POLLS_MAX: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Space of a file system, as counted by `df`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileSystemSpace {
    pub used_bytes: u64,
    /// Used space plus space available to all users.
    pub size_bytes: u64,
    pub block_bytes: u64,
}

impl FileSystemSpace {
    /// The current space.
    pub fn now(directory: &File, path: &Path) -> Result<Self, LabError> {
        let stat = fstatvfs(directory).map_err(|error| LabError::system("access", path, error))?;
        let used_bytes = (stat.f_blocks - stat.f_bfree.min(stat.f_blocks)) * stat.f_frsize;
        Ok(Self {
            used_bytes,
            size_bytes: used_bytes + stat.f_bavail * stat.f_frsize,
            block_bytes: stat.f_frsize.max(1),
        })
    }

    /// The space once it is stable; XFS frees deleted blocks in the background.
    pub fn settled(directory: &File, path: &Path) -> Result<Self, LabError> {
        let mut before = Self::now(directory, path)?;
        for _ in 0..POLLS_MAX {
            std::thread::sleep(PAUSE);
            let after = Self::now(directory, path)?;
            if after == before {
                break;
            }
            before = after;
        }
        Ok(before)
    }

    /// Used share of the space, from 0 to 1.
    pub fn fullness(&self) -> f64 {
        self.used_bytes as f64 / self.size_bytes.max(1) as f64
    }
}
