use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use results::ProcessIdentity;

use super::super::note::{Note, NoteDirectory};
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
        let note_file = NoteDirectory::make(notes.path()).and_then(|notes| notes.leave(&note));
        drop(note_file.expect("a note"));
        unmount(&point, rustix::mount::UnmountFlags::NOFOLLOW).expect("unmounted");
        Some(Self {
            device,
            point,
            notes,
        })
    }

    fn restore_unmounted(&self) -> Vec<RestoredMount> {
        restore_from_notes(self.notes.path())
    }

    fn is_mounted(&self) -> bool {
        mounts().iter().any(|mount| mount.point == self.point)
    }

    fn note_count(&self) -> usize {
        fs::read_dir(self.notes.path()).expect("a listing").count()
    }
}

#[test]
fn file_systems_that_a_killed_run_unmounted_are_mounted_again() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    let draft = killed.notes.path().join("remount-4294967295-1.json.new");
    fs::write(draft, "{").expect("written");
    let done = killed.restore_unmounted();
    assert_eq!(done.len(), 1, "{done:?}");
    assert!(done[0].outcome.is_ok(), "{done:?}");
    let table = mounts();
    let mount = table.iter().find(|mount| mount.point == killed.point);
    let mount = mount.expect("it is mounted");
    assert_eq!(mount.source, killed.device.path());
    assert_eq!(mount.of_mount, ["rw", "nosuid", "noatime"]);
    assert_eq!(killed.note_count(), 0);
    assert!(killed.restore_unmounted().is_empty());
}

#[test]
fn file_systems_unmounted_by_a_running_run_are_left_alone() {
    let Some(killed) = Killed::new(|note| note.owner = ProcessIdentity::current()) else {
        return;
    };
    assert!(killed.restore_unmounted().is_empty());
    assert!(!killed.is_mounted());
    assert_eq!(killed.note_count(), 1);
}

#[test]
fn a_different_file_system_on_the_device_is_not_mounted() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    assert!(killed.device.make(&["mkfs.ext4", "-q", "-F"]));
    let done = killed.restore_unmounted();
    let [only] = &done[..] else {
        panic!("{done:?}");
    };
    assert!(matches!(only.outcome, Err(RestoreFailure::OtherDevice(_))));
    assert!(!killed.is_mounted());
    assert_eq!(killed.note_count(), 0);
}

#[test]
fn a_mount_point_that_became_a_link_is_not_followed() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    let moved = killed.device.directory.path().join("elsewhere");
    fs::rename(&killed.point, &moved).expect("renamed");
    std::os::unix::fs::symlink(&moved, &killed.point).expect("a link");
    let done = killed.restore_unmounted();
    assert!(matches!(done[0].outcome, Err(RestoreFailure::Refused(_))));
    assert!(mounts().iter().all(|mount| mount.point != moved));
    // It may be tried again.
    assert_eq!(killed.note_count(), 1);
}

#[test]
fn notes_writable_by_other_users_are_ignored() {
    let Some(killed) = Killed::new(|_| {}) else {
        return;
    };
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let note = fs::read_dir(killed.notes.path()).expect("a listing").next();
    let note = note.expect("a note").expect("an entry").path();
    set(&note, 0o666);
    assert!(killed.restore_unmounted().is_empty());
    set(&note, 0o600);
    set(killed.notes.path(), 0o777);
    assert!(killed.restore_unmounted().is_empty());
    set(killed.notes.path(), 0o700);
    std::os::unix::fs::chown(&note, Some(65534), None).expect("another owner");
    assert!(killed.restore_unmounted().is_empty());
    assert!(!killed.is_mounted());
    assert_eq!(fs::metadata(&note).expect("it stays").uid(), 65534);
}
