//! Stacks of a made-up system, and of this one.

use std::os::unix::fs::symlink;

use super::*;

/// Disks `sda` (8:0) and `sdb` (8:16), `md0` (9:0) of both, `zram0` (252:0), `dm-0` (254:0) on the
/// partition `vda1` (253:1), and a mapping that is made of itself, `dm-1` (254:1).
fn made_up() -> (tempfile::TempDir, Survey) {
    let root = tempfile::tempdir().expect("a directory");
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
    };
    let link = |to: &str, from: &str| {
        let from = root.path().join(from);
        fs::create_dir_all(from.parent().expect("a parent")).expect("directories");
        symlink(root.path().join(to), from).expect("a link");
    };
    let numbers = [
        ("sda", "8:0"),
        ("sdb", "8:16"),
        ("md0", "9:0"),
        ("zram0", "252:0"),
        ("vda", "253:0"),
        ("vda/vda1", "253:1"),
        ("dm-0", "254:0"),
        ("dm-1", "254:1"),
    ];
    for (name, number) in numbers {
        put(&format!("block/{name}/dev"), number);
        put(&format!("block/{name}/size"), "2048");
        link(&format!("block/{name}"), &format!("dev/block/{number}"));
    }
    put("block/sda/device/model", "Turner\u{1b}[31m 3");
    put("block/sda/queue/rotational", "1");
    put("block/sdb/queue/rotational", "0");
    put("block/md0/md/level", "raid1");
    link("block/sda", "block/md0/slaves/sda");
    link("block/sdb", "block/md0/slaves/sdb");
    put("block/zram0/comp_algorithm", "lzo [lz4] zstd");
    put("block/vda/vda1/partition", "1");
    put("block/dm-0/dm/uuid", "CRYPT-LUKS2-0123-home");
    put("block/dm-0/dm/name", "home");
    link("block/vda/vda1", "block/dm-0/slaves/vda1");
    link("block/dm-1", "block/dm-1/slaves/dm-1");
    let survey = Survey {
        sys: Sysfs::at(root.path()),
        mounts: Vec::new(),
    };
    (root, survey)
}

fn mount(file_system: &str, source: &str, device: (u32, u32)) -> MountLine {
    MountLine {
        file_system: file_system.to_owned(),
        source: source.to_owned(),
        device,
        ..MountLine::default()
    }
}

#[test]
fn the_stack_names_every_layer_down_to_the_medium() {
    let (_root, survey) = made_up();
    let under = |kind, device| survey.file_system(&mount(kind, "x", device), DEPTH_MAX);
    let volume = under("ext4", (254, 0));
    assert_eq!(
        volume.text,
        "ext4 on /dev/dm-0 (encrypted home) on /dev/vda1 on /dev/vda (virtio)"
    );
    assert_eq!((volume.medium, volume.has_device), (Medium::Device, true));
    let raid = under("xfs", (9, 0));
    assert_eq!(
        raid.text,
        "xfs on /dev/md0 (raid1) on 2 devices: /dev/sda (Turner\u{1b}[31m 3, rotates); \
         /dev/sdb (solid state)"
    );
    let compressed = under("ext2", (252, 0));
    assert_eq!(compressed.text, "ext2 on /dev/zram0 (memory, lz4)");
    assert_eq!(compressed.medium, Medium::Memory);
}

#[test]
fn file_systems_without_a_device_name_their_server_or_memory() {
    let (_root, survey) = made_up();
    let under = |kind, source| survey.file_system(&mount(kind, source, (0, 9)), DEPTH_MAX);
    let memory = under("tmpfs", "tmpfs");
    assert_eq!(memory.text, "tmpfs (memory)");
    assert_eq!((memory.medium, memory.has_device), (Medium::Memory, false));
    let network = under("nfs4", "server:/export");
    assert_eq!(network.text, "nfs4 of server:/export (network)");
    assert_eq!(network.medium, Medium::External);
    let program = under("fuse.sshfs", "me@host:");
    assert_eq!(program.text, "fuse.sshfs of me@host: (a program)");
    let unknown = under("zfs", "pool");
    assert_eq!(
        (unknown.text.as_str(), unknown.medium),
        ("zfs", Medium::Unknown)
    );
}

#[test]
fn a_stack_only_partly_in_memory_does_not_count_as_memory() {
    let memory = StackLayer::new("memory", Medium::Memory);
    let disk = StackLayer::new("disk", Medium::Device);
    let both = StackLayer::new("raid", Medium::Unknown).on(vec![memory.clone(), disk]);
    assert_eq!(both.medium, Medium::Device);
    let two = StackLayer::new("raid", Medium::Unknown).on(vec![memory.clone(), memory]);
    assert_eq!(two.medium, Medium::Memory);
    assert_eq!(two.text, "raid on 2 devices: memory; memory");
}

#[test]
fn a_device_that_contains_itself_ends_at_the_depth_limit() {
    let (_root, survey) = made_up();
    let layer = survey.device((254, 1), DEPTH_MAX);
    assert_eq!(layer.medium, Medium::Unknown);
    assert_eq!(layer.text.matches("dm-1").count(), DEPTH_MAX as usize + 1);
}

#[test]
fn the_stack_of_this_system_is_printable() {
    let directory = tempfile::tempdir().expect("a directory");
    let found = stack(directory.path()).expect("a stack");
    let missing = stack(&directory.path().join("new")).expect("a stack");
    assert_eq!(found, missing);
    assert_eq!(units::printable(&found.text), found.text);
    assert_eq!(stack(Path::new("/no-such-place/at/all")), None);
}
