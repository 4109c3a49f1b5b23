//! Decides which targets may be used, before anything is changed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::TargetError;
use crate::device::{AdmittedDevice, admit_device, admit_endless_device, check_unused};
use crate::manifest_location::ManifestLocation;
use crate::open::FileId;
use crate::path::{may_name_file, parent_of};
use crate::permission::{InPlace, Permission};
use crate::probe::{PathFacts, PathKind, probe};
use crate::read_only::ReadOnlyFile;
use crate::remount::Remount;
use crate::user_dir::UserDirectory;

/// A target that may be used. Nothing has been changed yet.
#[derive(Debug)]
pub struct Admitted {
    pub(crate) facts: PathFacts,
    pub(crate) location: TargetLocation,
    pub(crate) run_id: String,
}

/// Kind of location of a target.
#[derive(Debug)]
pub(crate) enum TargetLocation {
    Files(ManifestLocation),
    /// A file of another program, for reading only.
    ReadOnly(ReadOnlyFile),
    Device(AdmittedDevice),
    /// A directory of the user, used in place.
    InPlace(UserDirectory),
}

impl Admitted {
    /// What was found at the target.
    #[must_use]
    pub fn facts(&self) -> &PathFacts {
        &self.facts
    }

    /// Checks that the file system of the target can be unmounted and mounted again between the
    /// steps of a run, as far as this is visible without trying. Changes nothing.
    ///
    /// # Errors
    /// [`TargetError::NoRemount`] with the reason; [`TargetError::NotADirectory`] if the target is
    /// not a directory.
    pub fn check_remount(&self) -> Result<(), TargetError> {
        match &self.location {
            TargetLocation::Files(place) if place.file_name.is_none() => {
                Remount::check(&place.parent_path).map(drop)
            }
            _ => Err(TargetError::NotADirectory {
                path: self.facts.path.clone(),
            }),
        }
    }
}

/// File systems in which programs cannot create files.
const KERNEL_FILE_SYSTEMS: [&str; 11] = [
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "efivarfs",
    "proc",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Decides whether a target may be used. Nothing is created or changed. An admitted device is kept
/// open from here on, so that other programs cannot mount it.
///
/// # Errors
/// Unless everything that would be written belongs to pgmeter or was named by the user.
pub fn admit(path: &Path, permission: &Permission) -> Result<Admitted, TargetError> {
    let facts = probe(path)?;
    // A mistyped device name would otherwise become a file below `/dev`, which is in memory.
    if facts.kind != PathKind::Device && is_meant_as_device(&facts, permission) {
        return Err(TargetError::NoDevice {
            exists: facts.kind != PathKind::Missing,
            path: facts.path,
        });
    }
    if KERNEL_FILE_SYSTEMS.contains(&facts.file_system.as_str()) {
        return Err(TargetError::KernelFiles(facts.path));
    }
    let site = match facts.kind {
        PathKind::Symlink => return Err(symlink(&facts.path)),
        PathKind::Other(kind) => {
            return Err(TargetError::WrongKind {
                path: facts.path,
                kind,
            });
        }
        PathKind::Device => TargetLocation::Device(admit_device(&facts, permission)?),
        PathKind::Endless if permission.refuses_endless => {
            return Err(TargetError::WrongKind {
                path: facts.path,
                kind: "character device",
            });
        }
        PathKind::Endless => TargetLocation::Device(admit_endless_device(&facts, permission)?),
        PathKind::Directory => match &permission.in_place {
            Some(in_place) => TargetLocation::InPlace(admit_in_place(&facts, in_place)?),
            None => TargetLocation::Files(admit_directory(&facts)?),
        },
        PathKind::File => admit_file(&facts, permission)?,
        PathKind::Missing if !may_name_file(path) => {
            return Err(TargetError::NoSuchDirectory {
                path: path.to_owned(),
            });
        }
        PathKind::Missing => TargetLocation::Files(admit_new_file(&facts, permission)?),
    };
    Ok(Admitted {
        facts,
        location: site,
        run_id: permission.run_id.clone(),
    })
}

/// `true` if the path is not a device but must have been meant as one. Either it was named for
/// overwriting, or it is among device nodes, where a file would be in memory.
fn is_meant_as_device(facts: &PathFacts, permission: &Permission) -> bool {
    match facts.kind {
        PathKind::Missing | PathKind::File | PathKind::Directory => {
            permission.overwrite_devices.contains(&facts.path) || is_among_nodes(facts)
        }
        _ => false,
    }
}

/// `true` if a path is among device nodes: below `/dev` but not on a mount in it such as
/// `/dev/shm`, or on any `devtmpfs`.
fn is_among_nodes(facts: &PathFacts) -> bool {
    let on = match facts.kind {
        PathKind::Directory => &facts.path,
        _ => parent_of(&facts.path),
    };
    let nodes = Path::new("/dev");
    let is_below = fs::canonicalize(on).is_ok_and(|path| path.starts_with(nodes));
    let point = facts.mount.as_ref().map(|mount| mount.point.as_path());
    // Without free file descriptors, the mount table cannot be read; device numbers can.
    let is_other_device = || {
        let device = |path: &Path| fs::metadata(path).map(|it| it.dev()).ok();
        device(on) != device(nodes)
    };
    let is_mounted_in_it = match point {
        Some(point) => point != nodes && point.starts_with(nodes),
        None => is_other_device(),
    };
    facts.file_system == "devtmpfs" || is_below && !is_mounted_in_it
}

fn symlink(path: &Path) -> TargetError {
    TargetError::Symlink {
        path: path.to_owned(),
        points_to: fs::read_link(path).unwrap_or_default(),
        resolved: fs::canonicalize(path).ok(),
    }
}

fn admit_directory(facts: &PathFacts) -> Result<ManifestLocation, TargetError> {
    check_writable(facts, &facts.path)?;
    let location = ManifestLocation::in_directory(&facts.path, facts.directory)?;
    check_files(&location)?;
    Ok(location)
}

fn admit_in_place(facts: &PathFacts, in_place: &InPlace) -> Result<UserDirectory, TargetError> {
    if facts.read_only {
        return Err(read_only(&facts.path));
    }
    UserDirectory::open(&facts.path, facts.directory, in_place.clone())
}

fn admit_new_file(
    facts: &PathFacts,
    permission: &Permission,
) -> Result<ManifestLocation, TargetError> {
    let parent = parent_of(&facts.path);
    if !parent.is_dir() {
        return Err(TargetError::Missing {
            path: facts.path.clone(),
            parent: parent.to_owned(),
        });
    }
    check_writable(facts, parent)?;
    if !permission.create {
        return Err(TargetError::NotFound {
            path: facts.path.clone(),
        });
    }
    let location = ManifestLocation::of_file(&facts.path, facts.directory)?;
    check_files(&location)?;
    Ok(location)
}

/// A test file of pgmeter is used as usual; any other file may only be read.
fn admit_file(facts: &PathFacts, permission: &Permission) -> Result<TargetLocation, TargetError> {
    if permission.read_only && !is_ours(facts)? {
        return ReadOnlyFile::admit(facts).map(TargetLocation::ReadOnly);
    }
    let location = ManifestLocation::of_file(&facts.path, facts.directory)?;
    if facts.read_only {
        return Err(read_only(&facts.path));
    }
    check_files(&location)?;
    check_writable(facts, parent_of(&facts.path))?;
    Ok(TargetLocation::Files(location))
}

/// `true` if the path is a file that pgmeter did not create, as far as this is visible without
/// disturbing a run that uses it.
#[must_use]
pub fn is_foreign(path: &Path) -> bool {
    let is_not_own = |facts: &PathFacts| is_ours(facts).is_ok_and(|own| !own);
    probe(path).is_ok_and(|facts| facts.kind == PathKind::File && is_not_own(&facts))
}

/// `true` if a manifest lists the file; an error if another process uses it.
fn is_ours(facts: &PathFacts) -> Result<bool, TargetError> {
    // Reading a manifest requires a lock, which requires write permission. Without a manifest, the
    // file can only be read anyway.
    let Ok(place) = ManifestLocation::of_file(&facts.path, facts.directory) else {
        return Ok(false);
    };
    // Most files have no manifest, and then no lock is needed.
    let has_manifest = fs::symlink_metadata(place.manifest_path()).is_ok();
    if facts.read_only || !has_manifest {
        return Ok(false);
    }
    let Some(peeked) = place.peek()? else {
        return Ok(false);
    };
    let name = place.test_name();
    let found = rustix::fs::statat(&place.parent, &name, AtFlags::SYMLINK_NOFOLLOW);
    Ok(found.is_ok_and(|found| peeked.names(&name, &found)))
}

/// Refuses a location that another run uses, and test files without a manifest.
fn check_files(location: &ManifestLocation) -> Result<(), TargetError> {
    let peeked = location.peek()?;
    let Some(directory) = location.open()? else {
        return Ok(());
    };
    let name = location.test_name();
    let Ok(found) = rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) else {
        return Ok(());
    };
    // The user may have attached a test file that an earlier run kept as a loop device or as swap.
    if peeked.is_some_and(|peeked| peeked.names(&name, &found)) {
        return check_unused(&location.test_path(), FileId::of(&found));
    }
    let path = location.test_path();
    Err(match location.file_name {
        Some(_) => TargetError::FileExists { path },
        None => TargetError::PathTaken { path },
    })
}

fn check_writable(facts: &PathFacts, directory: &Path) -> Result<(), TargetError> {
    if facts.read_only {
        return Err(read_only(&facts.path));
    }
    // Reading and searching too: the directory is opened for reading, and names are looked up in
    // it.
    let access = Access::WRITE_OK | Access::EXEC_OK | Access::READ_OK;
    // Without `EACCESS`, the kernel would check the real user, but files are created as the
    // effective one.
    accessat(CWD, directory, access, AtFlags::EACCESS)
        .map_err(|error| TargetError::system("write to", directory, error))
}

fn read_only(path: &Path) -> TargetError {
    let reason = "its file system is mounted read-only".to_owned();
    TargetError::ReadOnly {
        path: path.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests;
