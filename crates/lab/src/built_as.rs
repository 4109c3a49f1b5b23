//! What a file system was made on, and how it is mounted.

use serde::{Deserialize, Serialize};

use crate::bench::Built;
use crate::vm::Image;

/// A file system as it was made and mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltAs {
    /// What it lies on, in words.
    pub medium: String,
    /// The layers between, where what it lies on is itself in memory.
    pub in_memory: Option<String>,
    /// The command that made it; none where nothing was made.
    pub mkfs: Option<String>,
    /// How it is mounted; none where that is not known.
    pub mount: Option<MountedAs>,
}

/// How a file system is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountedAs {
    /// The type that the kernel says; none where only what is asked for is known.
    pub file_system: Option<String>,
    /// Options, separated by commas.
    pub options: String,
}

impl BuiltAs {
    /// As what is mounted here.
    #[must_use]
    pub fn of(built: &Built) -> Self {
        let stack = target::stack(&built.directory);
        let in_memory = stack.filter(|it| it.medium == target::Medium::Memory && it.has_device);
        Self {
            medium: built.medium.clone(),
            in_memory: in_memory.map(|it| it.text),
            mkfs: built.mkfs.clone(),
            mount: built.mount().map(|mount| MountedAs {
                options: mount.options.join(","),
                file_system: Some(mount.file_system),
            }),
        }
    }

    /// As guests will mount an image.
    #[must_use]
    pub fn of_image(image: &Image) -> Self {
        let options = Some(&image.mount_options).filter(|it| !it.is_empty());
        Self {
            medium: image.medium.clone(),
            in_memory: None,
            mkfs: image.mkfs.clone(),
            mount: options.map(|options| MountedAs {
                file_system: None,
                options: options.clone(),
            }),
        }
    }
}
