//! File systems made to order: made on an image or a device, mounted, measured on, taken down.
//!
//! Everything that is made is noted on the device before it is made, so that [`clean`] finds it
//! after any death. Nothing is touched that a lab did not make, but for a device that the user
//! named for it. What is measured is not decided here.

mod age;
mod availability;
mod bench;
mod catalog;
mod choice;
mod clean;
mod device;
mod documents;
mod error;
mod journal;
mod log;
mod medium;
mod place;
mod processes;
pub mod recovery;
mod scale;
mod schedule;
mod step;
mod tools;
mod undo;
pub mod vm;
mod words;

/// Tests that start programs take turns: each program shares the locks that are held meanwhile.
#[cfg(test)]
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

pub use age::{AgeCounts, AgeProgress, Aged, Aging, Layout, age};
pub use availability::{Availability, availability, check};
pub use bench::{Built, Lab};
pub use catalog::{ENTRIES, Entry, Maker};
pub use choice::{Choice, ChoiceKind};
pub use clean::{Cleaned, clean};
pub use documents::{CleanedLabs, FileSystemList};
pub use error::LabError;
pub use log::{Log, LogSample};
pub use medium::{Ground, Medium};
pub use place::default_directory;
pub use scale::Scale;
pub use schedule::{Job, Order, schedule};
