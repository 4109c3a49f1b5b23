//! Names of a time and random characters.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Fileset;
use generate::Rng;
use rustix::fs::Mode;
use rustix::io::Errno;
use target::Tree;
use workload::program::StampedNames;

use crate::RunError;
use crate::files::field;

const CHARACTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

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
    let places: Vec<Option<u32>> = (0..count).map(|file| place(names, file, seconds)).collect();
    let mut directories: Vec<u32> = places.iter().copied().flatten().collect();
    directories.sort_unstable();
    directories.dedup();
    for number in directories {
        let name = directory_name(number);
        let mode = Mode::from_raw_mode(field::directory_mode(tree));
        match rustix::fs::mkdirat(tree.directory(), name.as_str(), mode) {
            Ok(()) => was_made(&name),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(RunError::file("make", &tree.path().join(name), errno)),
        }
    }
    let mut rng = Rng::new(seed);
    let time = time_part(names, seconds);
    let files = places.into_iter().map(|place| {
        let own = with_random(&time, names, &mut rng);
        match place {
            Some(number) => Path::new(&directory_name(number)).join(own),
            None => PathBuf::from(own),
        }
    });
    let files: Vec<PathBuf> = files.collect();
    Ok(Fileset::listed(field::location(tree, None)?, &files)?)
}

/// The last hexadecimal digits of the time, filled up with tildes.
fn time_part(names: &StampedNames, seconds: u64) -> String {
    let length = names.length.saturating_sub(names.random_length) as usize;
    let time = format!("{seconds:x}");
    let digits = &time[time.len().saturating_sub(length)..];
    format!("{digits:~<length$}")
}

fn with_random(time: &str, names: &StampedNames, rng: &mut Rng) -> String {
    let mut name = time.to_owned();
    // Below 36, so within the characters.
    let random =
        |rng: &mut Rng| char::from(CHARACTERS[rng.below(CHARACTERS.len() as u64) as usize]);
    name.extend((0..names.random_length).map(|_| random(rng)));
    if name.is_empty() {
        name.push('0');
    }
    name
}

/// The number of the directory of a file.
fn place(names: &StampedNames, file: u32, seconds: u64) -> Option<u32> {
    let count = u64::from(names.directories);
    let moves = u64::from(file.checked_div(names.each.unwrap_or(0)).unwrap_or(0));
    // Below the count, which is 32 bits.
    (count > 0).then(|| ((seconds % count + moves) % count) as u32)
}

fn directory_name(number: u32) -> String {
    format!("{number:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: StampedNames = StampedNames {
        length: 40,
        random_length: 24,
        directories: 4,
        each: Some(2),
    };

    #[test]
    fn names_are_the_time_and_random_characters() {
        let name = |names: StampedNames| {
            let time = time_part(&names, 1_000_000_000);
            with_random(&time, &names, &mut Rng::new(1))
        };
        let whole = name(NAMES);
        assert!(
            whole.starts_with("3b9aca00~~~~~~~~") && whole.len() == 40,
            "{whole}"
        );
        let short = StampedNames {
            length: 3,
            random_length: 0,
            ..NAMES
        };
        assert_eq!(name(short), "a00");
        let none = StampedNames { length: 0, ..short };
        assert_eq!(name(none), "0");
    }

    #[test]
    fn files_go_around_from_the_directory_of_the_second() {
        let places = |names: StampedNames| -> Vec<Option<u32>> {
            (0..6)
                .map(|file| place(&names, file, 1_000_000_003))
                .collect()
        };
        assert_eq!(places(NAMES), [3, 3, 0, 0, 1, 1].map(Some));
        assert_eq!(
            places(StampedNames {
                each: None,
                ..NAMES
            }),
            [3; 6].map(Some)
        );
        let flat = StampedNames {
            directories: 0,
            ..NAMES
        };
        assert_eq!(places(flat), [None; 6]);
        assert_eq!(directory_name(255), "ff");
    }
}
