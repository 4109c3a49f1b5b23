//! Names of numbered files in directories that a hash of their number selects.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plan::program::HashedNames;

use super::RelativeNames;

/// The names of `file_count` files.
#[must_use]
pub fn hashed_names(names: &HashedNames, file_count: u32) -> RelativeNames {
    let numbers = (0..file_count).map(|index| names.first.saturating_add(index));
    let file = |number: u32| {
        let HashedNames { before, after, .. } = names;
        directory(names, file_count, number).join(format!("{before}{number}{after}"))
    };
    let files: Vec<PathBuf> = numbers.map(file).collect();
    // All parents too; paths are sorted component by component, so each is after its parent.
    let parents = files.iter().flat_map(|it| it.ancestors().skip(1));
    let directories: BTreeSet<_> = parents.filter(|it| it.parent().is_some()).collect();
    let directories = directories.into_iter().map(PathBuf::from).collect();
    RelativeNames { directories, files }
}

/// Directory of the file with this number; empty for the top.
fn directory(names: &HashedNames, file_count: u32, number: u32) -> PathBuf {
    let hash = |number: u64, count: u32| number * u64::from(names.factor) % u64::from(count.max(1));
    let mut directory = hash(number.into(), file_count) / u64::from(names.each.max(1));
    // A fan below 2 would have no top.
    let fan = names.fan.max(2);
    let mut parts = Vec::new();
    while directory > 1 {
        let name = hash(directory, fan);
        parts.push(format!("{}{name:03}", names.directory_before));
        directory /= u64::from(fan);
    }
    parts.iter().rev().collect()
}
