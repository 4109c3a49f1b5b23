//! A lab matrix: workloads on file systems, each job on a new file system.
//!
//! This module decides what to create, in which order, and what a job cost in addition to its
//! workload. The caller, a [`LabRunner`], measures and stores the runs. Nothing here is formatted
//! for the user.

mod costs;
mod guest;
mod job;
mod outcome;
mod peak;
mod request;
mod run;
mod runner;
mod scaled;
mod written;

#[cfg(test)]
mod tests;

pub use costs::JobCosts;
pub use guest::GuestMatrixResults;
pub use outcome::{JobShortfall, MatrixOutcome, MeasuredJob};
pub use peak::{DevicePeak, PEAK_DEPTHS};
pub use request::MatrixRequest;
pub use runner::{LabRunRequest, LabRunner, RunSubject};
pub use scaled::LabWorkload;

/// Workloads to run on file systems.
#[derive(Debug)]
pub struct LabMatrix {
    /// The file systems and their storage.
    pub request: MatrixRequest,
    /// The workloads, each of which runs on every file system.
    pub workloads: Vec<LabWorkload>,
    /// `true` if the kernel's caches are dropped before each workload.
    pub is_cold: bool,
}
