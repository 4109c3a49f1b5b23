//! The check, on files that a writer left and on such that were tampered with.

use std::path::PathBuf;

use super::*;
use crate::recovery::content::LayeredContent;
use crate::recovery::{RecoveryPlan, StepWriter};

const SEED: u64 = 42;
const DONE_COUNT: u32 = 400;

/// A directory in which the first steps of the plan were done.
struct StepsDir(tempfile::TempDir);

impl StepsDir {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // Nothing crashes here, so that nothing has to be synced.
        let writer = StepWriter::begin(directory.path(), SEED, false).unwrap();
        for step in RecoveryPlan::new(SEED).take(DONE_COUNT as usize) {
            writer.carry_out(&step).unwrap();
        }
        Self(directory)
    }

    fn check(&self) -> Findings {
        check(self.0.path(), SEED, DONE_COUNT)
    }

    /// Path of a file with this guarantee for which `is_so` holds.
    fn path(&self, promise: Promise, is_so: impl Fn(&NameState) -> bool) -> PathBuf {
        let promises = Promises::after(SEED, DONE_COUNT);
        let mut names = promises.names.iter();
        let found = names.find(|(_, name)| name.promise() == promise && is_so(name));
        self.0.path().join(path_of(*found.unwrap().0))
    }

    /// Path of a guaranteed file with only one possible state.
    fn plain(&self) -> PathBuf {
        self.path(Promise::Present, |name| {
            let leaf = name.last().unwrap();
            name.candidates.len() == 1 && leaf.unsynced.is_empty() && name.history.len() > 1
        })
    }

    fn versions(&self) -> Vec<LayeredContent> {
        let promises = Promises::after(SEED, DONE_COUNT);
        let path = self.plain();
        let of = |file: &u32| self.0.path().join(path_of(*file));
        let mut names = promises.names.iter();
        let (_, name) = names.find(|(file, _)| of(file) == path).unwrap();
        name.history.clone()
    }
}

#[test]
fn every_promised_file_is_intact_when_nothing_was_lost() {
    let findings = StepsDir::new().check();
    assert!(findings.promised_count > 30, "{findings:?}");
    assert_eq!(findings.intact_count, findings.promised_count);
    assert_eq!(findings.broken_count(), 0);
    assert_eq!(findings.named, [""; 0]);
    for beyond in [&findings.new, &findings.renamed, &findings.unsynced] {
        assert!(beyond.count > 0, "{findings:?}");
        assert_eq!(beyond.torn_count + beyond.missing_count, 0, "{findings:?}");
        // The step that has not begun after all.
        assert!(beyond.older_count <= 1, "{findings:?}");
    }
    assert!(findings.removed_count > 0, "{findings:?}");
}

#[test]
fn steps_done_after_the_last_report_break_no_promise() {
    let site = StepsDir::new();
    let findings = check(site.0.path(), SEED, DONE_COUNT - 1);
    assert_eq!(findings.broken_count(), 0, "{findings:?}");
}

#[test]
fn a_missing_file_is_lost() {
    let site = StepsDir::new();
    fs::remove_file(site.plain()).unwrap();
    let findings = site.check();
    assert_eq!((findings.lost_count, findings.broken_count()), (1, 1));
    assert!(findings.named[0].ends_with("is lost"), "{findings:?}");
}

#[test]
fn a_truncated_file_is_short() {
    let site = StepsDir::new();
    let path = site.plain();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let findings = site.check();
    assert_eq!((findings.short_count, findings.broken_count()), (1, 1));
    fs::write(&path, "").unwrap();
    assert_eq!(site.check().short_count, 1);
}

#[test]
fn an_older_version_is_stale() {
    let site = StepsDir::new();
    let versions = site.versions();
    fs::write(site.plain(), versions[0].bytes(SEED)).unwrap();
    let findings = site.check();
    assert_eq!((findings.stale_count, findings.broken_count()), (1, 1));
}

#[test]
fn a_wrong_byte_zeros_and_extra_bytes_are_damage() {
    let site = StepsDir::new();
    let path = site.plain();
    let bytes = fs::read(&path).unwrap();
    let mut other = bytes.clone();
    other[bytes.len() / 2] ^= 1;
    let longer = [&bytes[..], &[7; 1 << 20]].concat();
    for tampered in [other, vec![0; bytes.len()], longer] {
        fs::write(&path, tampered).unwrap();
        let findings = site.check();
        assert_eq!((findings.damaged_count, findings.broken_count()), (1, 1));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_damaged() {
    let site = StepsDir::new();
    let path = site.plain();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let findings = site.check();
    assert_eq!((findings.damaged_count, findings.broken_count()), (1, 1));
    assert!(findings.named[0].contains("directory"), "{findings:?}");
}

#[test]
fn a_removed_file_that_reappears_is_reported() {
    let site = StepsDir::new();
    fs::write(site.path(Promise::Absent, |_| true), "x").unwrap();
    let findings = site.check();
    assert_eq!((findings.returned_count, findings.broken_count()), (1, 1));
}

#[test]
fn an_unpromised_name_may_be_missing_but_not_damaged() {
    let site = StepsDir::new();
    let is_whole = |leaf: &PossibleFile| leaf.unsynced.is_empty();
    let path = site.path(Promise::Optional, |name| name.last().is_some_and(is_whole));
    let before = site.check();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, vec![0; bytes.len()]).unwrap();
    assert_eq!(site.check().damaged_count, 1);
    fs::remove_file(&path).unwrap();
    let after = site.check();
    assert_eq!(after.broken_count(), 0);
    let missing = |findings: &Findings| findings.new.missing_count;
    assert_eq!(missing(&after), missing(&before) + 1);
}

#[test]
fn an_unknown_name_is_reported() {
    let site = StepsDir::new();
    fs::write(site.0.path().join("a/b/other"), "").unwrap();
    let findings = site.check();
    assert_eq!((findings.unknown_count, findings.broken_count()), (1, 1));
}

#[test]
fn an_empty_directory_breaks_all_promises() {
    let directory = tempfile::tempdir().unwrap();
    let findings = check(directory.path(), SEED, DONE_COUNT);
    assert!(findings.promised_count > 20, "{findings:?}");
    assert_eq!(findings.lost_count, findings.promised_count);
    assert_eq!(findings.named.len(), LISTED_MAX);
}

#[test]
fn findings_add_up() {
    let findings = StepsDir::new().check();
    let mut sum = findings.clone();
    sum += &findings;
    assert_eq!(sum.promised_count, 2 * findings.promised_count);
    assert_eq!(sum.unsynced.count, 2 * findings.unsynced.count);
}
