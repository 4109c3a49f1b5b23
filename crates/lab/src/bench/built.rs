//! A file system that is mounted: made durable, looked at, unmounted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Built;
use crate::error::LabError;
use crate::undo::unmount;
use crate::vm::Image;

impl Built {
    /// Makes durable what was written; how long that took.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> Result<Duration, LabError> {
        let failed = |error: io::Error| LabError::system("sync", &self.directory, error);
        let directory = File::open(&self.directory).map_err(failed)?;
        let served = self.device.as_ref().filter(|_| self.is_served());
        let start = Instant::now();
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))?;
        if let Some(device) = served {
            // The program has written to the kernel's pages of the device, of which `syncfs` on
            // its file system knows nothing.
            let failed = |error: io::Error| LabError::system("sync", device, error);
            let device_file = File::open(device).map_err(failed)?;
            device_file.sync_all().map_err(failed)?;
        }
        Ok(start.elapsed())
    }

    /// What a guest has mounted.
    pub(crate) fn in_guest(image: &Image, directory: PathBuf, device: &Path) -> Self {
        Self {
            directory,
            device: Some(device.to_owned()),
            medium: image.medium.clone(),
            mkfs: image.mkfs.clone(),
            mount_options: image.mount_options.clone(),
            mkfs_time: image.mkfs_time,
            notes: image.notes.clone(),
            points: vec![image.point.clone()],
        }
    }

    /// Tells the device which blocks are free; how many bytes that were.
    ///
    /// # Errors
    /// When the file system or its device cannot do it.
    pub fn trim(&self) -> Result<u64, LabError> {
        crate::log::trim(&self.directory)
    }

    /// Unmounts it; how long that took. What was made stays.
    ///
    /// # Errors
    /// When it is busy for long.
    pub fn unmount(&self) -> Result<Duration, LabError> {
        let start = Instant::now();
        for point in self.points.iter().rev() {
            unmount(point, &mut Vec::new())?;
        }
        Ok(start.elapsed())
    }

    /// Whether a program cleans its log, which holds it open: `nilfs_cleanerd`.
    #[must_use]
    pub fn is_cleaned_by_a_program(&self) -> bool {
        let is_nilfs2 = self.mount().is_some_and(|it| it.file_system == "nilfs2");
        is_nilfs2 && !self.mount_options.split(',').any(|it| it == "nogc")
    }

    /// Whether a program serves the file system, not the kernel.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.mount()
            .is_some_and(|mount| mount.file_system.starts_with("fuse"))
    }

    /// The mount that holds the directory.
    #[must_use]
    pub fn mount(&self) -> Option<target::Mount> {
        let directory = fs::canonicalize(&self.directory).ok()?;
        target::mount_of(&target::mounts(), None, &directory).cloned()
    }
}
