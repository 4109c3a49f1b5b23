//! A locked manifest. Every creation and removal of a file goes through it.

mod trees;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::TargetError;
use crate::manifest::{Manifest, ManifestFile};
use crate::manifest_location::{ManifestLocation, WORK_DIRECTORY, owner_uid};
use crate::open::{check_owner, open_beneath};

pub(crate) use trees::TreeRemaining;

/// Maximum time until a closed file is gone.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A location with its manifest locked.
#[derive(Debug)]
pub(crate) struct ManifestClaim {
    pub location: ManifestLocation,
    /// The directory of the manifest and the files.
    pub directory: OwnedFd,
    /// The manifest file, which holds the lock; replaced with each new manifest.
    pub(crate) lock: OwnedFd,
    pub manifest: Manifest,
    /// `true` if the previous owner's run did not end normally.
    pub interrupted: bool,
}

impl ManifestLocation {
    /// Locks the manifest for this run; creates it if there is none.
    pub(crate) fn claim(self, run: &str) -> Result<ManifestClaim, TargetError> {
        let Some(held) = self.hold(true)? else {
            return Err(TargetError::Replaced {
                path: self.manifest_path(),
            });
        };
        let old = held.manifest;
        let interrupted = old.as_ref().is_some_and(|old| old.owner.is_some());
        let mut manifest = Manifest::new(run);
        if let Some(old) = old {
            // The entries of an earlier run are kept, so that its files are reused or removed by
            // this one.
            (manifest.files, manifest.trees) = (old.files, old.trees);
        }
        let (directory, lock) = (held.directory, held.lock);
        let mut claim = ManifestClaim {
            location: self,
            directory,
            lock,
            manifest,
            interrupted,
        };
        if let Err(error) = claim.save() {
            if claim.manifest.files.is_empty() && claim.manifest.trees.is_empty() {
                // Removes the remains of the failed start. If that fails, the next run removes
                // them.
                let _ = claim.remove_manifest();
            }
            return Err(error);
        }
        Ok(claim)
    }

    /// Locks an existing manifest for cleaning; returns the location if there is none.
    pub(crate) fn claim_existing(
        self,
    ) -> Result<Result<ManifestClaim, ManifestLocation>, TargetError> {
        let Some(held) = self.hold(false)? else {
            return Ok(Err(self));
        };
        let manifest = held.manifest.unwrap_or_else(|| Manifest::new(""));
        let (directory, lock) = (held.directory, held.lock);
        Ok(Ok(ManifestClaim {
            location: self,
            directory,
            lock,
            manifest,
            interrupted: true,
        }))
    }

    /// Takes back a lock that this process had to release. The manifest must be unchanged.
    pub(crate) fn reclaim(
        self,
        manifest: Manifest,
        interrupted: bool,
    ) -> Result<ManifestClaim, TargetError> {
        let replaced = TargetError::Replaced {
            path: self.manifest_path(),
        };
        let Some(held) = self.hold(false)? else {
            return Err(replaced);
        };
        let (directory, lock) = (held.directory, held.lock);
        // Compared as text, because the text is what was written.
        if held.manifest.map(|found| found.to_text()) != Some(manifest.to_text()) {
            return Err(replaced);
        }
        Ok(ManifestClaim {
            location: self,
            directory,
            lock,
            manifest,
            interrupted,
        })
    }
}

impl ManifestClaim {
    /// Writes the manifest so that after a crash either the old or the new one exists.
    pub(crate) fn save(&mut self) -> Result<(), TargetError> {
        let draft = self.location.draft_name();
        let path = self.location.manifest_path();
        let failed = |error: std::io::Error| TargetError::system("write to", &path, error);
        self.remove_draft()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        // `O_EXCL` ensures that no link or file of another user receives the manifest.
        let next = open_beneath(
            self.directory.as_fd(),
            &draft,
            flags,
            Mode::RUSR | Mode::WUSR,
        )
        .map_err(|error| failed(error.into()))?;
        // Locked before the rename, so that the manifest always has a lock.
        let _ = flock(&next, FlockOperation::NonBlockingLockExclusive);
        let mut file = File::from(next);
        let written = file
            .write_all(&self.manifest.to_text())
            // Synced before the rename; otherwise a crash could leave an empty file under the final
            // name.
            .and_then(|()| file.sync_all());
        let renamed = written.and_then(|()| {
            renameat(
                &self.directory,
                &draft,
                &self.directory,
                self.location.manifest_name(),
            )?;
            Ok(())
        });
        if let Err(error) = renamed {
            let _ = unlinkat(&self.directory, &draft, AtFlags::empty());
            return Err(failed(error));
        }
        // The old lock is released only after the new file, already locked, has the name.
        self.lock = file.into();
        // Some file systems cannot sync a directory; durability of the name is then up to them.
        let _ = rustix::fs::fsync(&self.directory);
        Ok(())
    }

    /// Removes a draft manifest of a killed run, but no other file with this name.
    fn remove_draft(&self) -> Result<(), TargetError> {
        let draft = self.location.draft_name();
        let path = self.location.directory_path().join(&draft);
        let Some(found) = self.stat(&draft) else {
            return Ok(());
        };
        check_owner(self.directory.as_fd(), &found, &path)?;
        // In a work directory, only pgmeter uses this name.
        if self.location.file_name.is_some() && !self.is_draft(&draft) {
            return Err(TargetError::PathTaken { path });
        }
        let removed = unlinkat(&self.directory, &draft, AtFlags::empty());
        removed.map_err(|error| TargetError::system("remove", &path, error))
    }

    fn is_draft(&self, name: &str) -> bool {
        let opened = open_beneath(self.directory.as_fd(), name, OFlags::RDONLY, Mode::empty());
        let Ok(file) = opened else {
            return false;
        };
        let is_plain = fstat(&file).is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink == 1
        });
        let mut beginning = Vec::new();
        let read = File::from(file).take(64).read_to_end(&mut beginning);
        is_plain && read.is_ok() && Manifest::begins(&beginning)
    }

    /// User ID of the manifest's owner. All files in it must belong to this user.
    pub(crate) fn owner_uid(&self) -> u32 {
        owner_uid(&self.lock)
    }

    /// Metadata of an entry; links are not followed.
    pub(crate) fn stat(&self, name: &str) -> Option<Stat> {
        statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Creates a file that must not exist and adds it to the manifest.
    pub(crate) fn create(&mut self, entry: ManifestFile) -> Result<OwnedFd, TargetError> {
        let name = entry.name.clone();
        let path = self.location.directory_path().join(&name);
        let before = self.manifest.files.clone();
        self.manifest.files.retain(|other| other.name != name);
        self.manifest.files.push(ManifestFile {
            inode: None,
            ..entry
        });
        self.save()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let opened = open_beneath(
            self.directory.as_fd(),
            &name,
            flags,
            Mode::RUSR | Mode::WUSR,
        );
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                self.manifest.files = before;
                self.save()?;
                return Err(match error {
                    Errno::EXIST => TargetError::PathTaken { path },
                    error => TargetError::system("write to", &path, error),
                });
            }
        };
        // The first manifest has no inode number: if the process is killed here, only an empty file
        // is removed.
        let inode = fstat(&file)
            .map_err(|error| TargetError::system("access", &path, error))?
            .st_ino;
        self.note(&name, |entry| entry.inode = Some(inode));
        self.save()?;
        Ok(file)
    }

    /// Changes the entry of a file; the caller saves the manifest.
    pub(crate) fn note(&mut self, name: &str, change: impl FnOnce(&mut ManifestFile)) {
        if let Some(entry) = self
            .manifest
            .files
            .iter_mut()
            .find(|entry| entry.name == name)
        {
            change(entry);
        }
    }

    /// Removes a file of the manifest, unless it was replaced.
    ///
    /// # Errors
    /// Why it was not removed.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, String> {
        let Some(entry) = self.manifest.made(name).cloned() else {
            return Err("it is not in the manifest".to_owned());
        };
        let Some(found) = self.stat(name) else {
            self.manifest.files.retain(|other| other.name != name);
            return Ok(false);
        };
        if let Some(reason) = entry.foreign(&found, self.owner_uid()) {
            return Err(reason.to_owned());
        }
        unlinkat(&self.directory, name, AtFlags::empty())
            .map_err(|error| std::io::Error::from(error).to_string())?;
        self.manifest.files.retain(|other| other.name != name);
        Ok(true)
    }

    /// Removes the manifest, and the work directory if it is then empty.
    ///
    /// # Errors
    /// What was not removed, and why.
    pub(crate) fn remove_manifest(self) -> Result<(), (PathBuf, String)> {
        let because = |error: Errno| std::io::Error::from(error).to_string();
        // Other files remain; they are reported below because the directory is not empty.
        let _ = self.remove_draft();
        if let Err(error) = unlinkat(
            &self.directory,
            self.location.manifest_name(),
            AtFlags::empty(),
        ) && error != Errno::NOENT
        {
            return Err((self.location.manifest_path(), because(error)));
        }
        if self.location.file_name.is_some() {
            return Ok(());
        }
        let location = self.location;
        let remove = || unlinkat(&location.parent, WORK_DIRECTORY, AtFlags::REMOVEDIR);
        let mut removed = remove();
        // FUSE and NFS rename a removed file that is still open.
        drop(self.lock);
        let start = Instant::now();
        while matches!(removed, Err(Errno::NOTEMPTY | Errno::EXIST))
            && start.elapsed() < CLOSE_TIMEOUT
            // Waiting for files of other programs would be in vain.
            && is_effectively_empty(&self.directory)
        {
            std::thread::sleep(Duration::from_millis(10));
            removed = remove();
        }
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err((
                location.directory_path(),
                "it holds files that pgmeter did not create".to_owned(),
            )),
            Err(error) => Err((location.directory_path(), because(error))),
        }
    }
}

/// `true` if the directory contains only files that were removed while open, or nothing.
///
/// Source: `hide_node` of libfuse, `nfs_sillyrename` of the kernel.
fn is_effectively_empty(directory: &OwnedFd) -> bool {
    let Ok(listing) = rustix::fs::Dir::read_from(directory) else {
        return false;
    };
    listing.flatten().all(|entry| {
        let name = entry.file_name().to_bytes();
        matches!(name, b"." | b"..")
            || name.starts_with(b".fuse_hidden")
            || name.starts_with(b".nfs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_removed_files_do_not_count_as_user_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || OwnedFd::from(std::fs::File::open(directory.path()).expect("open"));
        assert!(is_effectively_empty(&open()));
        for name in [".fuse_hidden0000000100000002", ".nfs00000000002"] {
            std::fs::write(directory.path().join(name), "").expect("written");
        }
        assert!(is_effectively_empty(&open()));
        std::fs::write(directory.path().join("mine"), "").expect("written");
        assert!(!is_effectively_empty(&open()));
    }
}
