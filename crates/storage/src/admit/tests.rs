use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::lab::LoopMount;
use crate::manifest_location::WORK_DIRECTORY;

fn refusal(path: &Path) -> (String, String) {
    let error = admit(path, &Permission::default()).expect_err("a refusal");
    (error.to_string(), error.help())
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a listing").count()
}

#[test]
fn admitting_a_directory_or_a_new_file_creates_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let admitted = admit(directory.path(), &Permission::default()).expect("admitted");
    assert_eq!(admitted.facts().kind, PathKind::Directory);
    let create = Permission {
        create: true,
        ..Permission::default()
    };
    admit(&directory.path().join("new.dat"), &create).expect("admitted");
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn a_missing_target_is_created_only_on_request() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("unmounted");
    let (message, help) = refusal(&path);
    assert_eq!(
        message,
        format!("target `{}` does not exist", path.display())
    );
    assert!(help.contains("`--create`"), "{help}");
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn creation_is_not_suggested_for_remote_and_unexpanded_paths() {
    for (path, help) in [
        ("server:/export", "mount it first"),
        ("nfs://server/export", "mount it first"),
        ("~/pgmeter/none", "write `$HOME` instead of `~`"),
    ] {
        let (message, advice) = refusal(Path::new(path));
        assert!(message.contains("does not exist"), "{message}");
        assert!(advice.starts_with(help), "{advice}");
    }
}

#[test]
fn a_target_without_a_parent_directory_is_missing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a/b");
    let (shown, parent) = (path.display(), directory.path().join("a"));
    assert_eq!(
        refusal(&path),
        (
            format!(
                "target `{shown}` does not exist, and neither does the directory it would be in"
            ),
            format!(
                "check the path, or create the directory `{}`",
                parent.display()
            )
        )
    );
}

#[test]
fn a_missing_directory_is_not_taken_for_a_new_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("new/");
    let error = admit(&path, &Permission::default()).expect_err("a refusal");
    assert!(
        matches!(error, TargetError::NoSuchDirectory { .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        format!("directory `{}` does not exist", path.display())
    );
}

#[test]
fn a_link_is_refused_with_the_path_it_leads_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let real = fs::canonicalize(directory.path())
        .expect("its path")
        .join("real");
    fs::create_dir(&real).expect("a directory");
    let link = directory.path().join("link");
    symlink("real", &link).expect("a link");
    for path in [link.clone(), directory.path().join("link/")] {
        assert_eq!(
            refusal(&path),
            (
                format!("target `{}` is a symbolic link to `real`", link.display()),
                format!(
                    "to measure what it points to, use `--target {}`",
                    real.display()
                )
            )
        );
    }
    fs::remove_dir(&real).expect("removed");
    assert_eq!(
        refusal(&link).1,
        "the link is dangling; give the path of a directory"
    );
}

#[test]
fn a_file_that_pgmeter_did_not_make_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mail.db");
    fs::write(&path, "precious").expect("a file");
    let shown = path.display();
    assert_eq!(
        refusal(&path),
        (
            format!("`{shown}` exists and was not created by pgmeter"),
            format!(
                "nothing was written; instead of `{shown}`, give a directory or a new file name, \
                 or run a workload that only reads"
            )
        )
    );
}

#[test]
fn a_foreign_file_in_the_work_directory_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let work = directory.path().join(WORK_DIRECTORY);
    fs::create_dir(&work).expect("a directory");
    fs::write(work.join("test-0.dat"), "precious").expect("a file");
    let shown = work.join("test-0.dat");
    assert_eq!(
        refusal(directory.path()).0,
        format!(
            "`{}` exists and was not created by pgmeter",
            shown.display()
        )
    );
}

#[test]
fn a_hostile_manifest_is_refused_with_its_path() {
    let directory = tempfile::tempdir().expect("a directory");
    let work = directory.path().join(WORK_DIRECTORY);
    fs::create_dir(&work).expect("a directory");
    fs::write(work.join("manifest.json"), "{\"format\": 1").expect("a file");
    let (message, help) = refusal(directory.path());
    let shown = work.join("manifest.json").display().to_string();
    assert!(
        message.starts_with(&format!("manifest `{shown}` cannot be trusted: ")),
        "{message}"
    );
    assert_eq!(
        help,
        format!("nothing was removed; look at `{shown}` and remove it by hand")
    );
}

#[test]
fn pipes_and_character_devices_are_refused() {
    assert_eq!(
        refusal(Path::new("/dev/full")),
        (
            "target `/dev/full` is a character device, not a directory, file or block device"
                .to_owned(),
            "nothing was written; give a directory, a new file or a block device".to_owned()
        )
    );
}

#[test]
fn file_systems_of_the_kernel_are_refused() {
    for path in ["/proc", "/proc/pgmeter", "/sys"] {
        let (message, help) = refusal(Path::new(path));
        assert!(
            message.starts_with(&format!(
                "target `{path}` is in a file system of the kernel"
            )),
            "{message}"
        );
        assert!(help.starts_with("nothing was written; "), "{help}");
    }
}

#[test]
fn a_read_only_file_system_is_refused() {
    let Some(mut mount) = LoopMount::new(16) else {
        return;
    };
    if !mount.make(&["mkfs.ext4", "-q"]) {
        return;
    }
    let Some(point) = mount.mount("ro") else {
        return;
    };
    for path in [point.clone(), point.join("new.dat")] {
        assert_eq!(
            refusal(&path),
            (
                format!(
                    "target `{}` is read-only (its file system is mounted read-only)",
                    path.display()
                ),
                "choose a writable target".to_owned()
            )
        );
    }
}

#[test]
fn a_directory_that_may_not_be_written_is_refused() {
    if rustix::process::geteuid().is_root() {
        println!("skipped: root may write everywhere");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).expect("changed");
    assert_eq!(
        refusal(directory.path()),
        (
            format!("no permission to write to `{}`", directory.path().display()),
            "choose a target that you have access to, or run as its owner".to_owned()
        )
    );
}

#[test]
fn a_typo_in_a_device_name_creates_no_file() {
    for path in ["/dev/pgmeter-no-such-disk", "/dev/disk/by-id/pgmeter-none"] {
        let path = Path::new(path);
        if !parent_of(path).is_dir() {
            continue;
        }
        for overwrite_devices in [Vec::new(), vec![path.to_owned()]] {
            let permission = Permission {
                overwrite_devices,
                ..Permission::default()
            };
            let error = admit(path, &permission).expect_err("a refusal");
            assert_eq!(
                error.to_string(),
                format!("`{}` does not exist", path.display())
            );
            assert!(error.help().contains("lsblk"), "{}", error.help());
        }
        assert!(fs::symlink_metadata(path).is_err());
    }
    let error = admit(Path::new("/dev"), &Permission::default()).expect_err("a refusal");
    assert!(matches!(error, TargetError::NoDevice { .. }), "{error}");
}

#[test]
fn a_file_system_mounted_below_dev_may_hold_targets() {
    let shared = Path::new("/dev/shm");
    if !crate::mounts().iter().any(|mount| mount.point == shared) {
        println!("skipped: nothing is mounted on `/dev/shm`");
        return;
    }
    let directory = tempfile::tempdir_in(shared).expect("a directory");
    admit(directory.path(), &Permission::default()).expect("admitted");
    let permission = Permission {
        create: true,
        ..Permission::default()
    };
    admit(&directory.path().join("new.dat"), &permission).expect("admitted");
}

#[test]
fn permission_to_overwrite_a_device_does_not_admit_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("sdb");
    let permission = Permission {
        overwrite_devices: vec![path.clone()],
        ..Permission::default()
    };
    let error = admit(&path, &permission).expect_err("a refusal");
    assert!(matches!(error, TargetError::NoDevice { .. }), "{error}");
}

#[test]
fn devtmpfs_is_recognized_wherever_it_is_mounted() {
    let directory = tempfile::tempdir().expect("a directory");
    let facts = PathFacts {
        file_system: "devtmpfs".to_owned(),
        ..probe(directory.path()).expect("facts")
    };
    assert!(is_among_nodes(&facts));
    assert!(!is_among_nodes(&probe(directory.path()).expect("facts")));
}
