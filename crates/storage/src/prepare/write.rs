//! Writes the content of a target.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use engine::{OpenPlan, open_target};
use generate::ContentSource;
use plan::{CacheMode, TargetPlan};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::{FillPlan, evict, open_device};
use crate::claim::ManifestClaim;
use crate::device::AdmittedDevice;
use crate::fill::{FillContent, FillError, FillWatch};
use crate::manifest::ManifestFile;
use crate::{TargetError, space};

pub(super) fn write_file(
    claim: &mut ManifestClaim,
    plan: &TargetPlan,
    fill: &FillPlan,
    watch: &mut FillWatch<'_>,
) -> Result<(), TargetError> {
    let name = claim.location.test_name();
    let path = claim.location.test_path();
    check_space(claim, plan.size_bytes)?;
    let file = begin_file(claim, plan, fill, fill.verify_block_bytes)?;
    let written = fill_file(claim, &file, plan.size_bytes, fill, watch);
    if let Err(error) = written {
        // Closed first, because FUSE and NFS would only rename a file that is still open.
        drop(file);
        let removed = claim.remove(&name).is_ok();
        // The first error is reported; an error here is ignored.
        let _ = claim.save();
        return Err(target_error(error, path, plan.size_bytes, removed));
    }
    // The stamps of the killed run are replaced, so the new ones can be trusted.
    claim.interrupted = false;
    // Only now: a run killed while writing leaves a file that no later run reuses.
    claim.note(&name, |entry| entry.complete = true);
    claim.save()
}

/// Checks that there is space for the data of a test file that replaces the current one. Called
/// before the current one is removed, so that a refused size loses nothing.
pub(super) fn check_space(claim: &ManifestClaim, wanted_bytes: u64) -> Result<(), TargetError> {
    let stat = claim.stat(&claim.location.test_name());
    let held_bytes = stat.map_or(0, |it| u64::try_from(it.st_blocks).unwrap_or(0) * 512);
    let parent_path = &claim.location.parent_path;
    space::check(&claim.directory, parent_path, wanted_bytes, held_bytes)
}

/// Replaces the test file, which must belong to pgmeter, by an empty one.
pub(super) fn begin_file(
    claim: &mut ManifestClaim,
    plan: &TargetPlan,
    fill: &FillPlan,
    verify_block_bytes: Option<u32>,
) -> Result<File, TargetError> {
    let name = claim.location.test_name();
    if claim.manifest.made(&name).is_some() && claim.remove(&name).is_err() {
        let path = claim.location.test_path();
        return Err(TargetError::PathTaken { path });
    }
    let entry = ManifestFile {
        name,
        size_bytes: plan.size_bytes,
        inode: None,
        content: fill.content,
        seed: fill.seed,
        verify_block_bytes,
        complete: false,
    };
    claim.create(entry).map(File::from)
}

fn fill_file(
    claim: &ManifestClaim,
    file: &File,
    size_bytes: u64,
    fill: &FillPlan,
    watch: &mut FillWatch<'_>,
) -> Result<(), FillError> {
    reserve(file, size_bytes)?;
    let plan = OpenPlan {
        cache: CacheMode::Direct,
        read: false,
        write: true,
        create: false,
    };
    let name = claim.location.test_name();
    let direct = open_target(claim.directory.as_fd(), Path::new(&name), plan).ok();
    filling(fill, 0..size_bytes)?.write(direct, file, watch)
}

/// Returns the content of a file between two offsets.
pub(super) fn filling(fill: &FillPlan, bytes: Range<u64>) -> Result<FillContent, FillError> {
    let source = ContentSource::new(&fill.content).map_err(|error| FillError::Io {
        offset_bytes: 0,
        source: io::Error::new(io::ErrorKind::InvalidInput, error.to_string()),
    })?;
    Ok(FillContent {
        source,
        seed: fill.seed,
        verify_block_bytes: fill.verify_block_bytes,
        start_bytes: bytes.start,
        size_bytes: bytes.end,
    })
}

/// Allocates all space in one step, so that a lack of space is detected before writing.
pub(super) fn reserve(file: &File, size_bytes: u64) -> Result<(), FillError> {
    loop {
        return match fallocate(file, FallocateFlags::empty(), 0, size_bytes) {
            Err(Errno::INTR) => continue,
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)) => {
                Err(FillError::Io {
                    offset_bytes: 0,
                    source: error.into(),
                })
            }
            // Not every file system supports it; then writing detects a lack of space.
            _ => Ok(()),
        };
    }
}

pub(super) fn target_error(
    error: FillError,
    path: PathBuf,
    wanted_bytes: u64,
    removed: bool,
) -> TargetError {
    match error {
        FillError::Stopped => TargetError::Interrupted { path },
        FillError::Io {
            offset_bytes,
            source,
        } => match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                TargetError::RanOutOfSpace {
                    path,
                    done_bytes: offset_bytes,
                    wanted_bytes,
                    source,
                }
            }
            _ => TargetError::PrepareFailed {
                path,
                offset_bytes,
                source,
                removed,
            },
        },
    }
}

pub(super) fn fill_device(
    device: &AdmittedDevice,
    plan: &TargetPlan,
    fill: &FillPlan,
    watch: &mut FillWatch<'_>,
) -> Result<(), TargetError> {
    let path = device.path.clone();
    if plan.size_bytes > device.size_bytes {
        let (available_bytes, wanted_bytes) = (device.size_bytes, plan.size_bytes);
        return Err(TargetError::DeviceTooSmall {
            path,
            available_bytes,
            wanted_bytes,
        });
    }
    if fill.verify_block_bytes.is_none() && !fill.prepare_device {
        return Ok(());
    }
    let direct = open_device(device, CacheMode::Direct, false, true).ok();
    let buffered = File::from(open_device(device, CacheMode::Buffered, true, true)?);
    filling(fill, 0..plan.size_bytes)
        .and_then(|filling| filling.write(direct, &buffered, watch))
        .map_err(|error| target_error(error, path, plan.size_bytes, false))?;
    // Unlike files, devices are not evicted by the caller.
    evict(&buffered);
    Ok(())
}
