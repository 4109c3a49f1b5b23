//! Choices that several tables share: order of files, and how files are made durable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Order in which files are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In the order of their numbers.
    #[default]
    Forward,
    /// From the last to the first.
    Reverse,
    /// In a random order derived from the seed.
    Random,
}

impl Order {
    /// The name in workload files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Random => "random",
        }
    }
}

/// How a file is made durable before it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileSync {
    /// Not at all.
    #[default]
    None,
    /// By `fsync`.
    Fsync,
    /// By `fdatasync`.
    Fdatasync,
}
