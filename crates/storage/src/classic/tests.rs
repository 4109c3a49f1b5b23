use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn names_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a directory");
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// As if the program had been killed: the manifest stays, its lock goes.
fn killed(manifest: ClassicManifest) {
    let manifest = std::mem::ManuallyDrop::new(manifest);
    rustix::fs::flock(&manifest._lock, FlockOperation::Unlock).expect("unlocked");
}

fn cleaned(path: &Path) -> CleanReport {
    let (leftovers, left) = classic_leftovers(path).expect("read");
    let mut report = CleanReport {
        left,
        ..CleanReport::default()
    };
    for leftover in leftovers {
        leftover.remove(&mut report);
    }
    report
}

const NUMBERS: NamesInPlace = NamesInPlace::Numbers {
    subdirectory_count: 2,
};

#[test]
fn a_run_that_ends_leaves_no_manifest() {
    let directory = tempfile::tempdir().expect("a directory");
    let manifest = ClassicManifest::begin(directory.path(), "postmark", NUMBERS);
    assert_eq!(names_in(directory.path()).len(), 1);
    let (leftovers, left) = classic_leftovers(directory.path()).expect("read");
    assert!(leftovers.is_empty());
    assert_eq!(left[0].reason, "the program that wrote it is still running");
    drop(manifest);
    assert!(names_in(directory.path()).is_empty());
}

#[test]
fn files_of_a_killed_run_are_found_and_earlier_files_stay() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let write = |name: &str| fs::write(path.join(name), name).expect("written");
    for name in ["3", "notes", "04"] {
        write(name);
    }
    fs::create_dir(path.join("s1")).expect("made");
    write("s1/7");
    let manifest = ClassicManifest::begin(path, "postmark", NUMBERS).expect("written");
    fs::create_dir(path.join("s0")).expect("made");
    for name in ["1", "2", "s0/4", "s1/5", "s2"] {
        write(name);
    }
    symlink(path.join("notes"), path.join("6")).expect("made");
    killed(manifest);
    let (leftovers, left) = classic_leftovers(path).expect("read");
    assert!(left.is_empty());
    let mut files: Vec<PathBuf> = leftovers[0].files().collect();
    files.sort();
    let expected = ["1", "2", "s0/4", "s1/5"].map(|name| path.join(name));
    assert_eq!(files, expected);
    assert_eq!(leftovers[0].program(), "postmark");
    drop(leftovers);
    let report = cleaned(path);
    assert!(report.left.is_empty(), "{report:?}");
    assert_eq!(report.beneath_count, 5);
    assert_eq!(names_in(path), ["04", "3", "6", "notes", "s1", "s2"]);
    assert_eq!(names_in(&path.join("s1")), ["7"]);
}

#[test]
fn a_file_with_a_second_hard_link_keeps_itself_and_the_manifest() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let names = NamesInPlace::Words { count: 30 };
    let manifest = ClassicManifest::begin(path, "lat_fs", names).expect("written");
    for name in ["a", "ab", "ad", "ae"] {
        fs::write(path.join(name), "").expect("written");
    }
    fs::hard_link(path.join("ab"), path.join("mine")).expect("linked");
    killed(manifest);
    let report = cleaned(path);
    assert_eq!(report.left.len(), 2, "{report:?}");
    assert_eq!(report.left[0].path, path.join("ab"));
    fs::remove_file(path.join("mine")).expect("removed");
    assert!(cleaned(path).left.is_empty());
    assert_eq!(names_in(path), ["ae"]);
}

#[test]
fn sample_directories_are_removed_unless_they_hold_foreign_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::create_dir_all(path.join("lat_fs_00000001/0")).expect("made");
    let names = NamesInPlace::Samples {
        before: "lat_fs_".to_owned(),
    };
    let manifest = ClassicManifest::begin(path, "lat_fs", names).expect("written");
    for sample in ["lat_fs_00000002", "lat_fs_00000003"] {
        fs::create_dir_all(path.join(sample).join("0/12")).expect("made");
        fs::write(path.join(sample).join("0/12/99"), "x").expect("written");
    }
    fs::write(path.join("lat_fs_00000003/0/mine"), "x").expect("written");
    killed(manifest);
    let report = cleaned(path);
    let left: Vec<&Path> = report.left.iter().map(|left| left.path.as_path()).collect();
    assert_eq!(left[0], path.join("lat_fs_00000003/0"));
    let names = names_in(path);
    assert_eq!(names[..2], ["lat_fs_00000001", "lat_fs_00000003"]);
    assert!(path.join("lat_fs_00000001/0").is_dir());
    assert!(path.join("lat_fs_00000003/0/mine").is_file());
}

#[test]
fn forged_and_damaged_manifests_are_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::write(path.join("1"), "mine").expect("written");
    let manifest = ClassicManifest::begin(path, "postmark", NUMBERS).expect("written");
    let name = manifest.name.clone();
    killed(manifest);
    let text = fs::read_to_string(path.join(&name)).expect("read");
    for (wrong, reason) in [
        (text.replace("pgmeter-as/1", "pgmeter-as/9"), "format"),
        (text.replace("numbers", "everything"), "unknown variant"),
        ("{".to_owned(), "not a manifest"),
        (text.replace("[\"1\"]", "null"), "existed before"),
    ] {
        fs::write(path.join(&name), &wrong).expect("written");
        let report = cleaned(path);
        assert!(report.left[0].reason.contains(reason), "{report:?}");
        assert!(path.join("1").exists() && path.join(&name).exists());
    }
    if rustix::process::geteuid().is_root() {
        fs::write(path.join(&name), text.replace("[\"1\"]", "[]")).expect("written");
        std::os::unix::fs::chown(path.join(&name), Some(12345), None).expect("given away");
        let report = cleaned(path);
        assert!(report.left[0].reason.contains("12345"), "{report:?}");
        assert!(path.join("1").exists());
    }
}
