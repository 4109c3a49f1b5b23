//! Properties of engines.

use super::EngineKind;

impl EngineKind {
    /// All engines, the simplest first.
    pub const ALL: [Self; 4] = [Self::Null, Self::Psync, Self::IoUring, Self::Mmap];

    /// Name in workload files, on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::IoUring => "io_uring",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }

    /// `true` if a thread has only one request in flight, so that a deeper queue needs more
    /// threads.
    #[must_use]
    pub const fn is_synchronous(self) -> bool {
        matches!(self, Self::Psync | Self::Mmap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_listed_under_its_name_in_files() {
        let names = EngineKind::ALL.map(EngineKind::name);
        assert_eq!(EngineKind::ALL.map(|it| units::text_of(&it)), names);
        let schema = schemars::schema_for!(EngineKind);
        let listed = schema.as_value()["oneOf"].as_array().unwrap();
        assert_eq!(listed.len(), names.len());
    }
}
