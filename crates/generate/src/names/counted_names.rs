//! Names derived from the number of files: `a` to `z`, `aa`, ... in one directory, or numbers in a
//! tree.

use std::path::{Path, PathBuf};

use super::RelativeNames;

const LETTERS: u32 = 26;

/// Words of lowercase letters, shorter ones first.
#[must_use]
pub fn flat_names(file_count: u32) -> RelativeNames {
    RelativeNames {
        directories: Vec::new(),
        files: (0..file_count).map(|index| word(index).into()).collect(),
    }
}

/// The word with a number: digits from 1 to 26 as letters, most significant first.
fn word(index: u32) -> String {
    let mut letters = Vec::new();
    // The largest index plus 1 needs more than 32 bits.
    let mut rest = u64::from(index) + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(b'a' + (rest % u64::from(LETTERS)) as u8);
        rest /= u64::from(LETTERS);
    }
    letters.iter().rev().copied().map(char::from).collect()
}

/// Numbers from 0 in directories of at most `each_count` entries, in a tree as low as possible,
/// filled from the first directory on.
///
/// `each_count` below 2 counts as 2; otherwise the tree would have no end.
#[must_use]
pub fn tree_names(file_count: u32, each_count: u32) -> RelativeNames {
    let each_count = each_count.max(2);
    let mut height = 0;
    let mut top_count = file_count.div_ceil(each_count);
    while top_count > 1 {
        top_count = top_count.div_ceil(each_count);
        height += 1;
    }
    let mut names = RelativeNames::default();
    fill(&mut names, Path::new(""), height, (file_count, each_count));
    names
}

fn fill(names: &mut RelativeNames, directory: &Path, height: u32, counts: (u32, u32)) {
    let (file_count, each_count) = counts;
    for entry in 0..each_count {
        if names.files.len() >= file_count as usize {
            return;
        }
        let path: PathBuf = directory.join(entry.to_string());
        if height == 0 {
            names.files.push(path);
            continue;
        }
        names.directories.push(path.clone());
        fill(names, &path, height - 1, counts);
    }
}
