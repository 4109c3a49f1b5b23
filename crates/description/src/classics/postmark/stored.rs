//! Plans of records from before pools were programs.

use serde::Deserialize;
use serde_json::Value;

use super::{Compat, PoolSharing};
use plan::program::{FileChoice, FilePool, Fsync, Program};

/// Plan of a cell in such a record.
#[derive(Deserialize)]
pub(crate) struct StoredPlan {
    settings: Value,
    fsync: Fsync,
    choice: FileChoice,
    pool: PoolSharing,
    #[serde(default)]
    keep_open: u32,
}

impl StoredPlan {
    /// Converts to a program.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn program(self) -> serde_json::Result<Program> {
        // These records have the version; a pool has only the generator that follows from it.
        let compat = self.settings["compat"].as_str();
        let compat: Option<Compat> = compat.and_then(|name| name.parse().ok());
        // Through text, because reading this type from a `Value` would be compiled separately.
        let pool: FilePool = units::parse_json(&self.settings.to_string())?;
        let pool = FilePool {
            draws: compat.unwrap_or_default().draws(),
            fsync: self.fsync,
            choice: self.choice,
            is_shared: self.pool == PoolSharing::Shared,
            keep_open: self.keep_open,
            ..pool
        };
        Ok(Program::of_pool(pool, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::program::{PoolGenerator, PoolLocation};

    const STORED: &str = r#"{
        "kind": "postmark",
        "settings": {
            "compat": "1.14", "number": 50, "transactions": 60, "size_low_bytes": 70,
            "size_high_bytes": 80, "locations": [{"directory": "a", "weight": 2}],
            "subdirectories": 3, "read_block_bytes": 4, "write_block_bytes": 5,
            "is_buffered": false, "read_bias": null, "create_bias": 7, "seed": 9,
            "report": "terse"
        },
        "fsync": "per-file", "choice": {"kind": "zipf", "theta": 1.2}, "pool": "shared"
    }"#;

    #[test]
    fn an_old_stored_plan_yields_the_same_program() {
        let program = crate::classics::read_stored(STORED);
        let wanted = FilePool {
            number: 50,
            transactions: 60,
            size_low_bytes: 70,
            size_high_bytes: 80,
            locations: vec![PoolLocation::beneath("a", 2)],
            subdirectories: 3,
            read_block_bytes: 4,
            write_block_bytes: 5,
            is_buffered: false,
            read_bias: None,
            create_bias: Some(7),
            seed: 9,
            draws: PoolGenerator::Congruential15,
            fsync: Fsync::PerFile,
            choice: FileChoice::Zipf { theta: 1.2 },
            is_shared: true,
            keep_open: 0,
        };
        assert_eq!(program, Program::of_pool(wanted, None));
    }
}
