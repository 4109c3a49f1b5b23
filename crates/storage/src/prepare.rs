//! Prepares a target: writes its test file with real data, or reuses that of an earlier run.

mod again;
mod loss;
mod named;
mod new_file;
mod trees;
mod write;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{EngineError, OpenPlan, Reopen, open_target};
use plan::{CacheMode, ContentPlan, TargetPlan};
use rustix::fs::{Advice, Mode, OFlags, fadvise, fdatasync, fstat};

use crate::admit::{Admitted, TargetLocation};
use crate::claim::ManifestClaim;
use crate::clean::{CleanReport, remove_all, remove_trees};
use crate::device::AdmittedDevice;
use crate::doubt::{DirectDoubt, doubt};
use crate::fill::FillWatch;
use crate::manifest_location::ManifestLocation;
use crate::probe::PathFacts;
use crate::read_only::ReadOnlyFile;
use crate::sysfs::split;
use crate::unwritten::UnwrittenPart;
use crate::user_dir::UserDirectory;
use crate::{TargetError, space};

pub use loss::LostFile;
pub use named::{NamedOpen, NamedTreeFile};

use write::{begin_file, check_space, fill_device, write_file};

/// Bytes per read when warming the page cache.
const WARM_BYTES: usize = 1 << 20;

/// Required content of a target before a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct FillPlan {
    /// Content to write.
    pub content: ContentPlan,
    /// Length of stamped blocks, as from `generate::verify_block_bytes`; `None` without stamps.
    pub verify_block_bytes: Option<u32>,
    /// Seed of the file, the same as for `generate`.
    pub seed: u64,
    /// Also write devices; otherwise they are written only if blocks are stamped.
    pub prepare_device: bool,
}

/// A target that is ready to be measured. If it is dropped without [`release`](Self::release), its
/// files are removed.
#[derive(Debug)]
pub struct Prepared {
    facts: PathFacts,
    /// `None` only while it is being released.
    target: Option<ReadyTarget>,
    size_bytes: u64,
    reused: bool,
    /// `true` if a cell wrote the test file completely.
    has_new_file: bool,
    /// `true` if this run, not a killed one, created a tree.
    has_tree: bool,
}

#[derive(Debug)]
enum ReadyTarget {
    File(ManifestClaim),
    /// Nothing is created or removed for it.
    ReadOnly(ReadOnlyFile),
    Device(AdmittedDevice, FilledContent),
    InPlace(UserDirectory),
}

/// Content that a run wrote to a device; `None` once something else may have been written.
type FilledContent = Option<(FillPlan, u64)>;

/// A target opened for measuring.
#[derive(Debug)]
pub struct OpenedTarget {
    /// The open file.
    pub file: OwnedFd,
    /// Set if it was opened for direct I/O that may not be direct.
    pub doubt: Option<DirectDoubt>,
}

/// Prepares an admitted target: checks the free space, then writes the test file unless an earlier
/// run kept a suitable one. Without `fill`, no test file is created until [`Prepared::refill`] is
/// called.
///
/// # Errors
/// If it is not possible. Files created for it are removed again.
pub fn prepare(
    admitted: Admitted,
    plan: &TargetPlan,
    fill: Option<&FillPlan>,
    watch: &mut FillWatch<'_>,
) -> Result<Prepared, TargetError> {
    let (facts, site, run) = (admitted.facts, admitted.location, admitted.run_id);
    let site = match site {
        TargetLocation::Device(device) => ReadyTarget::Device(device, None),
        TargetLocation::InPlace(spot) => ReadyTarget::InPlace(spot),
        TargetLocation::ReadOnly(file) => ReadyTarget::ReadOnly(file),
        TargetLocation::Files(place) => {
            if let Some(fill) = fill {
                check_space_for(&place, plan, fill)?;
            }
            ReadyTarget::File(place.claim(&run)?)
        }
    };
    let mut prepared = Prepared {
        facts,
        target: Some(site),
        size_bytes: 0,
        reused: false,
        has_new_file: false,
        has_tree: false,
    };
    if let Some(fill) = fill {
        prepared.refill(plan, fill, watch)?;
    }
    Ok(prepared)
}

impl Prepared {
    /// Prepares the target for the next cell of a run: writes it only if its content does not match
    /// the plan.
    ///
    /// # Errors
    /// Same as [`prepare`].
    pub fn refill(
        &mut self,
        plan: &TargetPlan,
        fill: &FillPlan,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), TargetError> {
        self.size_bytes = plan.size_bytes;
        self.has_new_file = false;
        match &mut self.target {
            Some(ReadyTarget::File(claim)) => {
                self.reused = fits(claim, plan, fill);
                if self.reused {
                    drop_stamps_unless_checked(claim, fill)?;
                } else {
                    write_file(claim, plan, fill, watch)?;
                }
                self.evict_file()
            }
            Some(ReadyTarget::ReadOnly(file)) => {
                if fill.verify_block_bytes.is_some() || fill.prepare_device {
                    return Err(file.foreign());
                }
                file.check_size(plan.size_bytes)?;
                self.reused = true;
                self.evict_file()
            }
            Some(ReadyTarget::Device(device, filled)) => {
                let wanted = Some((fill.clone(), plan.size_bytes));
                self.reused = *filled == wanted;
                if !self.reused {
                    // If writing fails halfway, the content is no longer known.
                    *filled = None;
                    fill_device(device, plan, fill, watch)?;
                    *filled = wanted;
                }
                Ok(())
            }
            Some(ReadyTarget::InPlace(_)) | None => Ok(()),
        }
    }

    /// Size of the measured file or device, in bytes; 0 before there is one.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// `true` if the last preparation reused an existing file.
    #[must_use]
    pub fn was_reused(&self) -> bool {
        self.reused
    }

    /// Facts about the target before the preparation.
    #[must_use]
    pub fn facts(&self) -> &PathFacts {
        &self.facts
    }

    /// Path of the test file or device; the work directory if there is no test file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.target {
            Some(ReadyTarget::File(claim)) if !has_test_file(claim) => {
                claim.location.directory_path()
            }
            Some(ReadyTarget::File(claim)) => claim.location.test_path(),
            _ => self.facts.path.clone(),
        }
    }

    /// Opens the target for measuring. Each worker opens it separately.
    ///
    /// # Errors
    /// [`TargetError::NoDirect`] if the file system refuses `O_DIRECT`, [`TargetError::Replaced`]
    /// if the target was replaced.
    pub fn open(
        &self,
        cache: CacheMode,
        read: bool,
        write: bool,
    ) -> Result<OpenedTarget, TargetError> {
        let file = match &self.target {
            Some(ReadyTarget::File(claim)) => open_file(claim, &self.facts, cache, (read, write))?,
            Some(ReadyTarget::ReadOnly(file)) if write => return Err(file.foreign()),
            Some(ReadyTarget::ReadOnly(file)) => file.open(cache, &self.facts)?,
            Some(ReadyTarget::Device(device, _)) => open_device(device, cache, read, write)?,
            Some(ReadyTarget::InPlace(_)) | None => {
                return Err(TargetError::Replaced { path: self.path() });
            }
        };
        let is_file = matches!(
            self.target,
            Some(ReadyTarget::File(_) | ReadyTarget::ReadOnly(_))
        );
        let doubt = (is_file && cache == CacheMode::Direct)
            .then(|| doubt(&self.facts, &file, write))
            .flatten();
        Ok(OpenedTarget { file, doubt })
    }

    /// How a worker reopens the target between connections. It must have been opened before with
    /// the same arguments.
    ///
    /// # Errors
    /// If the directory cannot be opened.
    pub fn reopen(&self, cache: CacheMode, read: bool, write: bool) -> Result<Reopen, TargetError> {
        let path = self.path();
        let plan = OpenPlan {
            cache,
            read,
            write,
            create: false,
        };
        let failed = |error| TargetError::system("open", &path, error);
        let reopened = match &self.target {
            Some(ReadyTarget::File(claim)) => {
                let directory = claim.directory.try_clone().map_err(failed)?;
                Reopen::file(directory, Path::new(&claim.location.test_name()), plan)
            }
            Some(ReadyTarget::ReadOnly(file)) if write => return Err(file.foreign()),
            Some(ReadyTarget::ReadOnly(file)) => return file.reopen(cache),
            Some(ReadyTarget::Device(device, _)) => {
                let parent = device.path.parent().unwrap_or(Path::new("/"));
                let name = Path::new(device.path.file_name().unwrap_or_default());
                let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
                let directory = rustix::fs::open(parent, flags, Mode::empty())
                    .map_err(|error| TargetError::system("open", parent, error))?;
                Reopen::device(directory, name, plan)
            }
            Some(ReadyTarget::InPlace(_)) | None => return Err(TargetError::Replaced { path }),
        };
        reopened.map_err(|_| TargetError::Replaced { path: self.path() })
    }

    /// The unwritten part of a byte range of a file that pgmeter did not create. `None` for other
    /// targets, and if unknown.
    #[must_use]
    pub fn blank(&self, bytes: Range<u64>) -> Option<UnwrittenPart> {
        match &self.target {
            Some(ReadyTarget::ReadOnly(file)) => file.blank(bytes),
            _ => None,
        }
    }

    /// Drops the target's pages from the page cache, so that the next reads are cold.
    ///
    /// # Errors
    /// If the target cannot be opened.
    pub fn evict_file(&self) -> Result<(), TargetError> {
        let opened = self.open(CacheMode::Buffered, true, false)?;
        evict(&opened.file);
        Ok(())
    }

    /// Reads the target into the page cache, so that the next reads are warm.
    ///
    /// # Errors
    /// If it cannot be opened or read.
    pub fn warm(&self, stop: &AtomicBool) -> Result<(), TargetError> {
        self.warm_bytes(self.size_bytes, stop)
    }

    /// Reads the first `size_bytes` of the target into the page cache.
    ///
    /// # Errors
    /// If it cannot be opened or read.
    pub fn warm_bytes(&self, size_bytes: u64, stop: &AtomicBool) -> Result<(), TargetError> {
        let opened = self.open(CacheMode::Buffered, true, false)?;
        let file = File::from(opened.file);
        read_all(&file, size_bytes, stop)
            .map_err(|error| TargetError::system("read", &self.path(), error))
    }

    /// Releases the target. Without `keep`, everything created for it is removed. With `keep`, the
    /// files remain until the target is released without `keep` or cleaned; a test file can be
    /// reused.
    ///
    /// # Errors
    /// If the manifest of kept files cannot be written.
    pub fn release(mut self, keep: bool) -> Result<CleanReport, TargetError> {
        let mut report = CleanReport::default();
        if let Some(ReadyTarget::File(mut claim)) = self.target.take() {
            // These trees are leftovers of a killed run; `keep` does not apply to them.
            if keep && !self.has_tree {
                remove_trees(&mut claim, &mut report);
            }
            let is_empty = claim.manifest.files.is_empty() && claim.manifest.trees.is_empty();
            if keep && !is_empty {
                // Without an owner, the next run can tell kept files from files of a killed run.
                claim.manifest.owner = None;
                claim.save()?;
            } else {
                remove_all(claim, &mut report);
            }
        }
        Ok(report)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(ReadyTarget::File(claim)) = self.target.take() {
            remove_all(claim, &mut CleanReport::default());
        }
    }
}

/// Reads at most `size_bytes` of a file.
fn read_all(file: &File, size_bytes: u64, stop: &AtomicBool) -> io::Result<()> {
    let mut buffer = vec![0; WARM_BYTES];
    let mut offset_bytes = 0;
    while offset_bytes < size_bytes && !stop.load(Ordering::Relaxed) {
        match file.read_at(&mut buffer, offset_bytes) {
            Ok(0) => break,
            Ok(count) => offset_bytes += count as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes back and drops the pages of an open file; `false` if the kernel refuses.
pub fn evict(file: impl AsFd) -> bool {
    // Otherwise dirty pages would remain. A file opened for reading can be synced, too.
    let _ = fdatasync(&file);
    fadvise(&file, 0, None, Advice::DontNeed).is_ok()
}

/// `true` if the target is a file, or its directory has a test file.
fn has_test_file(claim: &ManifestClaim) -> bool {
    claim.location.file_name.is_some() || claim.stat(&claim.location.test_name()).is_some()
}

/// `true` if the existing file is suitable for the plan.
fn fits(claim: &ManifestClaim, plan: &TargetPlan, fill: &FillPlan) -> bool {
    let name = claim.location.test_name();
    let (Some(made), Some(found)) = (claim.manifest.made(&name), claim.stat(&name)) else {
        return false;
    };
    let stamps_fit = fill.verify_block_bytes.is_none()
        // After a killed run, a block may be half written, and verification would report it as
        // damage.
        || (made.verify_block_bytes == fill.verify_block_bytes
            && made.seed == fill.seed
            && !claim.interrupted);
    made.complete
        && made.foreign(&found, claim.owner_uid()).is_none()
        // A longer file is suitable as well, because the run uses only its beginning.
        && u64::try_from(found.st_size).is_ok_and(|size| size >= plan.size_bytes)
        && made.content == fill.content
        && stamps_fit
}

/// A run without verification may overwrite stamps, so later runs must not rely on them.
fn drop_stamps_unless_checked(
    claim: &mut ManifestClaim,
    fill: &FillPlan,
) -> Result<(), TargetError> {
    if fill.verify_block_bytes.is_some() {
        return Ok(());
    }
    let name = claim.location.test_name();
    claim.note(&name, |entry| entry.verify_block_bytes = None);
    claim.save()
}

fn check_space_for(
    location: &ManifestLocation,
    plan: &TargetPlan,
    fill: &FillPlan,
) -> Result<(), TargetError> {
    let peeked = location.peek()?;
    let entry = peeked
        .as_ref()
        .and_then(|peeked| peeked.manifest.made(&location.test_name()));
    let directory = location.open()?;
    let found = directory.and_then(|directory| {
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::statat(&directory, location.test_name(), flags).ok()
    });
    let held_bytes = found
        .as_ref()
        .map_or(0, |it| u64::try_from(it.st_blocks).unwrap_or(0) * 512);
    let enough = found.is_some_and(|it| it.st_size as u64 >= plan.size_bytes);
    if enough && entry.is_some_and(|entry| entry.complete && entry.content == fill.content) {
        return Ok(());
    }
    space::check(
        &location.parent,
        &location.parent_path,
        plan.size_bytes,
        held_bytes,
    )
}

fn open_file(
    claim: &ManifestClaim,
    facts: &PathFacts,
    cache: CacheMode,
    (read, write): (bool, bool),
) -> Result<OwnedFd, TargetError> {
    let name = claim.location.test_name();
    let path = claim.location.test_path();
    let plan = OpenPlan {
        cache,
        read,
        write,
        create: false,
    };
    let opened = open_target(claim.directory.as_fd(), Path::new(&name), plan);
    let file = opened.map_err(|error| match error {
        EngineError::DirectRefused { .. } => TargetError::NoDirect {
            path: path.clone(),
            file_system: facts.file_system.clone(),
        },
        EngineError::Open { source, .. } => TargetError::system("open", &path, source),
        _ => TargetError::Replaced { path: path.clone() },
    })?;
    let found = fstat(&file).map_err(|error| TargetError::system("access", &path, error))?;
    match claim.manifest.made(&name) {
        Some(made)
            if made.inode == Some(found.st_ino)
                && made.foreign(&found, claim.owner_uid()).is_none() =>
        {
            Ok(file)
        }
        _ => Err(TargetError::Replaced { path }),
    }
}

fn open_device(
    device: &AdmittedDevice,
    cache: CacheMode,
    read: bool,
    write: bool,
) -> Result<OwnedFd, TargetError> {
    let path = &device.path;
    if write && !device.writable {
        return Err(TargetError::OpenedReadOnly { path: path.clone() });
    }
    let access = match (read, write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    let direct = if cache == CacheMode::Direct {
        OFlags::DIRECT
    } else {
        OFlags::empty()
    };
    let flags = access | direct | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|error| TargetError::system("open", path, error))?;
    let found = fstat(&file).map_err(|error| TargetError::system("access", path, error))?;
    let kind = rustix::fs::FileType::from_raw_mode(found.st_mode);
    if kind != device.kind || split(found.st_rdev) != device.number {
        return Err(TargetError::Replaced { path: path.clone() });
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
