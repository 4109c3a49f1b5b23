use std::os::unix::fs::{MetadataExt, chown, symlink};

use plan::ContentPlan;

use super::*;
use crate::manifest::ManifestFile;

fn made(name: &str) -> ManifestFile {
    ManifestFile {
        name: name.to_owned(),
        size_bytes: 4096,
        inode: None,
        content: ContentPlan::Zero,
        seed: 1,
        verify_block_bytes: None,
        complete: false,
    }
}

/// What a killed run leaves: files and a manifest whose owner is gone.
fn killed(location: ManifestLocation) -> PathBuf {
    let mut claim = location.claim("r").expect("a claim");
    let name = claim.location.test_name();
    claim.create(made(&name)).expect("a file");
    if let Some(owner) = &mut claim.manifest.owner {
        owner.started_ticks = 1;
    }
    claim.save().expect("saved");
    claim.location.test_path()
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a listing").count()
}

#[test]
fn leftovers_of_a_killed_run_are_removed_by_any_path_to_them() {
    for name in ["", "pgmeter.work"] {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("other"), "precious").expect("a file");
        let file = killed(ManifestLocation::in_directory(directory.path(), None).expect("a place"));
        let report = clean(&directory.path().join(name), None).expect("a report");
        let work = file.parent().expect("a parent").to_owned();
        assert_eq!(
            report,
            CleanReport {
                removed: vec![file, work],
                ..CleanReport::default()
            }
        );
        assert_eq!(entries(directory.path()), 1);
    }
}

#[test]
fn a_file_target_is_cleaned_by_its_path_its_manifest_or_its_directory() {
    for name in ["disk.img", "disk.img.pgmeter", ""] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = killed(
            ManifestLocation::of_file(&directory.path().join("disk.img"), None).expect("a place"),
        );
        let report = clean(&directory.path().join(name), None).expect("a report");
        assert_eq!(report.removed, [file], "{name}");
        assert_eq!(entries(directory.path()), 0, "{name}");
    }
}

#[test]
fn a_running_run_is_not_cleaned() {
    let directory = tempfile::tempdir().expect("a directory");
    let claim = ManifestLocation::in_directory(directory.path(), None)
        .expect("a place")
        .claim("r")
        .expect("a claim");
    let error = clean(directory.path(), None).expect_err("in use");
    assert!(matches!(error, TargetError::InUse { .. }), "{error}");
    assert!(claim.location.manifest_path().exists());
}

#[test]
fn files_in_no_manifest_are_left_and_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = killed(ManifestLocation::in_directory(directory.path(), None).expect("a place"));
    let work = file.parent().expect("a parent").to_owned();
    fs::write(work.join("notes.txt"), "precious").expect("a file");
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(report.removed, [file]);
    assert_eq!(report.left.len(), 1);
    assert_eq!(report.left[0].path, work);
    assert_eq!(
        report.left[0].reason,
        "it holds files that pgmeter did not create"
    );
    assert_eq!(
        fs::read_to_string(work.join("notes.txt")).expect("the file"),
        "precious"
    );
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(
        report.left[0].reason,
        "it has no manifest, so nothing shows that pgmeter made it"
    );
}

#[test]
fn a_hostile_manifest_removes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    let file = killed(ManifestLocation::in_directory(directory.path(), None).expect("a place"));
    let manifest = file.with_file_name("manifest.json");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    for name in ["../victim", victim.to_str().expect("a plain path")] {
        fs::write(&manifest, text.replace("test-0.dat", name)).expect("written");
        let error = clean(directory.path(), None).expect_err("a refusal");
        assert!(
            error.to_string().ends_with("which pgmeter never makes"),
            "{error}"
        );
        assert!(victim.exists() && file.exists());
    }
}

#[test]
fn a_link_in_place_of_a_test_file_and_its_target_are_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    let file = killed(ManifestLocation::in_directory(directory.path(), None).expect("a place"));
    fs::remove_file(&file).expect("removed");
    symlink(&victim, &file).expect("a link");
    let report = clean(directory.path(), None).expect("a report");
    assert!(report.removed.is_empty());
    assert_eq!(
        report.left[0],
        NotRemoved {
            path: file.clone(),
            reason: "it is not a regular file".to_owned()
        }
    );
    assert!(victim.exists() && file.exists());
}

#[test]
fn a_file_without_a_manifest_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mail.db");
    fs::write(&path, "precious").expect("a file");
    let report = clean(&path, None).expect("a report");
    assert_eq!(report.left[0].reason, "nothing shows that pgmeter made it");
    assert!(path.exists());
}

#[test]
fn nothing_to_clean_is_an_empty_report_and_a_missing_path_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(clean(directory.path(), None).expect("a report").is_empty());
    let missing = clean(&directory.path().join("no/such"), None).expect_err("missing");
    assert!(
        matches!(
            missing,
            TargetError::NothingToClean { .. } | TargetError::System { .. }
        ),
        "{missing}"
    );
    assert!(matches!(
        clean(&directory.path().join("no"), None),
        Err(TargetError::NothingToClean { .. })
    ));
    let link = directory.path().join("link");
    symlink(directory.path(), &link).expect("a link");
    assert!(matches!(
        clean(&link, None),
        Err(TargetError::Symlink { .. })
    ));
}

#[test]
fn an_unreadable_manifest_does_not_stop_the_cleaning_of_other_files() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("a.pgmeter"), "not ours").expect("a file");
    let file =
        killed(ManifestLocation::of_file(&directory.path().join("b"), None).expect("a place"));
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(report.removed, [file]);
    assert_eq!(report.left.len(), 1);
    assert!(directory.path().join("a.pgmeter").exists());
}

/// Copies a directory without its inode numbers.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a listing").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}

/// A copy of what a killed run left: a test file with all its bytes, and a tree with a file in it.
fn copied() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let original = directory.path().join("original");
    fs::create_dir(&original).expect("a directory");
    let file = killed(ManifestLocation::in_directory(&original, None).expect("a place"));
    fs::write(&file, [1; 4096]).expect("written");
    let claim = ManifestLocation::in_directory(&original, None)
        .expect("a place")
        .claim_existing();
    let mut claim = claim.expect("looked").expect("a claim");
    drop(claim.create_tree("files-0").expect("a tree"));
    fs::write(file.with_file_name("files-0").join("a"), "x").expect("written");
    drop(claim);
    copy(&original, &directory.path().join("copy"));
    directory
}

#[test]
fn a_copied_work_directory_keeps_its_manifest_until_it_is_adopted() {
    let directory = copied();
    let copy = directory.path().join("copy");
    let work = copy.join(WORK_DIRECTORY);
    for _ in 0..2 {
        let report = clean(&copy, None).expect("a report");
        assert!(report.removed.is_empty());
        let reasons: Vec<_> = report.left.iter().map(|left| &*left.reason).collect();
        assert_eq!(
            reasons,
            [
                "it is not the directory that pgmeter made",
                "its inode number is not the one in the manifest",
                "it is kept until everything it lists is gone"
            ]
        );
        let sizes: Vec<_> = report.adoptable.iter().map(|it| it.size_bytes).collect();
        assert_eq!(sizes, [None, Some(4096)]);
        assert_eq!(entries(&work), 3);
    }
    let mut offered = Vec::new();
    let mut no = |list: &[Adoptable]| {
        offered.extend_from_slice(list);
        false
    };
    let report = clean(&copy, Some(&mut no)).expect("a report");
    assert_eq!((offered.len(), offered[0].beneath_count), (2, 1));
    assert!(report.removed.is_empty() && work.join("files-0/a").exists());
    let report = clean(&copy, Some(&mut |_| true)).expect("a report");
    assert_eq!(report.removed.len(), 3);
    assert!(report.left.is_empty() && entries(&copy) == 0);
    // The original is what it was.
    assert!(
        clean(&directory.path().join("original"), None)
            .expect("a report")
            .left
            .is_empty()
    );
}

#[test]
fn a_file_of_another_size_is_not_adopted() {
    let directory = copied();
    let copy = directory.path().join("copy");
    let file = copy.join(WORK_DIRECTORY).join("test-0.dat");
    fs::write(&file, [1; 5000]).expect("written");
    let report = clean(&copy, Some(&mut |_| true)).expect("a report");
    assert_eq!(
        report.left[0].reason,
        "it is not the file that pgmeter made"
    );
    assert!(file.exists());
}

/// Ends the test where owners cannot be changed.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: giving files away needs root");
    }
    is_root
}

#[test]
fn a_manifest_owned_by_another_user_removes_no_file() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mail.db");
    killed(ManifestLocation::of_file(&path, None).expect("a place"));
    let manifest = directory.path().join("mail.db.pgmeter");
    chown(&manifest, Some(65534), None).expect("given away");
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(
        report.left[0].reason,
        format!("`{}` belongs to another user (65534)", manifest.display())
    );
    assert!(report.removed.is_empty() && path.exists() && manifest.exists());
    let error = ManifestLocation::of_file(&path, None)
        .expect("a place")
        .claim("r")
        .expect_err("a refusal");
    assert!(
        matches!(error, TargetError::OtherOwner { uid: 65534, .. }),
        "{error}"
    );
}

#[test]
fn a_file_of_another_user_is_left_whatever_the_manifest_says() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = killed(
        ManifestLocation::of_file(&directory.path().join("disk.img"), None).expect("a place"),
    );
    chown(&path, Some(65534), None).expect("given away");
    let report = clean(directory.path(), None).expect("a report");
    assert_eq!(report.left[0].reason, "it belongs to another user");
    assert!(path.exists());
}

#[test]
fn a_work_directory_of_another_user_is_left() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = killed(ManifestLocation::in_directory(directory.path(), None).expect("a place"));
    chown(file.parent().expect("a parent"), Some(65534), None).expect("given away");
    let error = clean(directory.path(), None).expect_err("a refusal");
    assert!(matches!(error, TargetError::OtherOwner { .. }), "{error}");
    assert!(file.exists());
}

#[test]
fn a_file_named_like_a_draft_manifest_is_removed_only_if_it_is_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("disk.img");
    let draft = directory.path().join("disk.img.pgmeter.new");
    let claim = || {
        ManifestLocation::of_file(&path, None)
            .expect("a place")
            .claim("r")
    };
    fs::write(&draft, "precious").expect("written");
    let error = claim().expect_err("a refusal");
    assert!(matches!(error, TargetError::PathTaken { .. }), "{error}");
    assert_eq!(fs::read_to_string(&draft).expect("the file"), "precious");
    if is_root() {
        fs::write(&draft, "").expect("written");
        chown(&draft, Some(65534), None).expect("given away");
        let error = claim().expect_err("a refusal");
        assert!(matches!(error, TargetError::OtherOwner { .. }), "{error}");
        assert_eq!(fs::metadata(&draft).expect("the file").uid(), 65534);
        chown(&draft, Some(0), None).expect("taken back");
    }
    fs::write(&draft, "{\n  \"format\": \"pgme").expect("written");
    claim()
        .expect("a claim")
        .remove_manifest()
        .expect("nothing left");
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn a_file_that_could_not_be_created_stays_in_the_manifest() {
    let directory = copied();
    let copy = directory.path().join("copy");
    let mut claim = ManifestLocation::in_directory(&copy, None)
        .expect("a place")
        .claim("r")
        .expect("a claim");
    assert!(claim.create(made("test-0.dat")).is_err());
    assert!(claim.create_tree("files-0").is_err());
    assert_eq!(
        (claim.manifest.files.len(), claim.manifest.trees.len()),
        (1, 1)
    );
}
