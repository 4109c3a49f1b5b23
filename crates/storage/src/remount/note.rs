//! Notes about file systems that are about to be unmounted, in case the process is killed before it
//! mounts them again.
//!
//! They are in a directory that only root can write and that does not survive a reboot, like the
//! mounts.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use results::ProcessIdentity;
use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, fstat, mkdir, openat, renameat,
    unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::mounts::MountLine;
use crate::signature::signature;
use crate::sysfs::{DeviceNumber, split};

pub(crate) const NOTES_DIRECTORY: &str = "/run/pgmeter";
/// Number 1 is the first format.
const FORMAT: &str = "pgmeter-remount/1";
const PREFIX: &str = "remount-";
const SUFFIX: &str = ".json";
const DRAFT_SUFFIX: &str = ".json.new";
/// Maximum size; longer files are not notes.
const NOTE_BYTES_MAX: u64 = 1 << 16;

/// A mount, the process that unmounts it, and where the note is valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    format: String,
    pub owner: ProcessIdentity,
    /// Number of the mount namespace.
    pub namespace: u64,
    /// Block device of `mount.source`.
    pub source: DeviceNumber,
    /// Content of the device, as text of [`crate::Signature`].
    pub signature: Option<String>,
    pub mount: MountLine,
}

impl Note {
    /// A note of this process.
    pub fn of(mount: &MountLine) -> io::Result<Self> {
        let (source, signature) = source(&mount.source)?;
        Ok(Self {
            format: FORMAT.to_owned(),
            owner: ProcessIdentity::current(),
            namespace: namespace()?,
            source,
            signature,
            mount: mount.clone(),
        })
    }

    fn name(&self) -> String {
        format!("{PREFIX}{}-{}{SUFFIX}", self.owner.pid, self.mount.id)
    }
}

/// Mount namespace of this process.
pub(crate) fn namespace() -> io::Result<u64> {
    Ok(std::fs::metadata("/proc/self/ns/mnt")?.ino())
}

/// Number of a block device, and its content.
pub(crate) fn source(path: &str) -> io::Result<(DeviceNumber, Option<String>)> {
    let mut device = File::open(path)?;
    let number = split(device.metadata()?.rdev());
    let size_bytes = device.seek(SeekFrom::End(0))?;
    // After a reboot or hot plug, the same number may be another device; its content tells them
    // apart.
    let found = signature(&device, size_bytes)?;
    Ok((number, found.map(|found| found.to_string())))
}

#[derive(Debug)]
pub(crate) struct NoteDirectory {
    directory: OwnedFd,
}

/// A note that exists until it is removed.
#[derive(Debug)]
pub(crate) struct NoteFile {
    directory: OwnedFd,
    name: String,
}

impl NoteDirectory {
    /// Opens the directory; creates it if necessary.
    pub fn make(path: &Path) -> io::Result<Self> {
        match mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        Self::open(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Opens the directory, if it exists.
    ///
    /// # Errors
    /// If other users could have written to it.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match openat(CWD, path, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = fstat(&directory)?;
        match is_own(found.st_uid, found.st_mode) {
            true => Ok(Some(Self { directory })),
            false => Err(io::Error::other("other users may write there")),
        }
    }

    /// Writes a note atomically.
    pub fn leave(&self, note: &Note) -> io::Result<NoteFile> {
        let name = note.name();
        let draft = name.replace(SUFFIX, DRAFT_SUFFIX);
        let _ = unlinkat(&self.directory, &draft, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.directory, &draft, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        // Not synced, because the note is useless after a crash of the machine.
        file.write_all(units::json_line(note)?.as_bytes())?;
        renameat(&self.directory, &draft, &self.directory, &name)?;
        self.left(name)
    }

    /// The trusted notes, each with a handle to remove it. Other readers have to wait until this
    /// value is dropped.
    pub fn read(&self) -> io::Result<Vec<(Note, NoteFile)>> {
        // Two processes that start together would otherwise both try to mount the same file system.
        flock(&self.directory, FlockOperation::LockExclusive)?;
        let mut notes = Vec::new();
        for entry in Dir::read_from(&self.directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if !name.starts_with(PREFIX) {
                continue;
            }
            if is_stale_draft(name) {
                let _ = unlinkat(&self.directory, name, AtFlags::empty());
            }
            if !name.ends_with(SUFFIX) {
                continue;
            }
            if let Some(note) = self.note(name)? {
                notes.push((note, self.left(name.to_owned())?));
            }
        }
        Ok(notes)
    }

    /// Reads a note; `None` if this program did not write it.
    fn note(&self, name: &str) -> io::Result<Option<Note>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = file.metadata()?;
        // The note leads to a mount as root, so only a file that root alone could write is trusted.
        if !found.is_file() || found.nlink() != 1 || !is_own(found.uid(), found.mode()) {
            return Ok(None);
        }
        let mut text = Vec::new();
        file.take(NOTE_BYTES_MAX).read_to_end(&mut text)?;
        let note = units::read_json::<Note>(&mut text.as_slice()).ok();
        // A note under another name was copied or renamed.
        Ok(note.filter(|note| note.format == FORMAT && note.name() == name))
    }

    fn left(&self, name: String) -> io::Result<NoteFile> {
        let directory = self.directory.try_clone()?;
        Ok(NoteFile { directory, name })
    }
}

impl NoteFile {
    /// Removes the note: the file system is mounted again, or the note can never be used.
    pub fn remove(self) {
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// `true` for the draft of a process that has ended.
fn is_stale_draft(name: &str) -> bool {
    let rest = name.strip_suffix(DRAFT_SUFFIX);
    let rest = rest.and_then(|rest| rest.strip_prefix(PREFIX));
    let pid = rest.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
    pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

/// `true` if only this user can have written the file or directory.
fn is_own(user: u32, mode: u32) -> bool {
    user == rustix::process::geteuid().as_raw() && mode & 0o022 == 0
}

/// Path of the notes.
pub(crate) fn place() -> PathBuf {
    PathBuf::from(NOTES_DIRECTORY)
}
