//! Names that follow from how many there are: `a` to `z`, `aa`, ... in one directory, or numbers in
//! a tree.

use std::path::{Path, PathBuf};

use super::Names;

const LETTERS: u32 = 26;

/// All words of letters, the shorter ones first.
#[must_use]
pub fn flat_names(file_count: u32) -> Names {
    Names {
        directories: Vec::new(),
        files: (0..file_count).map(|index| word(index).into()).collect(),
    }
}

/// The word with that number: digits from 1 to 26, most significant first.
fn word(index: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(index) + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(b'a' + (rest % u64::from(LETTERS)) as u8);
        rest /= u64::from(LETTERS);
    }
    letters.iter().rev().copied().map(char::from).collect()
}

/// Numbers from 0 in directories of at most `each_count` entries, in a
/// tree as low as that allows, filled from the first directory on.
///
/// `each_count` below 2 counts as 2: no tree would be low enough.
#[must_use]
pub fn tree_names(file_count: u32, each_count: u32) -> Names {
    let each_count = each_count.max(2);
    let mut height = 0;
    let mut top_count = file_count.div_ceil(each_count);
    while top_count > 1 {
        top_count = top_count.div_ceil(each_count);
        height += 1;
    }
    let mut names = Names::default();
    fill(&mut names, Path::new(""), height, (file_count, each_count));
    names
}

fn fill(names: &mut Names, directory: &Path, height: u32, counts: (u32, u32)) {
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
