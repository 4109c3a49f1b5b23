//! Names of a time and random characters.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Fileset;
use generate::names::stamped_names;
use plan::program::StampedNames;
use rustix::fs::Mode;
use rustix::io::Errno;
use target::Tree;

use crate::RunError;
use crate::files::field;

/// What names of a round follow from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundStamp {
    /// The number of the round that was last begun, of the innermost rounds.
    pub number: u32,
    /// When it began, in seconds since 1970.
    pub seconds: u64,
    /// What is random of it.
    seed: u64,
}

impl RoundStamp {
    /// That of a round that begins now. Another run beside this one has other names.
    pub fn now(number: u32) -> Self {
        Self {
            number,
            seconds: now_seconds(),
            seed: RandomState::new().hash_one(number),
        }
    }

    /// What is random of it for a worker, or for all.
    pub fn seed_of(&self, worker: Option<u32>) -> u64 {
        generate::mix(self.seed ^ worker.map_or(0, |worker| u64::from(worker) + 1))
    }
}

/// The second of the clock, since 1970.
fn now_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// So many files with names of their own, in directories that are made where they are missing, of
/// which is told.
pub(super) fn open_stamped(
    names: &StampedNames,
    count: u32,
    (seconds, seed): (u64, u64),
    tree: &Tree,
    was_made: &mut dyn FnMut(&str),
) -> Result<Fileset, RunError> {
    let made = stamped_names(names, count, seconds, seed);
    for name in &made.directories {
        let mode = Mode::from_raw_mode(field::directory_mode(tree));
        match rustix::fs::mkdirat(tree.directory(), name, mode) {
            Ok(()) => was_made(&name.to_string_lossy()),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(RunError::file("make", &tree.path().join(name), errno)),
        }
    }
    Ok(Fileset::listed(field::location(tree, None)?, &made.files)?)
}
