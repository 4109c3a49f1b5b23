//! Unmounts a file system and mounts it again with the same options, to drop all of its cached
//! data.
//!
//! All obstacles are detected before anything is changed.

mod note;
mod put_back;

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, unmount,
};

use crate::TargetError;
use crate::mounts::{MountLine, mount_at, mounts};
use crate::sysfs::{Sysfs, parsed, split};

use note::{Note, NoteDirectory, NoteFile};

pub use put_back::{RestoreFailure, RestoredMount, restore_mounts};

/// A ring or file that was just closed keeps its file system busy for a moment.
const BUSY_ATTEMPTS: u32 = 40;
const BUSY_WAIT: Duration = Duration::from_millis(50);
const IN_WORKING_DIRECTORY: &str = "the working directory of this program is in it";

/// A mount that can be removed and restored.
#[derive(Debug)]
pub(crate) struct Remount {
    mount: MountLine,
    /// Note for the time in which it is unmounted, and its directory.
    note: Note,
    notes: PathBuf,
}

/// Result of an attempt.
pub(crate) enum RemountResult {
    /// It is mounted as before. An error means that its caches may not be empty.
    Mounted(Result<(), TargetError>),
    /// It is no longer mounted.
    Unmounted(Errno),
}

impl Remount {
    /// Finds the mount that contains a directory, and checks that it can be removed and restored.
    pub(crate) fn check(path: &Path) -> Result<Self, TargetError> {
        let refused = |at: &Path, reason: String| {
            let path = at.to_owned();
            Err(TargetError::NoRemount { path, reason })
        };
        let table = mounts();
        let Some(mount) = mount_at(path, &table) else {
            return refused(path, "it is not in `/proc/self/mountinfo`".to_owned());
        };
        let point = &mount.point;
        let found = against(mount, &table).or_else(|| why_not_restorable(mount));
        if let Some(reason) = found {
            return refused(point, reason);
        }
        if mount_at(point, &table).map(|top| top.id) != Some(mount.id) {
            return refused(point, "something else is mounted over it".to_owned());
        }
        if !rustix::process::geteuid().is_root() {
            return refused(point, "that needs root".to_owned());
        }
        if is_working_in(point) {
            return refused(point, IN_WORKING_DIRECTORY.to_owned());
        }
        // Checked while the file system is still mounted.
        if let Err((option, error)) = context(mount) {
            let error = std::io::Error::from(error);
            return refused(point, format!("`{option}` cannot be set again: {error}"));
        }
        match Note::of(mount) {
            Ok(note) => Ok(Self {
                mount: mount.clone(),
                note,
                notes: note::place(),
            }),
            Err(error) => refused(point, format!("`{}` cannot be read: {error}", mount.source)),
        }
    }

    pub(crate) fn point(&self) -> &Path {
        &self.mount.point
    }

    /// The command to mount it again.
    pub(crate) fn command(&self) -> String {
        command(&self.mount)
    }

    /// Unmounts and mounts it again. No files may be open in it.
    ///
    /// If the process is killed in between, it leaves a note, and [`restore_mounts`] mounts the
    /// file system again.
    pub(crate) fn cycle(&self) -> RemountResult {
        // Written before the unmount: from then on, only the note knows how to mount it again.
        let note_file = match self.write_note() {
            Ok(left) => left,
            Err(error) => return RemountResult::Mounted(Err(error)),
        };
        // All preparations come first, to keep the time without the mount short. The superblock
        // must go, because it holds the caches. A detached copy of the mount would keep it alive.
        let prepared = context(&self.mount);
        self.write_back();
        // Never lazily (`MNT_DETACH`), because the superblock with its caches would then live on.
        let unmounted = retry_while_busy(|| unmount(self.point(), UnmountFlags::NOFOLLOW));
        if let Err(error) = unmounted {
            note_file.remove();
            return RemountResult::Mounted(Err(self.refused(self.why_busy(error))));
        }
        // Another mount that this process cannot see may keep the file system alive.
        let released = retry_while_busy(|| {
            let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
            rustix::fs::open(&self.mount.source, flags, Mode::empty()).map(drop)
        });
        let mounted = prepared
            .map_err(|(_, error)| error)
            .and_then(|context| mount_on(&self.mount, &context, None))
            // A context can be used only once, so every further attempt makes a new one.
            .or_else(|_| retry_while_busy(|| mount_again(&self.mount)));
        if let Err(error) = mounted {
            return RemountResult::Unmounted(error);
        }
        note_file.remove();
        let source = &self.mount.source;
        RemountResult::Mounted(released.map_err(|_| {
            self.refused(format!(
                "`{source}` is still in use, perhaps mounted in another container"
            ))
        }))
    }

    fn write_note(&self) -> Result<NoteFile, TargetError> {
        let note_file = NoteDirectory::make(&self.notes).and_then(|notes| notes.leave(&self.note));
        note_file.map_err(|error| {
            let notes = self.notes.display();
            self.refused(format!("no note can be written in `{notes}`: {error}"))
        })
    }

    /// Dirty data would slow down the unmount.
    fn write_back(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(root) = rustix::fs::open(self.point(), flags, Mode::empty()) {
            let _ = rustix::fs::syncfs(&root);
        }
    }

    fn refused(&self, reason: String) -> TargetError {
        TargetError::NoRemount {
            path: self.point().to_owned(),
            reason,
        }
    }

    fn why_busy(&self, error: Errno) -> String {
        match error {
            Errno::BUSY if is_working_in(self.point()) => IN_WORKING_DIRECTORY.to_owned(),
            Errno::BUSY => format!(
                "something has files open in it (`fuser -vm {}` lists them)",
                self.point().display()
            ),
            error => std::io::Error::from(error).to_string(),
        }
    }
}

/// `true` if the working directory of this process keeps a file system busy.
fn is_working_in(point: &Path) -> bool {
    std::env::current_dir().is_ok_and(|current| current.starts_with(point))
}

/// Retries while something is busy.
fn retry_while_busy<T>(mut attempt: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut outcome = attempt();
    for _ in 0..BUSY_ATTEMPTS {
        if !matches!(outcome, Err(Errno::BUSY | Errno::INTR)) {
            break;
        }
        std::thread::sleep(BUSY_WAIT);
        outcome = attempt();
    }
    outcome
}

/// Why a mount cannot be removed, according to the mount table; `None` if it can.
fn against(mount: &MountLine, table: &[MountLine]) -> Option<String> {
    if mount.point == Path::new("/") {
        return Some("it is the root file system".to_owned());
    }
    // On btrfs, a mount has a subvolume as its root.
    let is_subvolume = mount.option("subvol").map(Path::new) == Some(&mount.root);
    if mount.root != Path::new("/") && !is_subvolume {
        let root = mount.root.display();
        return Some(format!("it mounts only a part of a file system, `{root}`"));
    }
    let others = || table.iter().filter(|other| other.id != mount.id);
    if let Some(inner) = others().find(|other| other.parent_id == mount.id) {
        let point = inner.point.display();
        return Some(format!("`{point}` is mounted in it"));
    }
    // The other mount would keep the superblock and its caches alive.
    if let Some(twin) = others().find(|other| other.device == mount.device) {
        let point = twin.point.display();
        return Some(format!("it is also mounted on `{point}`"));
    }
    if others().any(|other| other.id == mount.parent_id && other.point == mount.point) {
        return Some("it is mounted over another mount".to_owned());
    }
    attributes(mount).err()
}

/// Why a mount cannot be restored, according to its source; `None` if it can. Without a block
/// device, its content may be lost, or mounting it may need a program.
fn why_not_restorable(mount: &MountLine) -> Option<String> {
    let (source, file_system) = (&mount.source, &mount.file_system);
    if matches!(file_system.as_str(), "tmpfs" | "ramfs") {
        return Some(format!("what is in a {file_system} would be lost"));
    }
    let found = std::fs::metadata(source).ok();
    let Some(device) = found.filter(|found| found.file_type().is_block_device()) else {
        return Some(format!("`{source}` ({file_system}) is not a block device"));
    };
    if file_system.starts_with("fuse") {
        return Some("a program serves it (FUSE)".to_owned());
    }
    let number = split(device.rdev());
    if mount.device.0 != 0 && mount.device != number {
        return Some(format!("`{source}` is another device now"));
    }
    // With autoclear, the kernel detaches the loop device when its last user, the mount, is gone.
    let is_cleared = Sysfs::default()
        .directory(number)
        .and_then(|directory| parsed::<u32>(&directory.join("loop/autoclear")));
    (is_cleared == Some(1)).then(|| {
        format!(
            "`{source}` disappears with the mount (attach it with `losetup`, not `mount -o loop`)"
        )
    })
}

/// The mount's own options, as kernel flags.
fn attributes(mount: &MountLine) -> Result<MountAttrFlags, String> {
    let mut flags = MountAttrFlags::empty();
    let mut is_strict = true;
    for option in &mount.of_mount {
        flags |= match option.as_str() {
            "rw" => MountAttrFlags::empty(),
            "ro" => MountAttrFlags::MOUNT_ATTR_RDONLY,
            "nosuid" => MountAttrFlags::MOUNT_ATTR_NOSUID,
            "nodev" => MountAttrFlags::MOUNT_ATTR_NODEV,
            "noexec" => MountAttrFlags::MOUNT_ATTR_NOEXEC,
            "nodiratime" => MountAttrFlags::MOUNT_ATTR_NODIRATIME,
            "nosymfollow" => MountAttrFlags::MOUNT_ATTR_NOSYMFOLLOW,
            "noatime" => MountAttrFlags::MOUNT_ATTR_NOATIME,
            "relatime" => MountAttrFlags::MOUNT_ATTR_RELATIME,
            other => return Err(format!("`{other}` cannot be set again")),
        };
        is_strict &= !matches!(option.as_str(), "noatime" | "relatime");
    }
    // The mount table does not list it, and the kernel's default differs.
    if is_strict {
        flags |= MountAttrFlags::MOUNT_ATTR_STRICTATIME;
    }
    Ok(flags)
}

/// A new file system context with the options, ready to mount; or the option that the kernel
/// refuses.
fn context(mount: &MountLine) -> Result<OwnedFd, (String, Errno)> {
    let file_system = mount.file_system.as_str();
    let context = fsopen(file_system, FsOpenFlags::FSOPEN_CLOEXEC)
        .map_err(|error| (file_system.to_owned(), error))?;
    fsconfig_set_string(&context, "source", mount.source.as_str())
        .map_err(|error| (mount.source.clone(), error))?;
    for option in &mount.of_file_system {
        match option.split_once('=') {
            Some((key, value)) => fsconfig_set_string(&context, key, value),
            None => fsconfig_set_flag(&context, option.as_str()),
        }
        .map_err(|error| (option.clone(), error))?;
    }
    Ok(context)
}

fn mount_again(mount: &MountLine) -> Result<(), Errno> {
    let context = context(mount).map_err(|(_, error)| error)?;
    mount_on(mount, &context, None)
}

/// Mounts it at the old mount point, or on an open directory.
fn mount_on(mount: &MountLine, context: &OwnedFd, point: Option<&OwnedFd>) -> Result<(), Errno> {
    fsconfig_create(context)?;
    let flags = attributes(mount).map_err(|_| Errno::INVAL)?;
    let detached = fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    let empty = Path::new("");
    let move_flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    let (directory, path, how) = match point {
        Some(point) => {
            let move_flags = move_flags | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
            (point.as_fd(), empty, move_flags)
        }
        None => (CWD, mount.point.as_path(), move_flags),
    };
    move_mount(&detached, empty, directory, path, how)
}

fn command(mount: &MountLine) -> String {
    format!(
        "mount -t {} -o {} {} {}",
        mount.file_system,
        mount.options.join(","),
        mount.source,
        mount.point.display()
    )
}

#[cfg(test)]
mod tests;
