//! File systems for measuring classics.

use std::path::{Path, PathBuf};

use end_to_end::{FileSystem, FixtureError, MountedImage, Scratch};

use crate::error::Failure;

/// Size of the file system's image in memory, which is allocated only when written.
const IMAGE_BYTES: u64 = 6 << 30;

/// Kind of file system; each measurement gets a new one.
#[derive(Debug, Clone, Copy)]
pub enum BenchFileSystem {
    /// On tmpfs.
    Memory,
    /// A new ext4 on a device in memory. A disk's speed varies from minute to minute and would hide
    /// the cost of the programs. A file system used before still has dirty data to write back.
    /// Without root, the file system of the temporary directory.
    Ext4,
}

impl BenchFileSystem {
    /// An empty directory on such a file system.
    pub fn empty_directory(self) -> Result<EmptyDirectory, Failure> {
        let image = match self {
            Self::Memory => None,
            Self::Ext4 => match MountedImage::in_memory(FileSystem::Ext4, IMAGE_BYTES) {
                Ok(image) => Some(image),
                Err(FixtureError::Unavailable(why)) => {
                    println!("no ext4 of our own ({why}): what `TMPDIR` lies on is called ext4");
                    None
                }
                Err(error) => return Err(error.into()),
            },
        };
        let scratch = match (&image, self) {
            (Some(image), _) => Scratch::below(image.path())?,
            (None, Self::Memory) => Scratch::in_memory()?,
            (None, Self::Ext4) => Scratch::new()?,
        };
        Ok(EmptyDirectory {
            // A directory below, so that logs next to it are not among the files.
            directory: scratch.directory("files")?,
            scratch,
            _image: image,
        })
    }
}

/// An empty directory, and its file system.
pub struct EmptyDirectory {
    directory: PathBuf,
    scratch: Scratch,
    _image: Option<MountedImage>,
}

impl EmptyDirectory {
    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The parent directory, where programs may leave logs and pages.
    pub fn parent(&self) -> &Path {
        self.scratch.path()
    }
}
