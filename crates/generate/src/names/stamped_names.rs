//! Names composed of a time and random characters.

use std::path::{Path, PathBuf};

use plan::program::StampedNames;

use super::RelativeNames;
use crate::Rng;

const CHARACTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Names for `count` files that are created from `seconds` on, in seconds since 1970.
///
/// Names may repeat if only few characters are random: the later file then overwrites the earlier
/// one.
#[must_use]
pub fn stamped_names(names: &StampedNames, count: u32, seconds: u64, seed: u64) -> RelativeNames {
    let mut rng = Rng::new(seed);
    let time = time_part(names, seconds);
    let parents: Vec<Option<u32>> = (0..count).map(|file| place(names, file, seconds)).collect();
    let files = parents.iter().map(|parent| {
        let own = with_random(&time, names, &mut rng);
        match parent {
            Some(number) => Path::new(&directory_name(*number)).join(own),
            None => PathBuf::from(own),
        }
    });
    let files = files.collect();
    let mut directories: Vec<u32> = parents.into_iter().flatten().collect();
    directories.sort_unstable();
    directories.dedup();
    let directories = directories.into_iter();
    RelativeNames {
        directories: directories.map(|it| directory_name(it).into()).collect(),
        files,
    }
}

/// The last hexadecimal digits of the time, padded with tildes.
fn time_part(names: &StampedNames, seconds: u64) -> String {
    let length = names.length.saturating_sub(names.random_length) as usize;
    let time = format!("{seconds:x}");
    let digits = &time[time.len().saturating_sub(length)..];
    format!("{digits:~<length$}")
}

fn with_random(time: &str, names: &StampedNames, rng: &mut Rng) -> String {
    let mut name = time.to_owned();
    // The index is below 36, the number of characters.
    let random =
        |rng: &mut Rng| char::from(CHARACTERS[rng.below(CHARACTERS.len() as u64) as usize]);
    name.extend((0..names.random_length).map(|_| random(rng)));
    if name.is_empty() {
        // An empty name would open the directory itself.
        name.push('0');
    }
    name
}

/// Number of a file's directory; `None` if there are none.
fn place(names: &StampedNames, file: u32, seconds: u64) -> Option<u32> {
    // fs_mark begins with the directory that the time selects.
    let count = u64::from(names.directories);
    let moves = u64::from(file.checked_div(names.each.unwrap_or(0)).unwrap_or(0));
    // Below the count, which has 32 bits.
    (count > 0).then(|| ((seconds % count + moves) % count) as u32)
}

fn directory_name(number: u32) -> String {
    format!("{number:02x}")
}
