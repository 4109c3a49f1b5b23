use std::os::unix::fs::symlink;

use workload::plan::ContentPlan;

use super::*;
use crate::manifest::Made;

fn made(name: &str) -> Made {
    Made {
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
fn killed(place: Place) -> PathBuf {
    let mut claim = place.claim("r").expect("a claim");
    let name = claim.place.test_name();
    claim.create(made(&name)).expect("a file");
    if let Some(owner) = &mut claim.manifest.owner {
        owner.started_ticks = 1;
    }
    claim.save().expect("saved");
    claim.place.test_path()
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a listing").count()
}

#[test]
fn what_a_killed_run_left_is_removed_whichever_way_it_is_named() {
    for name in ["", "pgmeter.work"] {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("other"), "precious").expect("a file");
        let file = killed(Place::in_directory(directory.path()).expect("a place"));
        let report = clean(&directory.path().join(name)).expect("a report");
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
fn a_file_target_is_found_by_its_name_its_manifest_and_its_directory() {
    for name in ["disk.img", "disk.img.pgmeter", ""] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = killed(Place::beside(&directory.path().join("disk.img")).expect("a place"));
        let report = clean(&directory.path().join(name)).expect("a report");
        assert_eq!(report.removed, [file], "{name}");
        assert_eq!(entries(directory.path()), 0, "{name}");
    }
}

#[test]
fn a_run_that_still_goes_on_is_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let claim = Place::in_directory(directory.path())
        .expect("a place")
        .claim("r")
        .expect("a claim");
    let error = clean(directory.path()).expect_err("in use");
    assert!(matches!(error, TargetError::InUse { .. }), "{error}");
    assert!(claim.place.manifest_path().exists());
}

#[test]
fn files_that_no_manifest_names_are_left_and_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = killed(Place::in_directory(directory.path()).expect("a place"));
    let work = file.parent().expect("a parent").to_owned();
    fs::write(work.join("notes.txt"), "precious").expect("a file");
    let report = clean(directory.path()).expect("a report");
    assert_eq!(report.removed, [file]);
    assert_eq!(report.left.len(), 1);
    assert_eq!(report.left[0].path, work);
    assert_eq!(
        report.left[0].reason,
        "it holds files that pgmeter did not make"
    );
    assert_eq!(
        fs::read_to_string(work.join("notes.txt")).expect("the file"),
        "precious"
    );
    let report = clean(directory.path()).expect("a report");
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
    let file = killed(Place::in_directory(directory.path()).expect("a place"));
    let manifest = file.with_file_name("manifest.json");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    for name in ["../victim", victim.to_str().expect("a plain path")] {
        fs::write(&manifest, text.replace("test-0.dat", name)).expect("written");
        let error = clean(directory.path()).expect_err("a refusal");
        assert!(
            error.to_string().ends_with("which pgmeter never makes"),
            "{error}"
        );
        assert!(victim.exists() && file.exists());
    }
}

#[test]
fn a_link_in_place_of_a_test_file_is_left_with_what_it_points_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    let file = killed(Place::in_directory(directory.path()).expect("a place"));
    fs::remove_file(&file).expect("removed");
    symlink(&victim, &file).expect("a link");
    let report = clean(directory.path()).expect("a report");
    assert!(report.removed.is_empty());
    assert_eq!(
        report.left[0],
        Left {
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
    let report = clean(&path).expect("a report");
    assert_eq!(report.left[0].reason, "nothing shows that pgmeter made it");
    assert!(path.exists());
}

#[test]
fn nothing_to_clean_is_an_empty_report_and_nothing_there_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(clean(directory.path()).expect("a report").is_empty());
    let missing = clean(&directory.path().join("no/such")).expect_err("missing");
    assert!(
        matches!(
            missing,
            TargetError::Missing { .. } | TargetError::System { .. }
        ),
        "{missing}"
    );
    assert!(matches!(
        clean(&directory.path().join("no")),
        Err(TargetError::Missing { .. })
    ));
    let link = directory.path().join("link");
    symlink(directory.path(), &link).expect("a link");
    assert!(matches!(clean(&link), Err(TargetError::Symlink { .. })));
}

#[test]
fn an_unreadable_manifest_of_one_file_does_not_keep_others() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("a.pgmeter"), "not ours").expect("a file");
    let file = killed(Place::beside(&directory.path().join("b")).expect("a place"));
    let report = clean(directory.path()).expect("a report");
    assert_eq!(report.removed, [file]);
    assert_eq!(report.left.len(), 1);
    assert!(directory.path().join("a.pgmeter").exists());
}
