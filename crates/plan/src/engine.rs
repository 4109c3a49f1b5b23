//! What an engine can do.

use super::EngineKind;

impl EngineKind {
    /// Whether it has one request in flight, so that a deeper queue takes threads.
    #[must_use]
    pub const fn is_one_at_a_time(self) -> bool {
        matches!(self, Self::Psync | Self::Mmap)
    }
}
