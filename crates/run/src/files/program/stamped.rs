//! Names made of a time and random characters.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Fileset;
use generate::names::stamped_names;
use plan::program::StampedNames;
use rustix::fs::Mode;
use rustix::io::Errno;
use storage::Tree;

use crate::RunError;
use crate::open_fileset;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundNameSource {
    /// Number of the current round, of the innermost rounds.
    pub number: u32,
    /// Start of the round, in seconds since 1970.
    pub seconds: u64,
    /// Random part of the names.
    seed: u64,
}

impl RoundNameSource {
    /// Stamp of a round that starts now. Random, so that runs in parallel have different names.
    pub fn now(number: u32) -> Self {
        Self {
            number,
            seconds: now_seconds(),
            seed: RandomState::new().hash_one(number),
        }
    }

    /// Random part for one worker, or for all workers.
    pub fn seed_of(&self, worker: Option<u32>) -> u64 {
        generate::mix(self.seed ^ worker.map_or(0, |worker| u64::from(worker) + 1))
    }
}

/// Current time, in seconds since 1970.
fn now_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Opens `count` files with generated names, and creates missing directories. Calls `was_made` for
/// each.
pub(super) fn open_stamped(
    names: &StampedNames,
    count: u32,
    (seconds, seed): (u64, u64),
    tree: &Tree,
    was_made: &mut dyn FnMut(&str),
) -> Result<Fileset, RunError> {
    let generated = stamped_names(names, count, seconds, seed);
    for name in &generated.directories {
        let mode = Mode::from_raw_mode(open_fileset::directory_mode(tree));
        match rustix::fs::mkdirat(tree.directory(), name, mode) {
            Ok(()) => was_made(&name.to_string_lossy()),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(RunError::file("make", &tree.path().join(name), errno)),
        }
    }
    Ok(Fileset::listed(
        open_fileset::location(tree, None)?,
        &generated.files,
    )?)
}
