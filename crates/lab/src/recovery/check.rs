//! Holds what is there against what was promised, byte by byte.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::{DIRECTORIES, draft_of, path_of};
use super::promise::{Leaf, Name, Promise, Promises};

/// So many broken promises of a check are named.
const NAMED_MAX: usize = 5;

/// What became of files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Files with a promise.
    pub promised_count: u64,
    /// As they were promised.
    pub intact_count: u64,
    /// Not there.
    pub lost_count: u64,
    /// There, but not all of it.
    pub short_count: u64,
    /// As they were before, or in part.
    pub stale_count: u64,
    /// With bytes that nobody wrote there, or not to be read.
    pub damaged_count: u64,
    /// Files that were removed with a promise.
    pub removed_count: u64,
    /// Of these, there again.
    pub returned_count: u64,
    /// New files that were synced, but not their directories: the name is not promised.
    pub new: Beyond,
    /// Files that were synced and renamed over others, the directory not synced: either is
    /// promised.
    pub renamed: Beyond,
    /// Files with writes that were not synced.
    pub unsynced: Beyond,
    /// Names that nobody made.
    pub unknown_count: u64,
    /// The first broken promises, in words.
    pub named: Vec<String>,
}

/// What became of what was not promised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// How many.
    pub count: u64,
    /// All that was written last is there.
    pub whole_count: u64,
    /// What was there before is there.
    pub older_count: u64,
    /// A part, or something of both.
    pub torn_count: u64,
    /// Nothing is there.
    pub missing_count: u64,
}

/// What became of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Intact,
    Lost,
    Short,
    Stale,
    Damaged,
}

impl Findings {
    /// Promises that were not kept.
    #[must_use]
    pub fn broken_count(&self) -> u64 {
        let files = self.promised_count - self.intact_count;
        files + self.returned_count + self.unknown_count
    }

    fn name(&mut self, what: String) {
        if self.named.len() < NAMED_MAX {
            self.named.push(what);
        }
    }

    fn note(&mut self, verdict: Verdict, path: &str, found: Found) {
        self.promised_count += 1;
        let (count, word) = match verdict {
            Verdict::Intact => {
                self.intact_count += 1;
                return;
            }
            Verdict::Lost => (&mut self.lost_count, "lost"),
            Verdict::Short => (&mut self.short_count, "short"),
            Verdict::Stale => (&mut self.stale_count, "stale"),
            Verdict::Damaged => (&mut self.damaged_count, "damaged"),
        };
        *count += 1;
        let how = match found {
            Ok(Some(bytes)) => format!(", {} bytes are there", bytes.len()),
            Ok(None) => String::new(),
            Err(error) => format!(", {error}"),
        };
        self.name(format!("`{path}` is {word}{how}"));
    }
}

impl AddAssign<&Self> for Findings {
    fn add_assign(&mut self, other: &Self) {
        self.promised_count += other.promised_count;
        self.intact_count += other.intact_count;
        self.lost_count += other.lost_count;
        self.short_count += other.short_count;
        self.stale_count += other.stale_count;
        self.damaged_count += other.damaged_count;
        self.removed_count += other.removed_count;
        self.returned_count += other.returned_count;
        self.new += &other.new;
        self.renamed += &other.renamed;
        self.unsynced += &other.unsynced;
        self.unknown_count += other.unknown_count;
        self.named.extend(other.named.iter().cloned());
    }
}

impl AddAssign<&Self> for Beyond {
    fn add_assign(&mut self, other: &Self) {
        self.count += other.count;
        self.whole_count += other.whole_count;
        self.older_count += other.older_count;
        self.torn_count += other.torn_count;
        self.missing_count += other.missing_count;
    }
}

/// What is at a path: its bytes, nothing, or something that cannot be read.
type Found = Result<Option<Vec<u8>>, io::Error>;

fn read(path: &Path) -> Found {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at everything below a directory, where so many steps of the seed's plan were done and
/// another one may have begun.
#[must_use]
pub fn check(root: &Path, seed: u64, done_count: u32) -> Findings {
    let promises = Promises::after(seed, done_count);
    let mut findings = Findings::default();
    for (file, name) in &promises.names {
        let path = path_of(*file);
        let found = read(&root.join(&path));
        look_beyond(name, &found, seed, &mut findings);
        let is_there = !matches!(found, Ok(None));
        match name.promise() {
            Promise::Gone => {
                findings.removed_count += 1;
                if is_there {
                    findings.returned_count += 1;
                    findings.name(format!("`{path}` was removed and is back again"));
                }
            }
            Promise::Kept => {
                let verdict = judge(name, &found, seed);
                findings.note(verdict, &path, found);
            }
            Promise::IfThere if is_there => {
                let verdict = judge(name, &found, seed);
                findings.note(verdict, &path, found);
            }
            Promise::IfThere | Promise::Nothing => {}
        }
    }
    look_for_unknown(root, &promises, &mut findings);
    findings
}

/// Whether a promise was kept, and if not, in which way.
fn judge(name: &Name, found: &Found, seed: u64) -> Verdict {
    let bytes = match found {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Verdict::Lost,
        Err(_) => return Verdict::Damaged,
    };
    let mut leaves = name.leaves.iter().flatten();
    if leaves.any(|leaf| holds(leaf, bytes, seed)) {
        return Verdict::Intact;
    }
    let history: Vec<Vec<u8>> = name.history.iter().map(|it| it.bytes(seed)).collect();
    if history.contains(bytes) {
        return Verdict::Stale;
    }
    let is_known = |(place, byte): (usize, &u8)| {
        let mut versions = history.iter();
        versions.any(|version| version.get(place) == Some(byte))
    };
    if !bytes.iter().enumerate().all(is_known) {
        return Verdict::Damaged;
    }
    let promised = name.leaves.iter().flatten();
    let shortest = promised
        .filter_map(|leaf| Some(leaf.synced.as_ref()?.length_bytes))
        .min();
    match shortest {
        Some(length_bytes) if (bytes.len() as u64) < length_bytes => Verdict::Short,
        _ => Verdict::Stale,
    }
}

/// Whether all is there that was synced of a file; what was written over it since may be there,
/// byte by byte, and so may what was written behind it.
fn holds(leaf: &Leaf, bytes: &[u8], seed: u64) -> bool {
    let (Some(synced), Some(newest)) = (&leaf.synced, leaf.newest()) else {
        return false;
    };
    let length_bytes = bytes.len() as u64;
    if length_bytes < synced.length_bytes || length_bytes > newest.length_bytes {
        return false;
    }
    let must = synced.bytes(seed);
    let may: Vec<Vec<u8>> = leaf.loose.iter().map(|it| it.bytes(seed)).collect();
    must.iter()
        .zip(bytes)
        .enumerate()
        .all(|(place, (own, byte))| {
            own == byte || may.iter().any(|version| version.get(place) == Some(byte))
        })
}

/// Counts what is there beyond what was promised.
fn look_beyond(name: &Name, found: &Found, seed: u64, findings: &mut Findings) {
    let Some(leaf) = name.last() else {
        return;
    };
    let beyond = if !leaf.loose.is_empty() {
        &mut findings.unsynced
    } else if name.promise() == Promise::IfThere {
        &mut findings.new
    } else if name.leaves.len() > 1 {
        &mut findings.renamed
    } else {
        return;
    };
    beyond.count += 1;
    let Ok(found) = found else {
        beyond.torn_count += 1;
        return;
    };
    let newest = leaf.newest().map(|it| it.bytes(seed));
    let is_found = |bytes: &Vec<u8>| found.as_ref() == Some(bytes);
    if found.is_none() {
        beyond.missing_count += 1;
    } else if newest.as_ref().is_some_and(is_found) {
        beyond.whole_count += 1;
    } else if name.history.iter().any(|it| is_found(&it.bytes(seed))) {
        beyond.older_count += 1;
    } else {
        beyond.torn_count += 1;
    }
}

/// Counts names that no step made.
fn look_for_unknown(root: &Path, promises: &Promises, findings: &mut Findings) {
    let files = promises.names.keys();
    let mut known: BTreeSet<String> = files
        .flat_map(|file| [path_of(*file), draft_of(*file)])
        .collect();
    known.extend(DIRECTORIES.map(str::to_owned));
    for directory in DIRECTORIES {
        let entries = fs::read_dir(root.join(directory)).into_iter().flatten();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let path = format!("{directory}/{}", name.to_string_lossy());
            if !known.contains(&path) {
                findings.unknown_count += 1;
                let shown = plan::printable(&path);
                findings.name(format!("`{shown}` is there, but was never created"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
