//! Where classics are measured.

use std::path::{Path, PathBuf};

use end_to_end::{FileSystem, FixtureError, MountedImage, Scratch};

use crate::error::Failure;

/// Of the file system, which takes memory only where it is written.
const IMAGE_BYTES: u64 = 6 << 30;

/// A kind of place, of which each measurement gets one of its own.
#[derive(Debug, Clone, Copy)]
pub enum BenchFileSystem {
    /// On tmpfs.
    Memory,
    /// On an ext4 that was made for it and whose device is memory: a disk's time is everybody's and
    /// changes from minute to minute, which would hide what the programs themselves cost, and a
    /// file system that others worked on still writes back what they did. Without root it is
    /// whatever temporary files lie on.
    Ext4,
}

impl BenchFileSystem {
    /// An empty directory of such a place.
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
            directory: scratch.directory("files")?,
            scratch,
            _image: image,
        })
    }
}

/// An empty directory, and what it lies on.
pub struct EmptyDirectory {
    directory: PathBuf,
    scratch: Scratch,
    _image: Option<MountedImage>,
}

impl EmptyDirectory {
    /// The directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The one that it is in, where programs may leave their logs and pages.
    pub fn parent(&self) -> &Path {
        self.scratch.path()
    }
}
