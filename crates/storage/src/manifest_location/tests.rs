use std::fs;
use std::os::unix::fs::symlink;

use plan::ContentPlan;

use super::*;
use crate::claim::ManifestClaim;
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

fn claim_in(directory: &Path) -> ManifestClaim {
    ManifestLocation::in_directory(directory, None)
        .expect("a place")
        .claim("r")
        .expect("a claim")
}

#[test]
fn a_claim_makes_the_work_directory_and_dissolving_it_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut claim = claim_in(directory.path());
    claim.create(made("test-0.dat")).expect("a file");
    let work = directory.path().join(WORK_DIRECTORY);
    assert!(work.join("test-0.dat").is_file() && work.join(MANIFEST).is_file());
    assert_eq!(claim.remove("test-0.dat"), Ok(true));
    claim.remove_manifest().expect("nothing left");
    assert_eq!(
        fs::read_dir(directory.path()).expect("a listing").count(),
        0
    );
}

#[test]
fn a_second_claim_fails_with_the_owner_of_the_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = claim_in(directory.path());
    let error = ManifestLocation::in_directory(directory.path(), None)
        .expect("a place")
        .claim("r")
        .expect_err("used");
    let work = directory.path().join(WORK_DIRECTORY);
    assert_eq!(
        error.to_string(),
        format!(
            "target `{}` is in use by another pgmeter (process {})",
            work.display(),
            std::process::id()
        )
    );
    assert_eq!(
        error.help(),
        "wait until it is done, or choose another target"
    );
    drop(first);
    claim_in(directory.path())
        .remove_manifest()
        .expect("nothing left");
}

#[test]
fn the_lock_survives_every_rewrite_of_the_manifest() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut claim = claim_in(directory.path());
    for _ in 0..3 {
        claim.save().expect("saved");
        let other = ManifestLocation::in_directory(directory.path(), None).expect("a place");
        assert!(matches!(other.peek(), Err(TargetError::InUse { .. })));
    }
}

#[test]
fn a_work_directory_that_is_a_link_or_a_file_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let work = directory.path().join(WORK_DIRECTORY);
    symlink(outside.path(), &work).expect("a link");
    let location = ManifestLocation::in_directory(directory.path(), None).expect("a place");
    assert!(matches!(location.claim("r"), Err(TargetError::PathTaken { path }) if path == work));
    fs::remove_file(&work).expect("removed");
    fs::write(&work, "x").expect("a file");
    let location = ManifestLocation::in_directory(directory.path(), None).expect("a place");
    assert!(matches!(
        location.claim("r"),
        Err(TargetError::PathTaken { .. })
    ));
    assert_eq!(fs::read_dir(outside.path()).expect("a listing").count(), 0);
}

#[test]
fn a_manifest_that_is_a_link_is_not_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::write(&victim, "keep me").expect("a file");
    let work = directory.path().join(WORK_DIRECTORY);
    fs::create_dir(&work).expect("a directory");
    symlink(&victim, work.join(MANIFEST)).expect("a link");
    let location = ManifestLocation::in_directory(directory.path(), None).expect("a place");
    assert!(matches!(
        location.claim("r"),
        Err(TargetError::PathTaken { .. })
    ));
    assert_eq!(fs::read_to_string(&victim).expect("the file"), "keep me");
}

#[test]
fn a_draft_that_is_a_link_is_replaced_and_not_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    fs::write(&victim, "keep me").expect("a file");
    let work = directory.path().join(WORK_DIRECTORY);
    fs::create_dir(&work).expect("a directory");
    symlink(&victim, work.join("manifest.json.new")).expect("a link");
    claim_in(directory.path())
        .remove_manifest()
        .expect("nothing left");
    assert_eq!(fs::read_to_string(&victim).expect("the file"), "keep me");
}

#[test]
fn existing_files_are_never_taken_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut claim = claim_in(directory.path());
    let path = directory.path().join(WORK_DIRECTORY).join("test-0.dat");
    fs::write(&path, "mine").expect("a file");
    let error = claim.create(made("test-0.dat")).expect_err("foreign");
    assert_eq!(
        error.to_string(),
        format!("`{}` exists and was not created by pgmeter", path.display())
    );
    assert!(claim.remove("test-0.dat").is_err());
    let (left, reason) = claim.remove_manifest().expect_err("left");
    assert_eq!(left, directory.path().join(WORK_DIRECTORY));
    assert_eq!(reason, "it holds files that pgmeter did not create");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "mine");
}

#[test]
fn a_replaced_or_hard_linked_file_is_not_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut claim = claim_in(directory.path());
    claim.create(made("test-0.dat")).expect("a file");
    let path = directory.path().join(WORK_DIRECTORY).join("test-0.dat");
    let second = directory.path().join("second-name");
    fs::hard_link(&path, &second).expect("a link");
    assert_eq!(
        claim.remove("test-0.dat"),
        Err("it has another name (hard link)".to_owned())
    );
    let other = directory.path().join("other");
    fs::write(&other, "other").expect("a file");
    fs::rename(&other, &path).expect("renamed");
    assert_eq!(
        claim.remove("test-0.dat"),
        Err("it is not the file that pgmeter made".to_owned())
    );
    fs::remove_file(&path).expect("removed");
    symlink(&second, &path).expect("a link");
    assert_eq!(
        claim.remove("test-0.dat"),
        Err("it is not a regular file".to_owned())
    );
}

#[test]
fn a_file_target_keeps_its_manifest_next_to_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("disk.img");
    let mut claim = ManifestLocation::of_file(&path, None)
        .expect("a place")
        .claim("r")
        .expect("a claim");
    claim.create(made("disk.img")).expect("a file");
    assert!(directory.path().join("disk.img.pgmeter").is_file());
    assert!(!claim.location.allows("test-0.dat"));
    claim.remove("disk.img").expect("removed");
    claim.remove_manifest().expect("nothing left");
    assert_eq!(
        fs::read_dir(directory.path()).expect("a listing").count(),
        0
    );
}

#[test]
fn a_claim_after_a_dead_owner_succeeds_and_is_marked_interrupted() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut claim = claim_in(directory.path());
    if let Some(owner) = &mut claim.manifest.owner {
        owner.started_ticks = 1;
    }
    claim.save().expect("saved");
    drop(claim);
    let claim = claim_in(directory.path());
    assert!(claim.interrupted);
}

#[test]
fn a_running_owner_keeps_its_claim_even_without_the_lock() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .expect("a process");
    let mut claim = claim_in(directory.path());
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("its state");
    let ticks = text
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(19));
    if let Some(owner) = &mut claim.manifest.owner {
        owner.pid = child.id();
        owner.started_ticks = ticks.expect("its start").parse().expect("a number");
    }
    claim.save().expect("saved");
    drop(claim);
    let peeked = ManifestLocation::in_directory(directory.path(), None)
        .expect("a place")
        .peek();
    let pid = child.id();
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert!(matches!(peeked, Err(TargetError::InUse { pid: seen, .. }) if seen == pid));
    claim_in(directory.path())
        .remove_manifest()
        .expect("nothing left");
}

#[test]
fn only_numbered_test_files_belong_in_a_work_directory() {
    assert!(is_test_name("test-0.dat") && is_test_name("test-12.dat"));
    for name in [
        "test-.dat",
        "test-x.dat",
        "test-0.dat ",
        "test--1.dat",
        "manifest.json",
    ] {
        assert!(!is_test_name(name), "{name}");
    }
}

#[test]
fn a_lock_without_an_owner_is_an_error_after_a_wait() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut claim = claim_in(directory.path());
    claim.manifest.owner = None;
    claim.save().expect("saved");
    let location = || ManifestLocation::in_directory(directory.path(), None).expect("a place");
    let start = std::time::Instant::now();
    let error = location().peek().expect_err("locked");
    assert!(start.elapsed() >= BUSY_WAIT * ATTEMPTS);
    let work = directory.path().join(WORK_DIRECTORY);
    assert_eq!(
        error.to_string(),
        format!("target `{}` is in use by another pgmeter", work.display())
    );
    let release = std::thread::spawn(move || drop(claim));
    // The thread may begin later than one claim waits.
    let claim = || match location().claim("r") {
        Err(TargetError::InUse { .. }) => None,
        claim => Some(claim.expect("a claim")),
    };
    std::iter::repeat_with(claim)
        .flatten()
        .next()
        .expect("it is tried until it is there")
        .remove_manifest()
        .expect("nothing left");
    release.join().expect("a thread");
}

#[test]
fn a_link_created_after_the_directory_check_is_not_followed() {
    let base = tempfile::tempdir().expect("a directory");
    let (target, foreign) = (base.path().join("target"), base.path().join("foreign"));
    for path in [&target, &foreign] {
        fs::create_dir(path).expect("a directory");
    }
    let in_target = crate::probe(&target).expect("facts");
    let disk_image = crate::probe(&target.join("disk.img")).expect("facts");
    fs::rename(&target, base.path().join("away")).expect("renamed");
    symlink(&foreign, &target).expect("a link");
    for facts in [&in_target, &disk_image] {
        let location = match facts.kind {
            crate::PathKind::Directory => {
                ManifestLocation::in_directory(&facts.path, facts.directory)
            }
            _ => ManifestLocation::of_file(&facts.path, facts.directory),
        };
        let error = location.expect_err("a refusal");
        assert!(matches!(error, TargetError::Replaced { .. }), "{error}");
    }
    fs::remove_file(&target).expect("removed");
    fs::rename(&foreign, &target).expect("renamed");
    let other = ManifestLocation::in_directory(&in_target.path, in_target.directory);
    assert!(matches!(other, Err(TargetError::Replaced { .. })));
    assert_eq!(fs::read_dir(&target).expect("a listing").count(), 0);
}

#[test]
fn a_link_to_a_directory_is_never_a_target_directory() {
    let base = tempfile::tempdir().expect("a directory");
    let link = base.path().join("link");
    symlink(base.path(), &link).expect("a link");
    assert!(ManifestLocation::in_directory(&link, None).is_err());
    ManifestLocation::of_file(&link.join("disk.img"), None).expect("a place");
}

#[test]
fn a_claim_that_cannot_be_written_leaves_no_work_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"])
        .arg(directory.path())
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return println!("skipped: mounting needs root");
    }
    // The one page that there is.
    fs::write(directory.path().join("filling"), "x").expect("a file");
    let claimed = ManifestLocation::in_directory(directory.path(), None)
        .expect("a place")
        .claim("r");
    let left = fs::read_dir(directory.path()).expect("a listing").count();
    let _ = std::process::Command::new("umount")
        .arg(directory.path())
        .output();
    claimed.expect_err("no space is left");
    assert_eq!(left, 1);
}
