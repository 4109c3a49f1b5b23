use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use plan::{CacheMode, ContentPlan, TargetKind, TargetPlan};

use super::*;
use crate::manifest_location::ManifestLocation;
use crate::{FillPlan, FillWatch, Permission, admit, clean, prepare};

const MIB: u64 = 1 << 20;

fn plan(path: &Path) -> TargetPlan {
    TargetPlan {
        path: path.to_owned(),
        kind: TargetKind::Directory,
        size_bytes: MIB,
        block_bytes: 512,
    }
}

fn fill() -> FillPlan {
    FillPlan {
        content: ContentPlan::Incompressible,
        verify_block_bytes: None,
        seed: 7,
        prepare_device: false,
    }
}

fn ready(path: &Path, fill: Option<&FillPlan>) -> Prepared {
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let create = Permission {
        create: true,
        ..Permission::default()
    };
    let admitted = admit(path, &create).expect("admitted");
    prepare(admitted, &plan(path), fill, &mut watch).expect("prepared")
}

fn manifest(path: &Path) -> PathBuf {
    path.join("pgmeter.work/manifest.json")
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(path)
        .expect("a listing")
        .map(|entry| {
            let name = entry.expect("an entry").file_name();
            name.to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

/// What a run that was killed leaves: its tree, and a manifest with an owner that is gone.
fn killed(path: &Path) -> PathBuf {
    let mut prepared = ready(path, None);
    let tree = prepared.make_tree().expect("a tree");
    tree.make_subdirectory("a/b").expect("made");
    fs::write(tree.path().join("a/b/file"), "x").expect("a file");
    if let Some(ReadyTarget::File(mut claim)) = prepared.target.take() {
        if let Some(owner) = &mut claim.manifest.owner {
            owner.started_ticks = 1;
        }
        claim.save().expect("saved");
    }
    tree.path().to_owned()
}

/// Writes the manifest of a killed run as it was before the tree's inode was noted.
fn without_inode(path: &Path) {
    let text = fs::read_to_string(manifest(path)).expect("the manifest");
    let at = text.find("\"inode\"").expect("an inode");
    let end = at + text[at..].find('\n').expect("a line");
    let text = format!("{}\"inode\": null{}", &text[..at], &text[end..]);
    fs::write(manifest(path), text).expect("written");
}

#[test]
fn a_target_without_a_test_file_has_a_tree_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = ready(directory.path(), None);
    assert_eq!(prepared.size_bytes(), 0);
    assert_eq!(prepared.path(), directory.path().join("pgmeter.work"));
    let tree = prepared.make_tree().expect("a tree");
    assert_eq!(tree.path(), directory.path().join("pgmeter.work/files-0"));
    assert_eq!(names(tree.path()), [""; 0]);
    assert_eq!(
        names(&directory.path().join("pgmeter.work")),
        ["files-0", "manifest.json"]
    );
    fs::write(tree.path().join("file"), "x").expect("a file");
    let report = prepared.release(false).expect("released");
    assert_eq!(report.beneath_count, 1);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn one_claim_serves_a_test_file_and_a_tree() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = ready(directory.path(), None);
    let tree = prepared.make_tree().expect("a tree");
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    prepared
        .refill(&plan(directory.path()), &fill(), &mut watch)
        .expect("filled");
    assert_eq!(prepared.size_bytes(), MIB);
    assert!(prepared.path().ends_with("test-0.dat"));
    prepared
        .open(CacheMode::Buffered, true, true)
        .expect("the file opens");
    fs::write(tree.path().join("file"), "x").expect("a file");
    let report = prepared.release(true).expect("released");
    assert!(report.removed.is_empty());
    let work = directory.path().join("pgmeter.work");
    assert_eq!(names(&work), ["files-0", "manifest.json", "test-0.dat"]);
    assert_eq!(names(tree.path()), ["file"]);
    assert!(ready(directory.path(), Some(&fill())).was_reused());
}

#[test]
fn a_tree_is_kept_until_the_target_is_used_again_or_cleaned() {
    let directory = tempfile::tempdir().expect("a directory");
    let assert_kept = || {
        let mut prepared = ready(directory.path(), None);
        let tree = prepared.make_tree().expect("a tree");
        fs::write(tree.path().join("file"), "x").expect("a file");
        prepared.release(true).expect("released");
        assert_eq!(names(tree.path()), ["file"]);
    };
    assert_kept();
    // The next one has a tree of its own.
    assert_kept();
    drop(ready(directory.path(), None));
    assert_eq!(names(directory.path()), [""; 0]);
    assert_kept();
    clean(directory.path(), None).expect("a report");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_tree_is_removed_with_progress_and_made_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = ready(directory.path(), None);
    for _ in 0..2 {
        let tree = prepared.make_tree().expect("a tree");
        for index in 0..10 {
            fs::write(tree.path().join(format!("{index}")), "x").expect("a file");
        }
        let mut last = 0;
        let removed = prepared.remove_tree(&mut |count| last = count);
        assert_eq!((removed.expect("removed"), last), (11, 11));
        assert!(!tree.path().exists());
        let manifest = fs::read_to_string(manifest(directory.path())).expect("the manifest");
        assert!(manifest.contains("\"trees\": []"), "{manifest}");
    }
    assert_eq!(prepared.remove_tree(&mut |_| {}).expect("nothing"), 0);
    let one = prepared.make_tree().expect("a tree");
    fs::write(one.path().join("old"), "x").expect("a file");
    let other = prepared.make_tree().expect("another");
    assert_eq!(names(other.path()), [""; 0]);
    drop(prepared);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn files_and_devices_have_no_trees() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = ready(&directory.path().join("disk.img"), Some(&fill()));
    let error = prepared.make_tree().expect_err("a refusal");
    assert!(
        matches!(error, TargetError::NotADirectory { .. }),
        "{error}"
    );
    assert_eq!(error.help(), "give a directory as the target");
    assert_eq!(prepared.remove_tree(&mut |_| {}).expect("nothing"), 0);
}

#[test]
fn leftover_trees_of_a_killed_run_are_removed_by_clean() {
    let directory = tempfile::tempdir().expect("a directory");
    let tree = killed(directory.path());
    let report = clean(directory.path(), None).expect("a report");
    let work = directory.path().join("pgmeter.work");
    assert_eq!(report.removed, [tree, work]);
    assert_eq!(report.beneath_count, 3);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn leftover_trees_of_a_killed_run_are_removed_by_the_next_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let old = killed(directory.path());
    let mut prepared = ready(directory.path(), None);
    assert_eq!(names(&old), ["a"]);
    let tree = prepared.make_tree().expect("a tree");
    assert_eq!(names(tree.path()), [""; 0]);
    drop(prepared);
    killed(directory.path());
    ready(directory.path(), Some(&fill()))
        .release(true)
        .expect("released");
    assert_eq!(
        names(&directory.path().join("pgmeter.work")),
        ["manifest.json", "test-0.dat"]
    );
}

#[test]
fn a_tree_in_use_is_not_cleaned() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = ready(directory.path(), None);
    let tree = prepared.make_tree().expect("a tree");
    let error = clean(directory.path(), None).expect_err("in use");
    assert!(matches!(error, TargetError::InUse { .. }), "{error}");
    assert!(tree.path().exists());
}

#[test]
fn a_tree_without_a_recorded_inode_is_removed_only_when_empty() {
    let directory = tempfile::tempdir().expect("a directory");
    let tree = killed(directory.path());
    without_inode(directory.path());
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(report.left[0].path, tree);
    assert_eq!(
        report.left[0].reason,
        "nothing shows that pgmeter made what is in it"
    );
    assert!(tree.join("a/b/file").exists());
    fs::remove_dir_all(tree.join("a")).expect("removed");
    clean(directory.path(), None).expect("a report");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_directory_in_place_of_the_tree_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let tree = killed(directory.path());
    fs::rename(&tree, directory.path().join("away")).expect("renamed");
    fs::create_dir(&tree).expect("a directory");
    fs::write(tree.join("file"), "precious").expect("a file");
    let mut prepared = ready(directory.path(), None);
    let error = prepared.make_tree().expect_err("a refusal");
    assert!(matches!(error, TargetError::PathTaken { .. }), "{error}");
    let report = prepared.release(false).expect("released");
    assert_eq!(
        report.left[0].reason,
        "it is not the directory that pgmeter made"
    );
    assert!(tree.join("file").exists());
}

#[test]
fn a_directory_or_link_in_no_manifest_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut prepared = ready(directory.path(), None);
    let planted = directory.path().join("pgmeter.work/files-0");
    fs::create_dir(&planted).expect("a directory");
    let error = prepared.make_tree().expect_err("a refusal");
    assert!(matches!(error, TargetError::PathTaken { .. }), "{error}");
    fs::remove_dir(&planted).expect("removed");
    symlink(directory.path(), &planted).expect("a link");
    let error = prepared.make_tree().expect_err("a refusal");
    assert!(matches!(error, TargetError::PathTaken { .. }), "{error}");
    let report = prepared.release(false).expect("released");
    assert_eq!(
        report.left[0].reason,
        "it holds files that pgmeter did not create"
    );
    assert!(planted.is_symlink());
}

#[test]
fn a_link_in_place_of_the_tree_and_its_target_are_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let tree = killed(directory.path());
    let away = directory.path().join("away");
    fs::rename(&tree, &away).expect("renamed");
    symlink(&away, &tree).expect("a link");
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(report.left[0].reason, "it is not a directory");
    assert!(away.join("a/b/file").exists());
}

#[test]
fn a_manifest_of_a_file_target_names_no_trees() {
    let directory = tempfile::tempdir().expect("a directory");
    killed(directory.path());
    let sidecar = directory.path().join("disk.img.pgmeter");
    fs::rename(manifest(directory.path()), &sidecar).expect("renamed");
    let location =
        ManifestLocation::of_file(&directory.path().join("disk.img"), None).expect("a place");
    let error = location.peek().expect_err("a refusal");
    assert!(
        error
            .to_string()
            .ends_with("it names a tree outside a work directory"),
        "{error}"
    );
}
