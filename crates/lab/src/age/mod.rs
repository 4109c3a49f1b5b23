//! File systems brought to an age before they are measured: filled, then used while they stay
//! full, so that files and free space lie in pieces as they do on those that were in use.
//!
//! Source for the method: Smith and Seltzer, "File system aging: increasing the relevance of file
//! system benchmarks", SIGMETRICS 1997; Conway and others, "File systems fated for senescence?
//! Nonsense, says science!", FAST 2017. For the sizes of files: see `sizes`.

mod aged;
mod asked;
mod course;
mod files;
mod shortfall;
mod sizes;
mod space;
mod stream;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use aged::{AgeCounts, Aged, Layout};
pub use asked::Aging;
pub use course::AgeProgress;
pub use shortfall::{AgeShortfall, FullnessMissed};

use crate::error::LabError;
use course::Course;
use files::Files;

/// The directory of the files that age a file system, beside the workload's own.
const DIRECTORY: &str = "pgmeter-aged";

/// Ages the file system of a directory, in which the files that do it stay.
///
/// Files are created until the file system is as full as was asked for; then others are created,
/// appended to, written over and removed while it stays about as full. Content does not compress.
/// What was written is made durable now and then, so that it gets its place before other files go,
/// and at the end; then it is taken out of the page cache. The operations follow from the seed,
/// the capacity, and corrections where the file system uses much more or less than the files'
/// blocks.
///
/// # Errors
/// What the system says; [`LabError::Stopped`] soon after `stop` is set.
pub fn age(
    directory: &Path,
    aging: &Aging,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(AgeProgress),
) -> Result<Aged, LabError> {
    let files = Files::make(directory.join(DIRECTORY), aging.seed, stop)?;
    Course::begin(*aging, files, progress)?.run()
}
