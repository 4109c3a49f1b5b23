//! One thread's part of an iteration.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use engine::{Clock, FileOptions};
use generate::classics::fs_mark_names;
use results::WorkerTimes;
use rustix::fs::OFlags;
use workload::classics::fs_mark::{FsMarkPlan, Stage};
use workload::classics::{Chain, PassPlan};

use super::Settings;
use super::call_times::Stopwatch;
use crate::RunError;
use crate::own_files::{Halt, OwnFiles, creating, open_location};

/// Which files a thread makes in an iteration: the names follow from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub directory_index: usize,
    pub time_seconds: u64,
    pub seed: u64,
}

/// A thread's files, before they are made.
pub(super) struct Prepared<'a> {
    plan: &'a FsMarkPlan,
    directory: &'a Path,
    share: Share,
    location: OwnedFd,
    files: OwnFiles,
}

impl<'a> Prepared<'a> {
    pub fn new(settings: &Settings<'a>, share: Share) -> Result<Self, RunError> {
        let plan = settings.plan;
        let directory = settings.directories.get(share.directory_index);
        let directory = directory.map_or(Path::new("."), PathBuf::as_path);
        let files = OwnFiles::new(
            open_location(directory)?,
            directory,
            fs_mark_names(plan, share.time_seconds, share.seed),
            file_options(),
            plan.write_bytes,
        )?;
        Ok(Self {
            plan,
            directory,
            share,
            location: open_location(directory)?,
            files,
        })
    }

    pub fn directory(&self) -> &'a Path {
        self.directory
    }

    /// Subdirectories that were made, with their directory's index.
    pub fn take_directories(&mut self) -> Vec<(usize, PathBuf)> {
        let made = self.files.take_directories().into_iter();
        made.map(|name| (self.share.directory_index, name))
            .collect()
    }

    /// The number of the file system that the files will lie in, and its free bytes.
    pub fn room(&self) -> Result<(u64, u64), RunError> {
        let failed = |errno| RunError::file("access", self.directory, errno);
        let device = rustix::fs::fstat(&self.location).map_err(failed)?.st_dev;
        let found = rustix::fs::fstatvfs(&self.location).map_err(failed)?;
        Ok((device, found.f_bavail.saturating_mul(found.f_frsize)))
    }

    /// Goes through all stages, or to the first one with a halt.
    pub fn work(&mut self, clock: &impl Clock, halt: &Halt<'_>) -> Result<WorkerTimes, RunError> {
        let mut watch = Stopwatch::new(clock);
        let mut loop_ns = 0;
        let start_ns = clock.now_ns();
        for stage in self.plan.stages() {
            let is_timed = match stage {
                Stage::SyncAll => {
                    let start_ns = clock.now_ns();
                    rustix::fs::sync();
                    watch.add_sync(clock.now_ns().saturating_sub(start_ns));
                    true
                }
                Stage::Files {
                    chain,
                    order,
                    file_count,
                    is_timed,
                } => {
                    watch.set_syncing(chain == Chain::Sync);
                    let pass = PassPlan {
                        chain,
                        order,
                        files: 0..file_count,
                        iodepth: 1,
                        seed: 0,
                    };
                    let carried_out = self.files.carry_out(&pass, halt, &mut watch);
                    // What was opened here is closed by this thread.
                    self.files.close();
                    carried_out?;
                    is_timed
                }
            };
            if halt.is_set() {
                break;
            }
            if is_timed {
                loop_ns = clock.now_ns().saturating_sub(start_ns);
            }
        }
        Ok(watch.finish(loop_ns))
    }

    /// Removes what there is.
    pub fn remove(mut self) -> Result<(), RunError> {
        self.files.remove()
    }

    /// Lets the files outlive this value; says how to find them again.
    pub fn keep(self) -> Share {
        self.files.keep();
        self.share
    }

    /// The files of an earlier iteration, which were kept.
    pub fn claimed(settings: &Settings<'a>, share: Share) -> Result<Self, RunError> {
        let mut prepared = Self::new(settings, share)?;
        prepared.files.claim();
        Ok(prepared)
    }
}

/// Files are made as the original makes them, but where the name is free.
fn file_options() -> FileOptions {
    creating(OFlags::RDWR)
}
