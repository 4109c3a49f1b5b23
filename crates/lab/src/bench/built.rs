//! Operations on a mounted file system: sync, inspection, unmount.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::BuiltFileSystem;
use crate::error::LabError;
use crate::undo::unmount;
use crate::vm::Image;

impl BuiltFileSystem {
    /// Syncs all data; returns the duration.
    ///
    /// # Errors
    /// I/O errors.
    pub fn sync(&self) -> Result<Duration, LabError> {
        let failed = |error: io::Error| LabError::system("sync", &self.directory, error);
        let directory = File::open(&self.directory).map_err(failed)?;
        // Looked up before the clock starts, because this reads the mount table.
        let served = self.device.as_ref().filter(|_| self.is_fuse_mount());
        let start = Instant::now();
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))?;
        if let Some(device) = served {
            // The FUSE program has written to the device through the page cache. `syncfs` on its
            // file system does not flush these pages.
            let failed = |error: io::Error| LabError::system("sync", device, error);
            let device_file = File::open(device).map_err(failed)?;
            device_file.sync_all().map_err(failed)?;
        }
        Ok(start.elapsed())
    }

    /// The file system that a guest has mounted.
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

    /// Discards the free blocks of the device; returns their size in bytes.
    ///
    /// # Errors
    /// If the file system or its device does not support it.
    pub fn trim(&self) -> Result<u64, LabError> {
        crate::log::trim(&self.directory)
    }

    /// Unmounts it, but removes nothing; returns the duration.
    ///
    /// # Errors
    /// If it stays busy.
    pub fn unmount(&self) -> Result<Duration, LabError> {
        let start = Instant::now();
        // An overlay lies on its base, so it goes first.
        for point in self.points.iter().rev() {
            unmount(point, &mut Vec::new())?;
        }
        Ok(start.elapsed())
    }

    /// `true` if a program, `nilfs_cleanerd`, cleans its log; the program keeps the file system
    /// open.
    #[must_use]
    pub fn is_cleaned_by_a_program(&self) -> bool {
        let is_nilfs2 = self.mount().is_some_and(|it| it.file_system == "nilfs2");
        is_nilfs2 && !self.mount_options.split(',').any(|it| it == "nogc")
    }

    /// `true` if a FUSE program serves the file system instead of the kernel.
    #[must_use]
    pub fn is_fuse_mount(&self) -> bool {
        self.mount()
            .is_some_and(|mount| mount.file_system.starts_with("fuse"))
    }

    /// The mount that contains the directory.
    #[must_use]
    pub fn mount(&self) -> Option<storage::MountLine> {
        let directory = fs::canonicalize(&self.directory).ok()?;
        storage::mount_of(&storage::mounts(), None, &directory).cloned()
    }
}
