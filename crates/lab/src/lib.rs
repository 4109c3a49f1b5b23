//! Creates file systems on an image or a device, mounts them, and removes them after measurements.
//!
//! Every step is written to a journal before it is done, so that [`clean`] can undo it even after a
//! crash. A lab touches only what it created, and a device that the user named for it. This crate
//! decides what to measure; the caller's [`LabRunner`] measures.

mod age;
mod availability;
mod bench;
mod built_as;
mod catalog;
mod choice;
mod clean;
mod command_line;
mod device;
mod documents;
mod error;
mod journal;
mod labs_dir;
mod log;
mod matrix;
mod medium;
mod namespace;
mod outcome;
mod processes;
pub mod recovery;
mod scale;
mod schedule;
mod step;
mod task;
mod tools;
mod undo;
pub mod vm;
mod watch;

/// Tests that start programs run one at a time, because each program inherits the locks held
/// meanwhile.
#[cfg(test)]
static TEST_LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());

pub use age::{
    AgedState, AgingCounts, AgingOptions, AgingProgress, AgingShortfall, ExtentLayout,
    FullnessShortfall, age,
};
pub use availability::{Availability, availability, check};
pub use bench::{BuiltFileSystem, Lab};
pub use built_as::{FileSystemSetup, MountSetup};
pub use catalog::{CreationMethod, ENTRIES, LabFileSystem};
pub use choice::{ChoiceKind, FileSystemChoice};
pub use clean::{CleanupResult, clean};
pub use documents::{CleanedLabs, FileSystemList};
pub use error::LabError;
pub use labs_dir::default_directory;
pub use log::{FileSystemLog, LogSample};
pub use matrix::{
    DevicePeak, GuestMatrixResults, JobCosts, JobShortfall, LabMatrix, LabRunRequest, LabRunner,
    LabWorkload, MatrixOutcome, MatrixRequest, MeasuredJob, PEAK_DEPTHS, RunSubject,
};
pub use medium::{LabMedium, MediumKind};
pub use outcome::{LabFailure, LabNote, LabVerdict};
pub use scale::LabScale;
pub use schedule::{JobOrder, LabMeasurement, schedule};
pub use task::{GuestTask, probe_guests};
pub use watch::{LabEvent, LabStep, LabWatcher};
