//! Ages file systems before they are measured: fills them, then uses them while they stay full.
//! Files and free space are then fragmented as on file systems in use.
//!
//! Source for the method: Smith and Seltzer, "File system aging: increasing the relevance of file
//! system benchmarks", SIGMETRICS 1997; Conway and others, "File systems fated for senescence?
//! Nonsense, says science!", FAST 2017. For the sizes of files: see `sizes`.

mod aged;
mod aging;
mod files;
mod options;
mod shortfall;
mod sizes;
mod space;
mod stream;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use aged::{AgedState, AgingCounts, ExtentLayout};
pub use aging::AgingProgress;
pub use options::AgingOptions;
pub use shortfall::{AgingShortfall, FullnessShortfall};

use crate::error::LabError;
use aging::AgingRun;
use files::AgedFiles;

/// Directory of the files that age a file system; separate from the workload's directory.
const DIRECTORY: &str = "pgmeter-aged";

/// Ages the file system that contains `directory`; the files created for this remain there.
///
/// Files are created until the file system has the requested fullness. Then files are created,
/// appended to, overwritten and removed while the fullness stays about the same. Content does not
/// compress. Data is synced at the end, and regularly before that: it must get its blocks before
/// other files are removed. Then it is dropped from the page cache. The operations depend only on
/// the seed, the capacity, and corrections if the file system uses much more or less space than the
/// files' blocks.
///
/// # Errors
/// I/O errors; [`LabError::Stopped`] soon after `stop` is set.
pub fn age(
    directory: &Path,
    aging: &AgingOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(AgingProgress),
) -> Result<AgedState, LabError> {
    let files = AgedFiles::make(directory.join(DIRECTORY), aging.seed, stop)?;
    AgingRun::begin(*aging, files, progress)?.run()
}
