//! File systems made to order: made on an image or a device, mounted, measured on, taken down.
//!
//! Everything that is made is noted on the device before it is made, so that [`clean`] finds it
//! after any death. Nothing is touched that a lab did not make, but for a device that the user
//! named for it. What is to be measured is decided here too,
//! but measuring it is left to whoever holds the lab.

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
mod log;
mod matrix;
mod medium;
mod namespace;
mod outcome;
mod place;
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

/// Tests that start programs take turns: each program shares the locks that are held meanwhile.
#[cfg(test)]
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

pub use age::{AgeCounts, AgeProgress, AgeShortfall, Aged, Aging, FullnessMissed, Layout, age};
pub use availability::{Availability, availability, check};
pub use bench::{Built, Lab};
pub use built_as::{BuiltAs, MountedAs};
pub use catalog::{ENTRIES, Entry, Maker};
pub use choice::{Choice, ChoiceKind};
pub use clean::{Cleaned, clean};
pub use documents::{CleanedLabs, FileSystemList};
pub use error::LabError;
pub use log::{Log, LogSample};
pub use matrix::{
    Costs, DevicePeak, JobShortfall, LabMatrix, LabRequest, LabRunner, LabWorkload, MatrixAnswer,
    MatrixOutcome, MeasuredJob, PEAK_DEPTHS, RunOrder, RunSubject,
};
pub use medium::{LabMedium, MediumKind};
pub use outcome::{LabAlarm, LabNote, LabVerdict};
pub use place::default_directory;
pub use scale::Scale;
pub use schedule::{Job, JobOrder, schedule};
pub use task::{GuestTask, probe_guests};
pub use watch::{LabEvent, LabStep, LabWatcher};
