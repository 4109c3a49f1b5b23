//! Access to tracefs, mounted or not.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::error::RecordError;

/// First piece of a file that is read, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// The root of tracefs.
#[derive(Debug)]
pub(crate) struct Tracefs {
    root: PathBuf,
    /// Root as users know it.
    shown_root: PathBuf,
    /// A mount of this process only, which ends with it.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Uses the mount of the system, or else a mount that only this process sees. The system's
    /// mounts never change, even if this process is killed.
    ///
    /// # Errors
    /// If the kernel has no tracefs or denies access.
    pub fn open() -> Result<Self, RecordError> {
        let mounts = storage::mounts();
        let mount = mounts.iter().rfind(|mount| mount.file_system == "tracefs");
        if let Some(mount) = mount {
            let root = mount.point.clone();
            // Other users see the mount, but must not look into it.
            fs::read_dir(root.join("instances")).map_err(refused)?;
            return Ok(Self {
                shown_root: root.clone(),
                root,
                _mount: None,
            });
        }
        let mount = own_mount().map_err(|errno| refused(errno.into()))?;
        Ok(Self {
            root: format!("/proc/self/fd/{}", mount.as_raw_fd()).into(),
            shown_root: "/sys/kernel/tracing".into(),
            _mount: Some(mount),
        })
    }

    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Path as it is after `mount -t tracefs nodev /sys/kernel/tracing`.
    pub fn shown(&self, path: &Path) -> PathBuf {
        let relative = path.strip_prefix(&self.root);
        relative.map_or_else(|_| path.to_owned(), |it| self.shown_root.join(it))
    }

    pub fn read(&self, path: &Path) -> Result<String, RecordError> {
        read_text(path).map_err(|source| self.failed("read", path, source))
    }

    pub fn write(&self, path: &Path, text: &str) -> Result<(), RecordError> {
        fs::write(path, text).map_err(|source| self.failed("write", path, source))
    }

    pub fn failed(&self, action: &'static str, path: &Path, source: io::Error) -> RecordError {
        match source.kind() {
            io::ErrorKind::PermissionDenied => RecordError::Permission { source },
            _ => RecordError::Tracefs {
                action,
                path: self.shown(path),
                source,
            },
        }
    }
}

/// Mounts tracefs without a place in the tree of directories.
fn own_mount() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    fsmount(&context, flags, MountAttrFlags::empty())
}

fn refused(source: io::Error) -> RecordError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => RecordError::Permission { source },
        _ => RecordError::NoTracefs { source },
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    // Some kernels end `header_page` after the first read, however short it is, and the first read
    // of `fs::read_to_string` is.
    let mut bytes = vec![0; PIECE_BYTES];
    let length = file.read(&mut bytes)?;
    bytes.truncate(length);
    file.read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
