//! How a file system was created and mounted.

use serde::{Deserialize, Serialize};

use crate::bench::BuiltFileSystem;
use crate::vm::Image;

/// How a file system was created and mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemSetup {
    /// Description of the storage under it.
    pub medium: String,
    /// The storage layers, if the storage is itself in memory.
    pub in_memory: Option<String>,
    /// Command that created it; `None` for an existing directory.
    pub mkfs: Option<String>,
    /// How it is mounted; `None` if unknown.
    pub mount: Option<MountSetup>,
}

/// How a file system is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountSetup {
    /// Type reported by the kernel; `None` if only the request is known.
    pub file_system: Option<String>,
    /// Mount options, separated by commas.
    pub options: String,
}

impl FileSystemSetup {
    /// Describes a file system that is mounted here.
    #[must_use]
    pub fn of(built: &BuiltFileSystem) -> Self {
        let stack = storage::stack(&built.directory);
        // Without a device (tmpfs), the name of the file system already says that it is memory.
        let in_memory = stack.filter(|it| it.medium == storage::Medium::Memory && it.has_device);
        Self {
            medium: built.medium.clone(),
            in_memory: in_memory.map(|it| it.text),
            mkfs: built.mkfs.clone(),
            mount: built.mount().map(|mount| MountSetup {
                options: mount.options.join(","),
                file_system: Some(mount.file_system),
            }),
        }
    }

    /// Describes an image as guests will mount it.
    #[must_use]
    pub fn of_image(image: &Image) -> Self {
        let options = Some(&image.mount_options).filter(|it| !it.is_empty());
        Self {
            medium: image.medium.clone(),
            in_memory: None,
            mkfs: image.mkfs.clone(),
            mount: options.map(|options| MountSetup {
                file_system: None,
                options: options.clone(),
            }),
        }
    }
}
