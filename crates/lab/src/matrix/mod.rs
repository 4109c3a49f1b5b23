//! A lab matrix: workloads on file systems, each job on a file system of its own.
//!
//! What is made, in which order, and what a job cost beside its workload is decided here. Runs are
//! measured and kept by whoever holds the matrix, a [`LabRunner`]; nothing here is said in words.

mod costs;
mod fitted;
mod guest;
mod job;
mod outcome;
mod peak;
mod request;
mod run;
mod runner;
mod written;

#[cfg(test)]
mod tests;

pub use costs::Costs;
pub use fitted::LabWorkload;
pub use guest::MatrixAnswer;
pub use outcome::{JobShortfall, MatrixOutcome, MeasuredJob};
pub use peak::{DevicePeak, PEAK_DEPTHS};
pub use request::LabRequest;
pub use runner::{LabRunner, RunOrder, RunSubject};

/// Workloads on file systems.
#[derive(Debug)]
pub struct LabMatrix {
    /// The file systems, and what they are made on.
    pub request: LabRequest,
    /// The workloads.
    pub workloads: Vec<LabWorkload>,
    /// Whether the kernel's caches are dropped before each workload.
    pub is_cold: bool,
}
