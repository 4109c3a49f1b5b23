use super::*;
use crate::lab::{Loop, run};
use crate::probe::probe;

fn refusal(device: &Path, permission: &Permission) -> TargetError {
    let facts = probe(device).expect("facts");
    admit_device(&facts, permission).expect_err("a refusal")
}

fn naming(device: &Path) -> Permission {
    Permission {
        overwrite_devices: vec![device.to_owned()],
        ..Permission::default()
    }
}

#[test]
fn a_device_that_nobody_named_is_refused() {
    let Some(made) = Loop::new(8) else { return };
    let error = refusal(&made.device, &Permission::default());
    let path = made.path();
    assert_eq!(
        error.to_string(),
        format!("`{path}` is a block device (8 MiB), and all it holds would be lost")
    );
    assert_eq!(
        error.help(),
        format!("nothing was written; to use it, add `--overwrite-device {path}`")
    );
}

#[test]
fn another_device_s_name_does_not_count() {
    let Some(made) = Loop::new(8) else { return };
    let error = refusal(&made.device, &naming(Path::new("/dev/loop")));
    assert!(matches!(error, TargetError::Unconfirmed { .. }), "{error}");
}

#[test]
fn a_signature_is_named_and_its_device_is_admitted_when_it_is_named() {
    let Some(made) = Loop::new(512) else { return };
    if !made.make(&["mkfs.xfs", "-q", "-L", "data"]) {
        return;
    }
    let path = made.path();
    let error = refusal(&made.device, &Permission::default());
    assert_eq!(
        error.to_string(),
        format!("`{path}` holds a file system (xfs, label `data`)")
    );
    assert_eq!(
        error.help(),
        format!("nothing was written; to destroy it, add `--overwrite-device {path}`")
    );
    let facts = probe(&made.device).expect("facts");
    let held = admit_device(&facts, &naming(&made.device)).expect("admitted");
    assert!(held.writable);
    assert_eq!(held.size_bytes, 512 << 20);
}

#[test]
fn a_mounted_device_is_refused_even_when_it_is_named() {
    let Some(mut made) = Loop::new(16) else {
        return;
    };
    if !made.make(&["mkfs.ext4", "-q"]) {
        return;
    }
    let Some(point) = made.mount("rw") else {
        return;
    };
    let error = refusal(&made.device, &naming(&made.device));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: it is mounted on `{}` (ext4)",
            made.path(),
            point.display()
        )
    );
    assert_eq!(
        error.help(),
        format!(
            "nothing was written; run `umount {}` first",
            point.display()
        )
    );
}

#[test]
fn a_member_of_a_mounted_btrfs_is_refused() {
    let Some(mut made) = Loop::new(512) else {
        return;
    };
    if !made.make(&["mkfs.btrfs", "-q"]) {
        return;
    }
    let Some(point) = made.mount("rw") else {
        return;
    };
    let error = refusal(&made.device, &naming(&made.device));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: it is mounted on `{}` (btrfs)",
            made.path(),
            point.display()
        )
    );
}

#[test]
fn a_device_that_another_program_holds_is_refused() {
    let Some(made) = Loop::new(8) else { return };
    let facts = probe(&made.device).expect("facts");
    let _held = admit_device(&facts, &naming(&made.device)).expect("admitted");
    let error = refusal(&made.device, &naming(&made.device));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: the kernel or another program holds it",
            made.path()
        )
    );
    assert_eq!(
        error.help(),
        "nothing was written; end what holds it, or choose another device"
    );
}

#[test]
fn a_device_behind_a_loop_device_is_refused() {
    let Some(made) = Loop::new(8) else { return };
    let Some(second) = run(&["losetup", "--find", "--show", made.path()]) else {
        println!("skipped: no second loop device can be had");
        return;
    };
    let error = refusal(&made.device, &naming(&made.device));
    run(&["losetup", "--detach", &second]);
    let name = second.trim_start_matches("/dev/");
    assert_eq!(
        error.to_string(),
        format!("`{}` is in use: it is behind `{name}`", made.path())
    );
}

#[test]
fn swap_space_in_use_is_refused() {
    let Some(made) = Loop::new(16) else { return };
    if !made.make(&["mkswap"]) || !made.make(&["swapon"]) {
        return;
    }
    let error = refusal(&made.device, &naming(&made.device));
    let freed = made.make(&["swapoff"]);
    assert_eq!(
        error.to_string(),
        format!("`{}` is in use: it is swap space", made.path())
    );
    assert_eq!(
        error.help(),
        format!("nothing was written; run `swapoff {}` first", made.path())
    );
    assert!(freed);
}

#[test]
fn a_read_only_device_is_refused_for_writing_and_admitted_for_reading() {
    let Some(made) = Loop::read_only(8) else {
        return;
    };
    let error = refusal(&made.device, &naming(&made.device));
    assert_eq!(
        error.to_string(),
        format!(
            "target `{}` is read-only (the device itself is)",
            made.path()
        )
    );
    let reading = Permission {
        read_only: true,
        ..Permission::default()
    };
    let facts = probe(&made.device).expect("facts");
    assert!(!admit_device(&facts, &reading).expect("admitted").writable);
}

#[test]
fn partitions_parents_and_holders_count() {
    let root = tempfile::tempdir().expect("a directory");
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    };
    for (path, text) in [
        ("block/sda/dev", "8:0"),
        ("block/sda/size", "99"),
        ("block/sda/sda1/dev", "8:1"),
        ("block/sda/sda1/size", "9"),
        ("block/sda/sda1/partition", "1"),
        ("block/sda/sda2/dev", "8:2"),
        ("block/sda/sda2/size", "9"),
        ("block/sda/sda2/partition", "2"),
        ("block/sdb/dev", "8:16"),
        ("block/sdb/size", "9"),
        ("block/sdb/holders/md0/x", ""),
    ] {
        put(path, text);
    }
    std::fs::create_dir_all(root.path().join("dev/block")).expect("a directory");
    for (number, path) in [
        ("8:0", "sda"),
        ("8:1", "sda/sda1"),
        ("8:2", "sda/sda2"),
        ("8:16", "sdb"),
    ] {
        let from = root.path().join("dev/block").join(number);
        std::os::unix::fs::symlink(root.path().join("block").join(path), from).expect("a link");
    }
    let mount = Mount {
        id: 1,
        device: (8, 1),
        root: "/".into(),
        point: "/home".into(),
        file_system: "ext4".to_owned(),
        source: "/dev/sda1".to_owned(),
        ..Mount::default()
    };
    let mut system = InUse {
        sys: Sysfs::at(root.path()),
        mounts: vec![mount],
        swaps: String::new(),
    };
    let what = |system: &InUse, number| system.usage(number).map(|usage| usage.what);
    let told = "`sda1` is mounted on `/home` (ext4)";
    assert_eq!(what(&system, (8, 0)).as_deref(), Some(told));
    assert_eq!(
        what(&system, (8, 1)).as_deref(),
        Some("it is mounted on `/home` (ext4)")
    );
    // A partition beside a mounted one is free; only its disk must not be used as a whole.
    assert_eq!(what(&system, (8, 2)), None);
    assert_eq!(what(&system, (8, 16)).as_deref(), Some("it is part of md0"));
    system.mounts[0].device = (8, 0);
    let told = "`sda` is mounted on `/home` (ext4)";
    assert_eq!(what(&system, (8, 2)).as_deref(), Some(told));
    let help = |system: &InUse| system.usage((8, 0)).expect("a usage").release;
    assert_eq!(help(&system), "run `umount /home` first");
    // Nobody can do that.
    system.mounts[0].point = "/".into();
    assert_eq!(
        help(&system),
        "name another device: this system runs from it"
    );
}
