//! Where classics are measured.

use std::path::Path;

use end_to_end::{FileSystem, FixtureError, MountedImage, Scratch};

use crate::error::Failure;

/// Of the file system, which takes memory only where it is written.
const IMAGE_BYTES: u64 = 6 << 30;

/// A directory of a file system.
pub enum Ground {
    /// The machine's own.
    Own(Scratch),
    /// Made for this.
    Image(MountedImage),
}

impl Ground {
    /// On tmpfs.
    pub fn memory() -> Result<Ground, Failure> {
        Ok(Ground::Own(Scratch::in_memory()?))
    }

    /// On an ext4 whose device is memory: a disk's time is everybody's and changes from minute to
    /// minute, which would hide what the programs themselves cost. Without root it is whatever
    /// temporary files lie on.
    pub fn ext4() -> Result<Ground, Failure> {
        match MountedImage::in_memory(FileSystem::Ext4, IMAGE_BYTES) {
            Ok(image) => Ok(Ground::Image(image)),
            Err(FixtureError::Unavailable(why)) => {
                println!("no ext4 of our own ({why}): what `TMPDIR` lies on is called ext4");
                Ok(Ground::Own(Scratch::new()?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        match self {
            Self::Own(scratch) => scratch.path(),
            Self::Image(image) => image.path(),
        }
    }
}
