use super::*;
use crate::lab::LoopMount;
use crate::mounts::parse;

const TABLE: &str = "\
1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw
2 1 8:2 / /alone rw,nosuid,noatime - xfs /dev/sda2 rw,inode64
3 1 8:3 / /outer rw - ext4 /dev/sda3 rw
4 3 0:30 / /outer/inner rw - tmpfs tmpfs rw
5 1 8:4 / /twin rw - ext4 /dev/sda4 rw
6 1 8:4 /part /part rw - ext4 /dev/sda4 rw
7 1 0:40 /home /home rw - btrfs /dev/sdb rw,subvolid=256,subvol=/home
8 1 0:41 /home/me /me rw - btrfs /dev/sdc rw,subvolid=256,subvol=/home
9 1 0:50 / /auto rw - autofs systemd-1 rw
10 9 8:6 / /auto rw - ext4 /dev/sda6 rw
11 1 8:7 / /mapped rw,idmapped - ext4 /dev/sda7 rw
";

fn reason(point: &str) -> Option<String> {
    let table = parse(TABLE);
    let mount = table.iter().rfind(|mount| mount.point == Path::new(point));
    against(mount.expect("a mount"), &table)
}

#[test]
fn a_separate_file_system_may_be_unmounted() {
    assert_eq!(reason("/alone"), None);
    assert_eq!(reason("/home"), None);
}

#[test]
fn file_systems_that_others_rely_on_are_not_unmounted() {
    let refusal = |point| reason(point).expect("a reason");
    assert_eq!(refusal("/"), "it is the root file system");
    assert_eq!(refusal("/outer"), "`/outer/inner` is mounted in it");
    assert_eq!(refusal("/twin"), "it is also mounted on `/part`");
    assert_eq!(
        refusal("/part"),
        "it mounts only a part of a file system, `/part`"
    );
    assert_eq!(
        refusal("/me"),
        "it mounts only a part of a file system, `/home/me`"
    );
    assert_eq!(refusal("/auto"), "it is mounted over another mount");
    assert_eq!(refusal("/mapped"), "`idmapped` cannot be set again");
}

#[test]
fn file_systems_without_a_block_device_are_not_unmounted() {
    let refusal = |line: &str| {
        let table = parse(line);
        why_not_restorable(&table[0]).expect("a reason")
    };
    assert_eq!(
        refusal("4 3 0:30 / /m rw - tmpfs tmpfs rw"),
        "what is in a tmpfs would be lost"
    );
    assert_eq!(
        refusal("4 3 0:30 / /m rw - nfs4 server:/export rw"),
        "`server:/export` (nfs4) is not a block device"
    );
    assert_eq!(
        refusal("4 3 0:30 / /m rw - overlay overlay rw,lowerdir=/a"),
        "`overlay` (overlay) is not a block device"
    );
    assert_eq!(
        refusal("4 3 1:3 / /m rw - ext4 /dev/null rw"),
        "`/dev/null` (ext4) is not a block device"
    );
}

#[test]
fn mount_flags_keep_the_access_time_mode() {
    let flags = |options: &str| {
        let table = parse(&format!("1 0 8:1 / /m {options} - ext4 /dev/sda1 rw"));
        attributes(&table[0]).expect("flags")
    };
    assert_eq!(flags("rw"), MountAttrFlags::MOUNT_ATTR_STRICTATIME);
    assert_eq!(flags("rw,relatime"), MountAttrFlags::MOUNT_ATTR_RELATIME);
    assert_eq!(
        flags("ro,nosuid,nodev,noatime,nodiratime"),
        MountAttrFlags::MOUNT_ATTR_RDONLY
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOATIME
            | MountAttrFlags::MOUNT_ATTR_NODIRATIME
    );
}

#[test]
fn the_manual_mount_command_is_complete() {
    let mount = parse("2 1 8:2 / /m rw,noatime - xfs /dev/sda2 rw,inode64").remove(0);
    assert_eq!(
        command(&mount),
        "mount -t xfs -o rw,noatime,inode64 /dev/sda2 /m"
    );
}

#[test]
fn a_failed_remount_is_reported_with_the_command_to_repair_it() {
    let Some(mut device) = LoopMount::new(64) else {
        return;
    };
    if !device.make(&["mkfs.ext4", "-q", "-F"]) {
        return;
    }
    let Some(point) = device.mount("rw") else {
        return;
    };
    let mut remount = Remount::check(&point).expect("possible");
    remount.mount.source = "/dev/pgmeter-no-such".to_owned();
    let notes = tempfile::tempdir().expect("a directory");
    remount.notes = notes.path().to_owned();
    let RemountResult::Unmounted(source) = remount.cycle() else {
        panic!("it is mounted from nothing");
    };
    assert_eq!(source, Errno::NOENT);
    let note_count = std::fs::read_dir(notes.path()).expect("a listing").count();
    assert_eq!(note_count, 1, "the next run puts it back");
    assert!(mounts().iter().all(|mount| mount.point != point));
    let error = TargetError::RemountFailed {
        path: "/m".into(),
        command: "mount /dev/x /m".to_owned(),
        target: "/m/t".into(),
        source: source.into(),
    };
    assert_eq!(
        error.help(),
        "run `mount /dev/x /m`, then `pgmeter clean /m/t`"
    );
}

/// How often something is attempted that is busy so many times, and what becomes of it.
fn count_attempts(busy_count: u32) -> (u32, Result<(), Errno>) {
    let mut count = 0;
    let outcome = retry_while_busy(|| {
        count += 1;
        match count <= busy_count {
            true => Err(Errno::BUSY),
            false => Ok(()),
        }
    });
    (count, outcome)
}

#[test]
fn a_busy_unmount_is_retried_a_limited_number_of_times() {
    assert_eq!(count_attempts(0), (1, Ok(())));
    assert_eq!(count_attempts(3), (4, Ok(())));
    let (count, outcome) = count_attempts(u32::MAX);
    assert_eq!((count, outcome), (BUSY_ATTEMPTS + 1, Err(Errno::BUSY)));
    let mut count = 0;
    let refused: Result<(), Errno> = retry_while_busy(|| {
        count += 1;
        Err(Errno::PERM)
    });
    assert_eq!((count, refused), (1, Err(Errno::PERM)));
}
