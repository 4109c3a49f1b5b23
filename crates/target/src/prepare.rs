//! Makes a target ready: its test file written with real data, or found as an earlier run left it.

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

use crate::admit::{Admitted, Site};
use crate::blank::Blank;
use crate::claim::Claim;
use crate::clean::{CleanReport, remove_all, remove_trees};
use crate::device::HeldDevice;
use crate::doubt::{DirectDoubt, doubt};
use crate::fill::Watch;
use crate::place::Place;
use crate::probe::PathFacts;
use crate::read_only::ReadOnlyFile;
use crate::spot::Spot;
use crate::sysfs::split;
use crate::{TargetError, space};

pub use loss::Loss;
pub use named::{NamedOpen, NamedPlace};

use write::{begin_file, fill_device, write_file};

/// Bytes read at once to warm the page cache.
const WARM_BYTES: usize = 1 << 20;

/// What a target must hold before it is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct FillPlan {
    /// What is written.
    pub content: ContentPlan,
    /// Stamp blocks of this length, as `generate::verify_block_bytes` says.
    pub verify_block_bytes: Option<u32>,
    /// The file's seed: what `generate` gets as this file's seed, too.
    pub seed: u64,
    /// Write devices too; otherwise they are written only when blocks are stamped.
    pub prepare_device: bool,
}

/// A target that is ready to be measured. When it is dropped without [`release`](Self::release),
/// its files are removed.
#[derive(Debug)]
pub struct Prepared {
    facts: PathFacts,
    /// None only while it is given up.
    site: Option<Ready>,
    size_bytes: u64,
    reused: bool,
    /// Whether a cell wrote the test file from its beginning to its end.
    has_new_file: bool,
    /// Whether this run made a tree, and not one that was killed.
    has_tree: bool,
}

#[derive(Debug)]
enum Ready {
    File(Claim),
    /// Nothing is made for it, and nothing removed.
    ReadOnly(ReadOnlyFile),
    Device(HeldDevice, Filled),
    InPlace(Spot),
}

/// What a run wrote to a device, as long as nothing else may have been written since.
type Filled = Option<(FillPlan, u64)>;

/// A target opened for measuring.
#[derive(Debug)]
pub struct Opened {
    /// The open file.
    pub file: OwnedFd,
    /// Set when it was opened for direct I/O that may not be direct.
    pub doubt: Option<DirectDoubt>,
}

/// Makes an admitted target ready: checks space, then writes the test file unless one that an
/// earlier run kept does as well. Without `fill` no test file is made, until
/// [`Prepared::refill`] asks for one.
///
/// # Errors
/// Whatever prevents it; files that were made for it are removed again.
pub fn prepare(
    admitted: Admitted,
    plan: &TargetPlan,
    fill: Option<&FillPlan>,
    watch: &mut Watch<'_>,
) -> Result<Prepared, TargetError> {
    let Admitted { facts, site, run } = admitted;
    let site = match site {
        Site::Device(device) => Ready::Device(device, None),
        Site::InPlace(spot) => Ready::InPlace(spot),
        Site::ReadOnly(file) => Ready::ReadOnly(file),
        Site::Files(place) => {
            if let Some(fill) = fill {
                check_space_for(&place, plan, fill)?;
            }
            Ready::File(place.claim(&run)?)
        }
    };
    let mut prepared = Prepared {
        facts,
        site: Some(site),
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
    /// Makes sure that the target holds what the plan asks, writing only when it does not: for
    /// the next cell of a run.
    ///
    /// # Errors
    /// As [`prepare`].
    pub fn refill(
        &mut self,
        plan: &TargetPlan,
        fill: &FillPlan,
        watch: &mut Watch<'_>,
    ) -> Result<(), TargetError> {
        self.size_bytes = plan.size_bytes;
        self.has_new_file = false;
        match &mut self.site {
            Some(Ready::File(claim)) => {
                self.reused = fits(claim, plan, fill);
                if self.reused {
                    keep_stamps_only_if_checked(claim, fill)?;
                } else {
                    write_file(claim, plan, fill, watch)?;
                }
                self.evict_file()
            }
            Some(Ready::ReadOnly(file)) => {
                if fill.verify_block_bytes.is_some() || fill.prepare_device {
                    return Err(file.foreign());
                }
                file.check_size(plan.size_bytes)?;
                self.reused = true;
                self.evict_file()
            }
            Some(Ready::Device(device, filled)) => {
                let wanted = Some((fill.clone(), plan.size_bytes));
                self.reused = *filled == wanted;
                if !self.reused {
                    *filled = None;
                    fill_device(device, plan, fill, watch)?;
                    *filled = wanted;
                }
                Ok(())
            }
            Some(Ready::InPlace(_)) | None => Ok(()),
        }
    }

    /// Bytes of the file or device that are measured; 0 before there is one.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether the last preparation found a file that did as well.
    #[must_use]
    pub fn was_reused(&self) -> bool {
        self.reused
    }

    /// What was found at the target before.
    #[must_use]
    pub fn facts(&self) -> &PathFacts {
        &self.facts
    }

    /// The test file, or the device; the work directory where there is no test file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.site {
            Some(Ready::File(claim)) if !has_test_file(claim) => claim.place.directory_path(),
            Some(Ready::File(claim)) => claim.place.test_path(),
            _ => self.facts.path.clone(),
        }
    }

    /// Opens the target for measuring; each worker has an open file of its own.
    ///
    /// # Errors
    /// [`TargetError::NoDirect`] where the file system refuses `O_DIRECT`,
    /// [`TargetError::Replaced`] when something else stands there now.
    pub fn open(&self, cache: CacheMode, read: bool, write: bool) -> Result<Opened, TargetError> {
        let file = match &self.site {
            Some(Ready::File(claim)) => open_file(claim, &self.facts, cache, (read, write))?,
            Some(Ready::ReadOnly(file)) if write => return Err(file.foreign()),
            Some(Ready::ReadOnly(file)) => file.open(cache, &self.facts)?,
            Some(Ready::Device(device, _)) => open_device(device, cache, read, write)?,
            Some(Ready::InPlace(_)) | None => {
                return Err(TargetError::Replaced { path: self.path() });
            }
        };
        let is_file = matches!(self.site, Some(Ready::File(_) | Ready::ReadOnly(_)));
        let doubt = (is_file && cache == CacheMode::Direct)
            .then(|| doubt(&self.facts, &file, write))
            .flatten();
        Ok(Opened { file, doubt })
    }

    /// How a worker opens the target again between connections; the target was opened for it
    /// with the same arguments before.
    ///
    /// # Errors
    /// When the directory cannot be opened.
    pub fn reopen(&self, cache: CacheMode, read: bool, write: bool) -> Result<Reopen, TargetError> {
        let path = self.path();
        let plan = OpenPlan {
            cache,
            read,
            write,
            create: false,
        };
        let failed = |error| TargetError::system("open", &path, error);
        let made = match &self.site {
            Some(Ready::File(claim)) => {
                let directory = claim.directory.try_clone().map_err(failed)?;
                Reopen::file(directory, Path::new(&claim.place.test_name()), plan)
            }
            Some(Ready::ReadOnly(file)) if write => return Err(file.foreign()),
            Some(Ready::ReadOnly(file)) => return file.reopen(cache),
            Some(Ready::Device(device, _)) => {
                let parent = device.path.parent().unwrap_or(Path::new("/"));
                let name = Path::new(device.path.file_name().unwrap_or_default());
                let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
                let directory = rustix::fs::open(parent, flags, Mode::empty())
                    .map_err(|error| TargetError::system("open", parent, error))?;
                Reopen::device(directory, name, plan)
            }
            Some(Ready::InPlace(_)) | None => return Err(TargetError::Replaced { path }),
        };
        made.map_err(|_| TargetError::Replaced { path: self.path() })
    }

    /// Which part of these bytes of somebody's file was never written; none of what pgmeter has
    /// written, and where that cannot be told.
    #[must_use]
    pub fn blank(&self, bytes: Range<u64>) -> Option<Blank> {
        match &self.site {
            Some(Ready::ReadOnly(file)) => file.blank(bytes),
            _ => None,
        }
    }

    /// Drops the target's pages from the page cache, so that the next reads are cold.
    ///
    /// # Errors
    /// When the target cannot be opened.
    pub fn evict_file(&self) -> Result<(), TargetError> {
        let opened = self.open(CacheMode::Buffered, true, false)?;
        evict(&opened.file);
        Ok(())
    }

    /// Reads the target into the page cache, so that the next reads are warm.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn warm(&self, stop: &AtomicBool) -> Result<(), TargetError> {
        self.warm_bytes(self.size_bytes, stop)
    }

    /// Reads so many bytes of the target into the page cache.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn warm_bytes(&self, size_bytes: u64, stop: &AtomicBool) -> Result<(), TargetError> {
        let opened = self.open(CacheMode::Buffered, true, false)?;
        let file = File::from(opened.file);
        read_all(&file, size_bytes, stop)
            .map_err(|error| TargetError::system("read", &self.path(), error))
    }

    /// Ends the use of the target. Without `keep` everything made for it is removed; with it, all
    /// stays until the target is used again without, or cleaned, and a test file may be used again.
    ///
    /// # Errors
    /// When the manifest of a kept file cannot be written.
    pub fn release(mut self, keep: bool) -> Result<CleanReport, TargetError> {
        let mut report = CleanReport::default();
        if let Some(Ready::File(mut claim)) = self.site.take() {
            if keep && !self.has_tree {
                remove_trees(&mut claim, &mut report);
            }
            let is_empty = claim.manifest.files.is_empty() && claim.manifest.trees.is_empty();
            if keep && !is_empty {
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
        if let Some(Ready::File(claim)) = self.site.take() {
            remove_all(claim, &mut CleanReport::default());
        }
    }
}

/// Reads a file to its end, or so many bytes of it.
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

/// Writes back and drops the pages of an open file; false where the kernel would not.
pub fn evict(file: impl AsFd) -> bool {
    // A file open for reading can be synced, too; dirty pages would stay otherwise.
    let _ = fdatasync(&file);
    fadvise(&file, 0, None, Advice::DontNeed).is_ok()
}

/// Whether the target is a file, or the directory has a test file.
fn has_test_file(claim: &Claim) -> bool {
    claim.place.file_name.is_some() || claim.stat(&claim.place.test_name()).is_some()
}

/// Whether the file that is there does for the plan.
fn fits(claim: &Claim, plan: &TargetPlan, fill: &FillPlan) -> bool {
    let name = claim.place.test_name();
    let (Some(made), Some(found)) = (claim.manifest.made(&name), claim.stat(&name)) else {
        return false;
    };
    let stamps_fit = fill.verify_block_bytes.is_none()
        || (made.verify_block_bytes == fill.verify_block_bytes
            && made.seed == fill.seed
            && !claim.interrupted);
    made.complete
        && made.foreign(&found, claim.owner_uid()).is_none()
        && u64::try_from(found.st_size).is_ok_and(|size| size >= plan.size_bytes)
        && made.content == fill.content
        && stamps_fit
}

/// A run that does not check may overwrite stamps, so they are not relied on later.
fn keep_stamps_only_if_checked(claim: &mut Claim, fill: &FillPlan) -> Result<(), TargetError> {
    if fill.verify_block_bytes.is_some() {
        return Ok(());
    }
    let name = claim.place.test_name();
    claim.note(&name, |made| made.verify_block_bytes = None);
    claim.save()
}

fn check_space_for(place: &Place, plan: &TargetPlan, fill: &FillPlan) -> Result<(), TargetError> {
    let peeked = place.peek()?;
    let made = peeked
        .as_ref()
        .and_then(|peeked| peeked.manifest.made(&place.test_name()));
    let directory = place.open()?;
    let found = directory.and_then(|directory| {
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::statat(&directory, place.test_name(), flags).ok()
    });
    let held_bytes = found
        .as_ref()
        .map_or(0, |it| u64::try_from(it.st_blocks).unwrap_or(0) * 512);
    let enough = found.is_some_and(|it| it.st_size as u64 >= plan.size_bytes);
    if enough && made.is_some_and(|made| made.complete && made.content == fill.content) {
        return Ok(());
    }
    space::check(
        &place.parent,
        &place.parent_path,
        plan.size_bytes,
        held_bytes,
    )
}

fn open_file(
    claim: &Claim,
    facts: &PathFacts,
    cache: CacheMode,
    (read, write): (bool, bool),
) -> Result<OwnedFd, TargetError> {
    let name = claim.place.test_name();
    let path = claim.place.test_path();
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
    device: &HeldDevice,
    cache: CacheMode,
    read: bool,
    write: bool,
) -> Result<OwnedFd, TargetError> {
    let path = &device.path;
    if write && !device.writable {
        return Err(TargetError::NotForWriting { path: path.clone() });
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
