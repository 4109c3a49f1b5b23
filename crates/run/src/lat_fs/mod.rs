//! lat_fs: small files created and removed over and over, each pass timed as a whole.
//!
//! This is what stands behind `as lat_fs`; the clock is the caller's.

mod best;
mod median;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::{Clock, FileOptions};
use rustix::fs::OFlags;
use target::ClassicManifest;
use workload::classics::lat_fs::{Best, Form, LatFsPlan, Sample};
use workload::classics::{Chain, Order, PassPlan};
use workload::program::NamesInPlace;

use crate::RunError;
use crate::own_files::{Halt, creating};

/// What is run, and where.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Sizes, order and form.
    pub plan: &'a LatFsPlan,
    /// Where files are made; version 3 makes a directory of its own in it for each sample.
    pub directory: &'a Path,
    /// Workers of version 3, at least 1; they work at the same time, each on its own files.
    pub worker_count: u32,
    /// How long version 3 works before the first sample of each test.
    pub warm_up_ns: u64,
    /// Where a random order and the names of version 3's directories come from.
    pub seed: u64,
}

/// What one size came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Version 1.6.
    Best {
        /// Bytes of each file.
        size_bytes: u64,
        /// The best passes.
        best: Best,
    },
    /// Version 3.
    Median {
        /// Bytes of each file.
        size_bytes: u64,
        /// The median sample of creations.
        create: Option<Sample>,
        /// The median sample of removals.
        remove: Option<Sample>,
    },
}

/// Who looks on.
pub trait Spectator {
    /// A size is done.
    fn row(&mut self, row: &Row);
}

/// Measures every size, one after the other, until the last one or until `stop` is set; then the
/// size in progress has no row.
///
/// A name that is taken is a failure: nothing is written to, or removed, that the run did not
/// make. Nothing of what it made is left.
///
/// # Errors
/// When a directory cannot be used, or with the first operation on a file that fails: the
/// original passes over that and prints the rate of something else.
pub fn play(
    settings: &Settings<'_>,
    clock: &(impl Clock + Sync),
    stop: &AtomicBool,
    spectator: &mut impl Spectator,
) -> Result<(), RunError> {
    let names = match settings.plan.form {
        Form::Best { file_count, .. } => NamesInPlace::Words { count: file_count },
        Form::Median { .. } => NamesInPlace::Samples,
    };
    let _manifest = ClassicManifest::begin(settings.directory, "lat_fs", names);
    for &size_bytes in &settings.plan.sizes_bytes {
        let halt = Halt::new(stop);
        let row = match settings.plan.form {
            Form::Best {
                file_count,
                budget_ns,
            } => best::measure(settings, size_bytes, (file_count, budget_ns), clock, &halt)?,
            Form::Median {
                files_per_directory,
                repetitions,
                sample_ns,
            } => {
                let samples = median::Samples {
                    files_per_directory,
                    repetitions,
                    sample_ns,
                };
                Some(median::measure(
                    settings, size_bytes, &samples, clock, &halt,
                )?)
            }
        };
        match row {
            Some(row) if !halt.is_set() => spectator.row(&row),
            _ => break,
        }
    }
    Ok(())
}

/// A pass over the first files, in that order.
fn pass(chain: Chain, order: Order, file_count: u32, seed: u64) -> PassPlan {
    PassPlan {
        chain,
        order,
        files: 0..file_count,
        iodepth: 1,
        seed,
    }
}

/// Files are made as `creat` makes them, but where the name is free.
fn file_options() -> FileOptions {
    creating(OFlags::WRONLY)
}

/// The longest write of a chain.
const fn write_bytes(chain: &Chain) -> u32 {
    match *chain {
        Chain::Create { write_bytes, .. } => write_bytes,
        Chain::Sync | Chain::Stat | Chain::Remove => 1,
    }
}
