//! The seven ways to make files durable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How files are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncMethod {
    /// Not at all (`-S 0`).
    None,
    /// Each file is synced before it is closed (`-S 1`).
    #[default]
    Fsync,
    /// `sync` after the last file, then the first one is opened and synced (`-S 2`).
    SyncFirst,
    /// After the last file all are opened and synced, the last one first (`-S 3`).
    PostReverse,
    /// `sync` before that (`-S 4`).
    SyncPostReverse,
    /// After the last file all are opened and synced, the first one first (`-S 5`).
    Post,
    /// `sync` before that (`-S 6`).
    SyncPost,
}

impl SyncMethod {
    /// Every method, by its number.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Fsync,
        Self::SyncFirst,
        Self::PostReverse,
        Self::SyncPostReverse,
        Self::Post,
        Self::SyncPost,
    ];

    /// The number on the command line.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Whether all file systems are synced after the last file.
    #[must_use]
    pub const fn has_sync(self) -> bool {
        matches!(
            self,
            Self::SyncFirst | Self::SyncPostReverse | Self::SyncPost
        )
    }
}
