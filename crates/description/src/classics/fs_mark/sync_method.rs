//! The seven ways to make files durable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How files are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncMethod {
    /// Files are not synced (`-S 0`).
    None,
    /// Each file is synced before it is closed (`-S 1`).
    #[default]
    Fsync,
    /// `sync` after the last file, then the first one is opened and synced (`-S 2`).
    SyncFirst,
    /// After the last file, all files are opened and synced, the last one first (`-S 3`).
    PostReverse,
    /// As `post-reverse`, with a `sync` before (`-S 4`).
    SyncPostReverse,
    /// After the last file, all files are opened and synced, the first one first (`-S 5`).
    Post,
    /// As `post`, with a `sync` before (`-S 6`).
    SyncPost,
}

impl SyncMethod {
    /// All methods, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Fsync,
        Self::SyncFirst,
        Self::PostReverse,
        Self::SyncPostReverse,
        Self::Post,
        Self::SyncPost,
    ];

    /// Number on the command line.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// `true` if all file systems are synced after the last file.
    #[must_use]
    pub const fn has_sync(self) -> bool {
        matches!(
            self,
            Self::SyncFirst | Self::SyncPostReverse | Self::SyncPost
        )
    }
}
