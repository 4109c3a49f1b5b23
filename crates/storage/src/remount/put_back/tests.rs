use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use results::Owner;

use super::super::note::{Note, Notes};
use super::super::{Remount, unmount};
use super::*;
use crate::lab::LoopMount;

/// A file system that a process which is gone has unmounted, and its note.
struct Killed {
    device: LoopMount,
    point: PathBuf,
    notes: tempfile::TempDir,
}

impl Killed {
    /// None, with the reason printed, where file systems cannot be mounted.
    fn new(change: impl FnOnce(&mut Note)) -> Option<Self> {
        let mut device = LoopMount::new(64)?;
        if !device.make(&["mkfs.ext4", "-q", "-F"]) {
            return None;
        }
        let point = device.mount("nosuid,noatime")?;
        let mut note = Remount::check(&point).expect("possible").note;
        // Its number is in use, but not by a process that began then.
        note.owner.started_ticks = 1;
        change(&mut note);
        let notes = tempfile::tempdir().expect("a directory");
        let left = Notes::make(notes.path()).and_then(|notes| notes.leave(&note));
        drop(left.expect("a note"));
        unmount(&point, rustix::mount::UnmountFlags::NOFOLLOW).expect("unmounted");
        Some(Self {
            device,
            point,
            notes,
        })
    }

    fn put_back(&self) -> Vec<PutBack> {
        put_back_by(self.notes.path())
    }

    fn is_mounted(&self) -> bool {
        mounts().iter().any(|mount| mount.point == self.point)
    }

    fn note_count(&self) -> usize {
        fs::read_dir(self.notes.path()).expect("a listing").count()
    }
}

#[test]
fn what_a_killed_run_unmounted_is_mounted_again_as_it_was() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    let draft = killed.notes.path().join("remount-4294967295-1.json.new");
    fs::write(draft, "{").expect("written");
    let done = killed.put_back();
    assert_eq!(done.len(), 1, "{done:?}");
    assert!(done[0].outcome.is_ok(), "{done:?}");
    let table = mounts();
    let mount = table.iter().find(|mount| mount.point == killed.point);
    let mount = mount.expect("it is mounted");
    assert_eq!(mount.source, killed.device.path());
    assert_eq!(mount.of_mount, ["rw", "nosuid", "noatime"]);
    assert_eq!(killed.note_count(), 0);
    assert!(killed.put_back().is_empty());
}

#[test]
fn what_a_run_at_work_has_unmounted_is_left_to_it() {
    let Some(killed) = Killed::new(|note| note.owner = Owner::current()) else {
        return;
    };
    assert!(killed.put_back().is_empty());
    assert!(!killed.is_mounted());
    assert_eq!(killed.note_count(), 1);
}

#[test]
fn another_file_system_on_the_device_is_not_mounted() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    assert!(killed.device.make(&["mkfs.ext4", "-q", "-F"]));
    let done = killed.put_back();
    let [only] = &done[..] else {
        panic!("{done:?}");
    };
    assert!(matches!(only.outcome, Err(NotPutBack::OtherDevice(_))));
    assert!(!killed.is_mounted());
    assert_eq!(killed.note_count(), 0);
}

#[test]
fn a_mount_point_that_became_a_link_is_not_followed() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    let elsewhere = killed.device.directory.path().join("elsewhere");
    fs::rename(&killed.point, &elsewhere).expect("renamed");
    std::os::unix::fs::symlink(&elsewhere, &killed.point).expect("a link");
    let done = killed.put_back();
    assert!(matches!(done[0].outcome, Err(NotPutBack::Refused(_))));
    assert!(mounts().iter().all(|mount| mount.point != elsewhere));
    // It may be tried again.
    assert_eq!(killed.note_count(), 1);
}

#[test]
fn notes_that_others_can_have_written_are_not_followed() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let note = fs::read_dir(killed.notes.path()).expect("a listing").next();
    let note = note.expect("a note").expect("an entry").path();
    set(&note, 0o666);
    assert!(killed.put_back().is_empty());
    set(&note, 0o600);
    set(killed.notes.path(), 0o777);
    assert!(killed.put_back().is_empty());
    set(killed.notes.path(), 0o700);
    std::os::unix::fs::chown(&note, Some(65534), None).expect("another owner");
    assert!(killed.put_back().is_empty());
    assert!(!killed.is_mounted());
    assert_eq!(fs::metadata(&note).expect("it stays").uid(), 65534);
}
