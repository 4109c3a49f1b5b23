use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use plan::{TargetKind, TargetPlan};

use super::*;
use crate::lab::{LoopMount, is_cached, run};
use crate::mounts::{MountLine, mounts};
use crate::{FillWatch, Permission, admit, clean, prepare};

fn ready(path: &Path) -> Prepared {
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let plan = TargetPlan {
        path: path.to_owned(),
        kind: TargetKind::Directory,
        size_bytes: 0,
        block_bytes: 512,
    };
    let create = Permission {
        create: true,
        ..Permission::default()
    };
    let admitted = admit(path, &create).expect("admitted");
    prepare(admitted, &plan, None, &mut watch).expect("prepared")
}

/// A mounted loop device with a file system.
fn mounted(format: &[&str], options: &str) -> Option<(LoopMount, PathBuf)> {
    let mut device = LoopMount::new(512)?;
    if !device.make(format) {
        return None;
    }
    let point = device.mount(options)?;
    Some((device, point))
}

fn ext4() -> Option<(LoopMount, PathBuf)> {
    mounted(&["mkfs.ext4", "-q", "-F"], "rw")
}

fn mount_on(point: &Path) -> Option<MountLine> {
    mounts().into_iter().find(|mount| mount.point == point)
}

/// A mount without its numbers, which change.
fn mount_without_ids(point: &Path) -> MountLine {
    MountLine {
        id: 0,
        device: (0, 0),
        ..mount_on(point).expect("it is mounted")
    }
}

fn refusal(outcome: Result<Tree, TargetError>) -> String {
    match outcome.expect_err("a refusal") {
        TargetError::NoRemount { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn remounting_keeps_options_tree_and_claim_and_empties_the_cache() {
    for (format, options) in [
        (&["mkfs.ext4", "-q", "-F"][..], "rw,noatime,nodev"),
        (&["mkfs.ext4", "-q", "-F"], "rw,strictatime,lazytime,sync"),
        (&["mkfs.ext4", "-q", "-F"], "data=journal,barrier=0"),
        (&["mkfs.xfs", "-q", "-f"], "rw,nosuid,logbufs=4"),
        (&["mkfs.btrfs", "-q", "-f"], "rw,compress=zstd:3,noatime"),
    ] {
        let Some((_device, point)) = mounted(format, options) else {
            continue;
        };
        let before = mount_without_ids(&point);
        let target = point.join("target");
        fs::create_dir(&target).expect("a directory");
        let mut prepared = ready(&target);
        prepared.check_remount().expect("possible");
        let mut tree = prepared.make_tree().expect("a tree");
        let file = tree.path().join("file");
        fs::write(&file, vec![1; 1 << 16]).expect("a file");
        assert!(is_cached(&file), "{options}");
        for _ in 0..2 {
            let block_bytes = tree.block_bytes();
            tree = prepared.remount(tree).expect("mounted again");
            assert_eq!(mount_without_ids(&point), before);
            assert_eq!(tree.block_bytes(), block_bytes);
            assert!(!is_cached(&file), "{options}");
            tree.make_subdirectory("a").expect("the tree works");
            let error = clean(&target, None).expect_err("in use");
            assert!(matches!(error, TargetError::InUse { .. }), "{error}");
        }
        assert_eq!(prepared.remove_tree(&mut |_| {}).expect("removed"), 3);
        let report = prepared.release(false).expect("released");
        assert!(report.left.is_empty(), "{report:?}");
        assert_eq!(fs::read_dir(&target).expect("a listing").count(), 0);
    }
}

#[test]
fn an_open_file_prevents_the_unmount_and_the_claim_stays_usable() {
    let Some((_device, point)) = ext4() else {
        return;
    };
    let mut prepared = ready(&point);
    let tree = prepared.make_tree().expect("a tree");
    let open_directory = tree.directory().try_clone().expect("a clone");
    let id = mount_on(&point).expect("it is mounted").id;
    let reason = refusal(prepared.remount(tree));
    assert!(
        reason.starts_with("something has files open in it (`fuser -vm "),
        "{reason}"
    );
    assert_eq!(mount_on(&point).expect("it is mounted").id, id);
    drop(open_directory);
    let tree = prepared.make_tree().expect("another tree");
    prepared.remount(tree).expect("mounted again");
}

#[test]
fn the_unmount_waits_for_a_file_that_is_closed_soon() {
    let Some((_device, point)) = ext4() else {
        return;
    };
    let mut prepared = ready(&point);
    let tree = prepared.make_tree().expect("a tree");
    let open_directory = tree.directory().try_clone().expect("a clone");
    let closer = std::thread::spawn(move || drop(open_directory));
    prepared.remount(tree).expect("mounted again");
    closer.join().expect("closed");
}

#[test]
fn nested_and_duplicate_mounts_are_refused_before_the_unmount() {
    let Some((mut device, point)) = ext4() else {
        return;
    };
    let mut prepared = ready(&point);
    let tree = prepared.make_tree().expect("a tree");
    let Some(twin) = device.mount("rw") else {
        return;
    };
    let reason = refusal(prepared.remount(tree));
    assert_eq!(
        reason,
        format!("it is also mounted on `{}`", twin.display())
    );
    run(&["umount", twin.to_str().expect("a plain path")]).expect("unmounted");
    let inner = point.join("inner");
    fs::create_dir(&inner).expect("a directory");
    let inner_path = inner.to_str().expect("a plain path");
    run(&["mount", "-t", "tmpfs", "none", inner_path]).expect("mounted");
    let error = prepared.check_remount().expect_err("a refusal");
    run(&["umount", inner_path]).expect("unmounted");
    assert!(
        error
            .to_string()
            .ends_with(&format!("`{}` is mounted in it", inner.display())),
        "{error}"
    );
    assert!(error.help().contains("drop-caches"), "{}", error.help());
}

#[test]
fn a_replaced_tree_is_noticed() {
    let Some((_device, point)) = ext4() else {
        return;
    };
    let mut prepared = ready(&point);
    let tree = prepared.make_tree().expect("a tree");
    let path = tree.path().to_owned();
    fs::rename(&path, point.join("away")).expect("renamed");
    fs::create_dir(&path).expect("a directory");
    let error = prepared.remount(tree).expect_err("a refusal");
    assert!(matches!(error, TargetError::Replaced { .. }), "{error}");
    let report = prepared.release(false).expect("released");
    assert_eq!(
        report.left[0].reason,
        "it is not the directory that pgmeter made"
    );
}

#[test]
fn a_file_target_is_not_unmounted() {
    let directory = tempfile::tempdir().expect("a directory");
    let prepared = ready(&directory.path().join("disk.img"));
    let error = prepared.check_remount().expect_err("a refusal");
    assert!(
        matches!(error, TargetError::NotADirectory { .. }),
        "{error}"
    );
}

#[test]
fn a_loop_device_that_unmounting_would_detach_is_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: loop devices need root");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let image = directory.path().join("image");
    let file = fs::File::create(&image).expect("an image");
    file.set_len(64 << 20).expect("its size");
    let point = directory.path().join("mnt");
    fs::create_dir(&point).expect("a directory");
    let (image, at) = (
        image.to_str().expect("a plain path"),
        point.to_str().expect("a plain path"),
    );
    let is_mounted = run(&["mkfs.ext4", "-q", "-F", image]).is_some()
        && run(&["mount", "-o", "loop", image, at]).is_some();
    if !is_mounted {
        println!("skipped: no loop device can be had");
        return;
    }
    let prepared = ready(&point);
    let outcome = prepared.check_remount();
    drop(prepared);
    run(&["umount", at]).expect("unmounted");
    let error = outcome.expect_err("a refusal").to_string();
    assert!(error.contains("disappears with the mount"), "{error}");
}
