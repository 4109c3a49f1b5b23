//! fs_mark: threads create files, make them durable and remove them; each kind of call is timed.
//!
//! This is what stands behind `as fs_mark`; the clock is the caller's.

mod call_times;
mod iteration;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use engine::{Clock, with_own_descriptors};
use generate::mix;
use results::WorkerTimes;
use rustix::fs::CWD;
use target::{ClassicManifest, ClassicNames};
use workload::classics::fs_mark::{FsMarkPlan, Subdirectories};

use crate::RunError;
use crate::own_files::{Halt, make_directory, open_location, remove_directories};
use crate::rooms::Rooms;
use crate::together::together;

use iteration::{Prepared, Share};

/// What is run, and where.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Threads, files and how they are made durable.
    pub plan: &'a FsMarkPlan,
    /// The directories, at least one; those that are missing are made. Thread t works in
    /// directory `t % d` of d.
    pub directories: &'a [PathBuf],
    /// Where the names come from.
    pub seed: u64,
}

/// Who looks on.
pub trait Spectator {
    /// The time in seconds since 1970, for the names of the next iteration.
    fn time_seconds(&mut self) -> u64;

    /// An iteration is done; the threads' times in their order.
    fn iteration(&mut self, threads: Vec<WorkerTimes>);
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// After its last iteration.
    Done,
    /// The next files of some threads would not have fitted; these are their directories.
    Full(Vec<PathBuf>),
    /// It was asked to; nothing of what it made is left.
    Stopped,
}

/// Runs all iterations, until the last one, until the next files would not fit, or until `stop`
/// is set.
///
/// Unlike the original it makes a file only where its name is free, so that names with so few
/// random characters that two are the same are a failure. Each iteration's names are made before
/// it begins. Directories outlive the run, and so do files where the plan keeps them, but nothing
/// outlives a run that was stopped.
///
/// # Errors
/// When a directory cannot be used, or with the first operation on a file that fails; the files
/// of that iteration are removed then.
pub fn play(
    settings: &Settings<'_>,
    clock: &(impl Clock + Sync),
    stop: &AtomicBool,
    spectator: &mut impl Spectator,
) -> Result<Ended, RunError> {
    let mut traces = Traces::default();
    let ended = play_on(settings, clock, stop, spectator, &mut traces);
    let removed = match ended {
        Ok(Ended::Stopped) => traces.remove_files(settings),
        Ok(_) => return ended,
        Err(_) => Ok(()),
    };
    traces.manifests.clear();
    // Those with something in them stay.
    traces.remove_directories(settings);
    removed.and(ended)
}

fn play_on(
    settings: &Settings<'_>,
    clock: &(impl Clock + Sync),
    stop: &AtomicBool,
    spectator: &mut impl Spectator,
    traces: &mut Traces,
) -> Result<Ended, RunError> {
    let plan = settings.plan;
    for directory in settings.directories {
        if make_directory(directory)? {
            traces.directories.push(directory.clone());
        }
    }
    let begin = |directory: &PathBuf| ClassicManifest::begin(directory, "fs_mark", names(plan));
    traces.manifests = settings.directories.iter().filter_map(begin).collect();
    let iterations = if plan.until_full {
        u64::MAX
    } else {
        plan.iterations.into()
    };
    for iteration_index in 0..iterations {
        let halt = Halt::new(stop);
        let shares = shares(settings, iteration_index, spectator.time_seconds());
        let prepared = together(shares, &halt, |share| Prepared::new(settings, share))?;
        let mut rooms = Rooms::default();
        let mut full = Vec::new();
        let mut ready = Vec::new();
        for mut prepared in prepared {
            traces.subdirectories.extend(prepared.take_directories());
            let (device, free_bytes) = prepared.room()?;
            if rooms.take(device, free_bytes, plan.iteration_bytes()) {
                ready.push(prepared);
            } else {
                full.push(prepared.directory().to_owned());
            }
        }
        let done = together(ready, &halt, |mut prepared| {
            // All that it opens it closes.
            let times = with_own_descriptors(|| prepared.work(clock, &halt));
            let times = times.inspect_err(|_| halt.fail());
            // The files go where they were prepared.
            Ok((prepared, times))
        })?;
        let mut threads = Vec::with_capacity(done.len());
        for (prepared, times) in done {
            let times = times?;
            if halt.is_set() {
                prepared.remove()?;
            } else if plan.is_kept {
                traces.shares.push(prepared.keep());
            }
            threads.push(times);
        }
        if halt.is_set() {
            return Ok(Ended::Stopped);
        }
        if !full.is_empty() {
            return Ok(Ended::Full(full));
        }
        spectator.iteration(threads);
    }
    Ok(Ended::Done)
}

/// How the files and directories are called, for `clean`.
fn names(plan: &FsMarkPlan) -> ClassicNames {
    ClassicNames::Marks {
        name_length: plan.name_length,
        random_length: plan.random_length,
        subdirectory_count: match plan.subdirectories {
            Subdirectories::None => 0,
            Subdirectories::RoundRobin { count, .. } | Subdirectories::ByTime { count } => count,
        },
    }
}

/// What each thread does in an iteration.
fn shares(settings: &Settings<'_>, iteration_index: u64, time_seconds: u64) -> Vec<Share> {
    let share = |thread_index: u32| Share {
        directory_index: thread_index as usize % settings.directories.len().max(1),
        time_seconds,
        seed: mix(mix(settings.seed ^ iteration_index) ^ u64::from(thread_index)),
    };
    (0..settings.plan.thread_count).map(share).collect()
}

/// What a run left behind so far.
#[derive(Default)]
struct Traces {
    /// What `clean` is told in each directory, as long as the run goes on.
    manifests: Vec<ClassicManifest>,
    /// Shares whose files were kept.
    shares: Vec<Share>,
    /// Directories of the settings that were missing.
    directories: Vec<PathBuf>,
    /// Subdirectories that were made, with their directory.
    subdirectories: Vec<(usize, PathBuf)>,
}

impl Traces {
    /// Removes the files that were kept, all it can.
    fn remove_files(&self, settings: &Settings<'_>) -> Result<(), RunError> {
        let remove = |share: &Share| Prepared::claimed(settings, *share)?.remove();
        let removed: Vec<_> = self.shares.iter().map(remove).collect();
        removed.into_iter().collect()
    }

    fn remove_directories(&self, settings: &Settings<'_>) {
        for (directory_index, name) in self.subdirectories.iter().rev() {
            let directory = settings.directories.get(*directory_index);
            if let Some(Ok(location)) = directory.map(|path| open_location(path)) {
                remove_directories(&location, std::slice::from_ref(name));
            }
        }
        remove_directories(CWD, &self.directories);
    }
}
