//! Compares the files after a crash with the guarantees, byte by byte.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::{DIRECTORIES, draft_of, path_of};
use super::promise::{NameState, PossibleFile, Promise, Promises};

/// Maximum number of broken guarantees that are listed.
const LISTED_MAX: usize = 5;

/// State of the files after a crash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Number of files with a guarantee.
    pub promised_count: u64,
    /// Number of files with the guaranteed content.
    pub intact_count: u64,
    /// Missing files.
    pub lost_count: u64,
    /// Files that are too short.
    pub short_count: u64,
    /// Files with an older state, fully or in part.
    pub stale_count: u64,
    /// Files that are unreadable or have bytes that were never written there.
    pub damaged_count: u64,
    /// Number of files whose removal was guaranteed.
    pub removed_count: u64,
    /// Removed files that exist again; part of `removed_count`.
    pub returned_count: u64,
    /// New files that were synced, but not their directories, so the names are not guaranteed.
    pub new: UnpromisedFindings,
    /// Files that were synced and renamed over others, without a sync of the directory. Both the
    /// old and the new file satisfy the guarantee.
    pub renamed: UnpromisedFindings,
    /// Files with unsynced writes.
    pub unsynced: UnpromisedFindings,
    /// Names that were never created.
    pub unknown_count: u64,
    /// Descriptions of the first broken guarantees.
    pub named: Vec<String>,
}

/// State of files without a guarantee.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpromisedFindings {
    /// Number of files.
    pub count: u64,
    /// The last write is complete.
    pub whole_count: u64,
    /// The older content is there.
    pub older_count: u64,
    /// A part of the last write, or a mixture.
    pub torn_count: u64,
    /// The file is missing.
    pub missing_count: u64,
}

/// Result of checking a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromiseOutcome {
    Intact,
    Lost,
    Short,
    Stale,
    Damaged,
}

impl Findings {
    /// Number of broken guarantees.
    #[must_use]
    pub fn broken_count(&self) -> u64 {
        let files = self.promised_count - self.intact_count;
        files + self.returned_count + self.unknown_count
    }

    fn name(&mut self, finding: String) {
        if self.named.len() < LISTED_MAX {
            self.named.push(finding);
        }
    }

    fn note(&mut self, verdict: PromiseOutcome, path: &str, found: Found) {
        self.promised_count += 1;
        let (count, word) = match verdict {
            PromiseOutcome::Intact => {
                self.intact_count += 1;
                return;
            }
            PromiseOutcome::Lost => (&mut self.lost_count, "lost"),
            PromiseOutcome::Short => (&mut self.short_count, "short"),
            PromiseOutcome::Stale => (&mut self.stale_count, "stale"),
            PromiseOutcome::Damaged => (&mut self.damaged_count, "damaged"),
        };
        *count += 1;
        let detail = match found {
            Ok(Some(bytes)) => format!(", it has {} bytes", bytes.len()),
            Ok(None) => String::new(),
            Err(error) => format!(", {error}"),
        };
        self.name(format!("`{path}` is {word}{detail}"));
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

impl AddAssign<&Self> for UnpromisedFindings {
    fn add_assign(&mut self, other: &Self) {
        self.count += other.count;
        self.whole_count += other.whole_count;
        self.older_count += other.older_count;
        self.torn_count += other.torn_count;
        self.missing_count += other.missing_count;
    }
}

/// Content of a path: its bytes, nothing, or a read error.
type Found = Result<Option<Vec<u8>>, io::Error>;

fn read(path: &Path) -> Found {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks all files under a directory after `done_count` steps of the plan with this seed. One more
/// step may have started.
#[must_use]
pub fn check(root: &Path, seed: u64, done_count: u32) -> Findings {
    let promises = Promises::after(seed, done_count);
    let mut findings = Findings::default();
    for (file, name) in &promises.names {
        let path = path_of(*file);
        let found = read(&root.join(&path));
        count_unpromised(name, &found, seed, &mut findings);
        let exists = !matches!(found, Ok(None));
        match name.promise() {
            Promise::Absent => {
                findings.removed_count += 1;
                if exists {
                    findings.returned_count += 1;
                    findings.name(format!("`{path}` was removed but exists again"));
                }
            }
            Promise::Present => {
                let verdict = judge(name, &found, seed);
                findings.note(verdict, &path, found);
            }
            Promise::Optional if exists => {
                let verdict = judge(name, &found, seed);
                findings.note(verdict, &path, found);
            }
            Promise::Optional | Promise::None => {}
        }
    }
    count_unknown_names(root, &promises, &mut findings);
    findings
}

/// Checks the guarantee of a file.
fn judge(name: &NameState, found: &Found, seed: u64) -> PromiseOutcome {
    let bytes = match found {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return PromiseOutcome::Lost,
        Err(_) => return PromiseOutcome::Damaged,
    };
    let mut leaves = name.candidates.iter().flatten();
    // Any of the files is right, because a rename without a synced directory may or may not have
    // happened.
    if leaves.any(|leaf| holds(leaf, bytes, seed)) {
        return PromiseOutcome::Intact;
    }
    let history: Vec<Vec<u8>> = name.history.iter().map(|it| it.bytes(seed)).collect();
    if history.contains(bytes) {
        return PromiseOutcome::Stale;
    }
    let is_known = |(place, byte): (usize, &u8)| {
        let mut versions = history.iter();
        versions.any(|version| version.get(place) == Some(byte))
    };
    // Byte by byte, because a file may mix bytes of several states: it is stale, not damaged.
    if !bytes.iter().enumerate().all(is_known) {
        return PromiseOutcome::Damaged;
    }
    let promised = name.candidates.iter().flatten();
    let shortest = promised
        .filter_map(|leaf| Some(leaf.synced.as_ref()?.length_bytes))
        // The shortest, because any of these files would satisfy the guarantee.
        .min();
    match shortest {
        Some(length_bytes) if (bytes.len() as u64) < length_bytes => PromiseOutcome::Short,
        _ => PromiseOutcome::Stale,
    }
}

/// `true` if all synced data of a file is there. Each byte may be from a later write instead, and
/// appended data may follow.
fn holds(leaf: &PossibleFile, bytes: &[u8], seed: u64) -> bool {
    let (Some(synced), Some(newest)) = (&leaf.synced, leaf.newest()) else {
        return false;
    };
    let length_bytes = bytes.len() as u64;
    // Longer than the last write is damage: no step has made the file that long.
    if length_bytes < synced.length_bytes || length_bytes > newest.length_bytes {
        return false;
    }
    let must = synced.bytes(seed);
    let may: Vec<Vec<u8>> = leaf.unsynced.iter().map(|it| it.bytes(seed)).collect();
    must.iter()
        .zip(bytes)
        .enumerate()
        .all(|(place, (own, byte))| {
            own == byte || may.iter().any(|version| version.get(place) == Some(byte))
        })
}

/// Counts the state of data without a guarantee.
fn count_unpromised(name: &NameState, found: &Found, seed: u64, findings: &mut Findings) {
    let Some(leaf) = name.last() else {
        return;
    };
    let beyond = if !leaf.unsynced.is_empty() {
        &mut findings.unsynced
    } else if name.promise() == Promise::Optional {
        &mut findings.new
    } else if name.candidates.len() > 1 {
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

/// Counts names that no step created.
fn count_unknown_names(root: &Path, promises: &Promises, findings: &mut Findings) {
    let files = promises.names.keys();
    let mut known: BTreeSet<String> = files
        // A crash between creation and rename leaves the draft; nothing guarantees that it is gone.
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
                findings.name(format!("`{shown}` exists but was never created"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
