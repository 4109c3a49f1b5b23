use super::*;
use crate::lab::{LoopMount, run};
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
fn a_device_without_permission_to_overwrite_is_refused() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let error = refusal(&mount.device, &Permission::default());
    let path = mount.path();
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
fn permission_for_another_device_does_not_count() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let error = refusal(&mount.device, &naming(Path::new("/dev/loop")));
    assert!(matches!(error, TargetError::Unconfirmed { .. }), "{error}");
}

#[test]
fn a_device_with_a_signature_is_admitted_only_when_named() {
    let Some(mount) = LoopMount::new(512) else {
        return;
    };
    if !mount.make(&["mkfs.xfs", "-q", "-L", "data"]) {
        return;
    }
    let path = mount.path();
    let error = refusal(&mount.device, &Permission::default());
    assert_eq!(
        error.to_string(),
        format!("`{path}` holds a file system (xfs, label `data`)")
    );
    assert_eq!(
        error.help(),
        format!("nothing was written; to destroy it, add `--overwrite-device {path}`")
    );
    let facts = probe(&mount.device).expect("facts");
    let held = admit_device(&facts, &naming(&mount.device)).expect("admitted");
    assert!(held.writable);
    assert_eq!(held.size_bytes, 512 << 20);
}

#[test]
fn a_mounted_device_is_refused_even_when_it_is_named() {
    let Some(mut mount) = LoopMount::new(16) else {
        return;
    };
    if !mount.make(&["mkfs.ext4", "-q"]) {
        return;
    }
    let Some(point) = mount.mount("rw") else {
        return;
    };
    let error = refusal(&mount.device, &naming(&mount.device));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: it is mounted on `{}` (ext4)",
            mount.path(),
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
    let Some(mut mount) = LoopMount::new(512) else {
        return;
    };
    if !mount.make(&["mkfs.btrfs", "-q"]) {
        return;
    }
    let Some(point) = mount.mount("rw") else {
        return;
    };
    let error = refusal(&mount.device, &naming(&mount.device));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: it is mounted on `{}` (btrfs)",
            mount.path(),
            point.display()
        )
    );
}

#[test]
fn a_device_that_another_program_holds_is_refused() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let facts = probe(&mount.device).expect("facts");
    let _held = admit_device(&facts, &naming(&mount.device)).expect("admitted");
    let error = refusal(&mount.device, &naming(&mount.device));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: it is held by the kernel or another program",
            mount.path()
        )
    );
    assert_eq!(
        error.help(),
        "nothing was written; stop what holds it, or choose another device"
    );
}

#[test]
fn a_device_that_backs_a_loop_device_is_refused() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let Some(second) = run(&["losetup", "--find", "--show", mount.path()]) else {
        println!("skipped: no second loop device can be had");
        return;
    };
    let error = refusal(&mount.device, &naming(&mount.device));
    run(&["losetup", "--detach", &second]);
    let name = second.trim_start_matches("/dev/");
    assert_eq!(
        error.to_string(),
        format!("`{}` is in use: loop device `{name}` uses it", mount.path())
    );
}

#[test]
fn swap_space_in_use_is_refused() {
    let Some(mount) = LoopMount::new(16) else {
        return;
    };
    if !mount.make(&["mkswap"]) || !mount.make(&["swapon"]) {
        return;
    }
    let error = refusal(&mount.device, &naming(&mount.device));
    let freed = mount.make(&["swapoff"]);
    assert_eq!(
        error.to_string(),
        format!("`{}` is in use: it is swap space", mount.path())
    );
    assert_eq!(
        error.help(),
        format!("nothing was written; run `swapoff {}` first", mount.path())
    );
    assert!(freed);
}

#[test]
fn a_read_only_device_is_refused_for_writing_and_admitted_for_reading() {
    let Some(mount) = LoopMount::read_only(8) else {
        return;
    };
    let error = refusal(&mount.device, &naming(&mount.device));
    assert_eq!(
        error.to_string(),
        format!(
            "target `{}` is read-only (the device itself is)",
            mount.path()
        )
    );
    let reading = Permission {
        read_only: true,
        ..Permission::default()
    };
    let facts = probe(&mount.device).expect("facts");
    assert!(!admit_device(&facts, &reading).expect("admitted").writable);
}

#[test]
fn use_is_found_in_partitions_parents_and_holders() {
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
    let mount = MountLine {
        id: 1,
        device: (8, 1),
        root: "/".into(),
        point: "/home".into(),
        file_system: "ext4".to_owned(),
        source: "/dev/sda1".to_owned(),
        ..MountLine::default()
    };
    let mut system = InUse {
        sys: Sysfs::at(root.path()),
        mounts: vec![mount],
        swaps: String::new(),
    };
    let usage_of = |system: &InUse, number| system.usage(number).map(|usage| usage.description);
    let expected = "`sda1` is mounted on `/home` (ext4)";
    assert_eq!(usage_of(&system, (8, 0)).as_deref(), Some(expected));
    assert_eq!(
        usage_of(&system, (8, 1)).as_deref(),
        Some("it is mounted on `/home` (ext4)")
    );
    // A partition next to a mounted one is free; only its disk must not be used as a whole.
    assert_eq!(usage_of(&system, (8, 2)), None);
    let expected = "it is part of md0";
    assert_eq!(usage_of(&system, (8, 16)).as_deref(), Some(expected));
    system.mounts[0].device = (8, 0);
    let expected = "`sda` is mounted on `/home` (ext4)";
    assert_eq!(usage_of(&system, (8, 2)).as_deref(), Some(expected));
    let help = |system: &InUse| system.usage((8, 0)).expect("a usage").release;
    assert_eq!(help(&system), "run `umount /home` first");
    // Nobody can do that.
    system.mounts[0].point = "/".into();
    let expected = "name another device: this system runs from it";
    assert_eq!(help(&system), expected);
}

/// A second loop device on the image of another, detached when dropped.
struct Second(String);

impl Second {
    fn on(image: &Path, options: &[&str]) -> Option<Self> {
        let image = image.to_str().expect("a plain path");
        let device = run(&[&["losetup", "--find", "--show"], options, &[image]].concat());
        if device.is_none() {
            println!("skipped: no second loop device can be had");
        }
        device.map(Self)
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        run(&["losetup", "--detach", &self.0]);
    }
}

#[test]
fn a_second_loop_device_on_a_mounted_image_is_refused() {
    let Some(mut mount) = LoopMount::new(16) else {
        return;
    };
    // The image by another name is the same image.
    let image = mount.directory.path().join("image");
    let link = mount.directory.path().join("link");
    std::fs::hard_link(&image, &link).expect("a link");
    if !mount.make(&["mkfs.ext4", "-q"]) {
        return;
    }
    let Some(point) = mount.mount("rw") else {
        return;
    };
    let Some(second) = Second::on(&link, &[]) else {
        return;
    };
    let device = Path::new(&second.0);
    let error = refusal(device, &naming(device));
    let name = mount.path().trim_start_matches("/dev/");
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: `{name}` is on the same image, `{}`, and mounted on `{}`",
            second.0,
            link.display(),
            point.display()
        )
    );
    assert_eq!(
        error.help(),
        format!("nothing was written; run `losetup -d /dev/{name}` first")
    );
}

#[test]
fn loop_devices_on_disjoint_parts_of_an_image_are_independent() {
    let Some(mount) = LoopMount::new(1) else {
        return;
    };
    let image = mount.directory.path().join("image");
    let file = std::fs::File::options().write(true).open(&image);
    file.expect("the image").set_len(2 << 20).expect("its size");
    let Some(second) = Second::on(&image, &["--offset", "1048576"]) else {
        return;
    };
    let device = PathBuf::from(&second.0);
    let facts = probe(&device).expect("facts");
    admit_device(&facts, &naming(&device)).expect("admitted");
    let Some(third) = Second::on(&image, &["--offset", "1572864"]) else {
        return;
    };
    let error = refusal(&device, &naming(&device));
    let name = third.0.trim_start_matches("/dev/");
    assert!(
        error
            .to_string()
            .contains(&format!("`{name}` is on the same image")),
        "{error}"
    );
}

#[test]
fn an_image_with_a_loop_device_is_refused_even_if_pgmeter_created_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("disk.img");
    let mut claim = crate::manifest_location::ManifestLocation::of_file(&path, None)
        .expect("a place")
        .claim("r")
        .expect("a claim");
    let entry = crate::manifest::ManifestFile {
        name: "disk.img".to_owned(),
        size_bytes: 1 << 20,
        inode: None,
        content: plan::ContentPlan::Zero,
        seed: 1,
        verify_block_bytes: None,
        complete: true,
    };
    let file = std::fs::File::from(claim.create(entry).expect("a file"));
    file.set_len(1 << 20).expect("its size");
    claim.manifest.owner = None;
    claim.save().expect("saved");
    drop((file, claim));
    crate::admit(&path, &Permission::default()).expect("admitted");
    if !rustix::process::geteuid().is_root() {
        println!("skipped: loop devices need root");
        return;
    }
    let Some(on_it) = Second::on(&path, &[]) else {
        return;
    };
    let error = crate::admit(&path, &Permission::default()).expect_err("a refusal");
    let name = on_it.0.trim_start_matches("/dev/");
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is in use: loop device `{name}` uses it",
            path.display()
        )
    );
}

/// A tree like `/sys` of disks 8:0, 8:16, ... and what is built on them.
struct Disks {
    root: tempfile::TempDir,
    system: InUse,
}

impl Disks {
    fn new(devices: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(root.path().join("dev/block")).expect("a directory");
        let system = InUse {
            sys: Sysfs::at(root.path()),
            mounts: Vec::new(),
            swaps: String::new(),
        };
        let disks = Self { root, system };
        for (name, number) in devices {
            disks.put(&format!("block/{name}/dev"), number);
            disks.put(&format!("block/{name}/size"), "99");
            disks.link(&format!("block/{name}"), &format!("dev/block/{number}"));
        }
        disks
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    }

    fn link(&self, to: &str, from: &str) {
        let from = self.root.path().join(from);
        std::fs::create_dir_all(from.parent().expect("a parent")).expect("directories");
        std::os::unix::fs::symlink(self.root.path().join(to), from).expect("a link");
    }

    /// Builds one device on another, as the kernel shows it on both.
    fn build(&self, upper: &str, lower: &str) {
        self.link(
            &format!("block/{lower}"),
            &format!("block/{upper}/slaves/{lower}"),
        );
        self.link(
            &format!("block/{upper}"),
            &format!("block/{lower}/holders/{upper}"),
        );
    }

    fn mount(&mut self, device: DeviceNumber) {
        self.system.mounts = vec![MountLine {
            device,
            point: "/data".into(),
            file_system: "xfs".to_owned(),
            ..MountLine::default()
        }];
    }

    fn what(&self, number: DeviceNumber) -> Option<String> {
        self.system.usage(number).map(|usage| usage.description)
    }
}

#[test]
fn all_layers_below_a_device_count_and_its_siblings_do_not() {
    let devices = [
        ("sda", "8:0"),
        ("sdb", "8:16"),
        ("md0", "9:0"),
        ("dm-0", "252:0"),
        ("dm-1", "252:1"),
    ];
    let mut disks = Disks::new(&devices);
    for (upper, lower) in [
        ("md0", "sda"),
        ("md0", "sdb"),
        ("dm-0", "md0"),
        ("dm-1", "md0"),
    ] {
        disks.build(upper, lower);
    }
    assert_eq!(disks.what((252, 0)), None);
    assert_eq!(disks.what((8, 16)).as_deref(), Some("it is part of md0"));
    assert_eq!(
        disks.what((9, 0)).as_deref(),
        Some("it is part of dm-0, dm-1")
    );
    // Another logical volume has other parts of the array.
    disks.mount((252, 1));
    assert_eq!(disks.what((252, 0)), None);
    for (lower, name) in [((8, 16), "sdb"), ((9, 0), "md0")] {
        disks.mount(lower);
        assert_eq!(
            disks.what((252, 0)),
            Some(format!("`{name}` is mounted on `/data` (xfs)"))
        );
    }
}

#[test]
fn use_through_another_path_to_the_same_disk_counts() {
    let mut disks = Disks::new(&[("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32")]);
    for (name, worldwide) in [
        ("sda", "naa.5000"),
        ("sdb", "naa.5000"),
        ("sdc", "naa.5001"),
    ] {
        disks.put(&format!("block/{name}/device/wwid"), worldwide);
    }
    disks.mount((8, 0));
    assert_eq!(
        disks.what((8, 16)).as_deref(),
        Some("it is mounted on `/data` (xfs)")
    );
    assert_eq!(disks.what((8, 32)), None);
    // Names that makers make up are not believed.
    for name in ["sda", "sdb"] {
        disks.put(&format!("block/{name}/device/wwid"), "t10.DISK");
    }
    assert_eq!(disks.what((8, 16)), None);
}

#[test]
fn a_bcache_cache_device_is_in_use() {
    let disks = Disks::new(&[("sda", "8:0"), ("bcache0", "251:0")]);
    for name in ["sda", "bcache0"] {
        disks.put(&format!("block/{name}/bcache/state"), "");
    }
    assert_eq!(disks.what((8, 0)).as_deref(), Some("it is part of bcache"));
    assert_eq!(disks.what((251, 0)), None);
}
