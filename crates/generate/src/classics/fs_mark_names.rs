//! The names of fs_mark: the time, then random letters and digits.

use std::path::{Path, PathBuf};

use workload::classics::fs_mark::{FsMarkPlan, Subdirectories};

use super::Names;
use crate::Rng;

const CHARACTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The names of one thread's iteration that begins at that second since 1970.
///
/// Two names may be the same, as in the original, if few of their characters are random: the
/// later file is then the earlier one, made anew.
#[must_use]
pub fn fs_mark_names(plan: &FsMarkPlan, time_seconds: u64, seed: u64) -> Names {
    let mut rng = Rng::new(seed);
    let time = time_part(plan, time_seconds);
    let files: Vec<PathBuf> = (0..plan.file_count)
        .map(|index| {
            let mut name = time.clone();
            name.extend((0..plan.random_length).map(|_| random_character(&mut rng)));
            if name.is_empty() {
                // Where the original would open its directory.
                name.push('0');
            }
            match subdirectory(plan.subdirectories, index, time_seconds) {
                Some(number) => Path::new(&directory_name(number)).join(name),
                None => name.into(),
            }
        })
        .collect();
    let mut numbers: Vec<u32> = (0..plan.file_count)
        .filter_map(|index| subdirectory(plan.subdirectories, index, time_seconds))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    Names {
        directories: numbers
            .into_iter()
            .map(|it| directory_name(it).into())
            .collect(),
        files,
    }
}

/// The last hexadecimal digits of the time, filled up with tildes.
fn time_part(plan: &FsMarkPlan, time_seconds: u64) -> String {
    let length = plan.name_length.saturating_sub(plan.random_length) as usize;
    let time = format!("{time_seconds:x}");
    let digits = &time[time.len().saturating_sub(length)..];
    format!("{digits:~<length$}")
}

fn random_character(rng: &mut Rng) -> char {
    // Below 36, so within the characters.
    char::from(CHARACTERS[rng.below(CHARACTERS.len() as u64) as usize])
}

fn subdirectory(subdirectories: Subdirectories, index: u32, time_seconds: u64) -> Option<u32> {
    let (count, moves_count) = match subdirectories {
        Subdirectories::None => return None,
        Subdirectories::ByTime { count } => (count, 0),
        Subdirectories::RoundRobin { count, each_count } => {
            (count, index.checked_div(each_count).unwrap_or(0))
        }
    };
    let count = u64::from(count.max(1));
    // Below the count, which is 32 bits.
    Some(((time_seconds % count + u64::from(moves_count)) % count) as u32)
}

fn directory_name(number: u32) -> String {
    format!("{number:02x}")
}
