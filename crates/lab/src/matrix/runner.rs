//! Interface to the caller that measures and stores the runs of a matrix.

use std::path::PathBuf;

use description::{Overrides, Workload};
use planning::Planned;
use results::{RunEvent, RunRecord};

use crate::age::AgedState;
use crate::built_as::FileSystemSetup;
use crate::choice::FileSystemChoice;
use crate::watch::LabWatcher;

/// The object that a run measures.
#[derive(Debug, Clone, Copy)]
pub enum RunSubject<'a> {
    /// A file system.
    FileSystem {
        /// The file system.
        choice: &'a FileSystemChoice,
        /// How it was created.
        built_as: &'a FileSystemSetup,
        /// Its state before the workload, if it was aged.
        aged: Option<&'a AgedState>,
    },
    /// The storage under file systems; its description.
    BareDevice(&'a str),
    /// An existing directory with direct I/O; its label.
    Peak(&'a str),
}

/// A run to measure.
#[derive(Debug)]
pub struct LabRunRequest<'a> {
    /// The accepted plan.
    pub planned: Planned,
    /// The workloads that were planned.
    pub workloads: &'a [Workload],
    /// Options for the workloads, including the target.
    pub overrides: &'a Overrides,
    /// The object to measure.
    pub subject: RunSubject<'a>,
    /// Name of the lab to which the run belongs.
    pub lab_name: &'a str,
    /// Devices that may be overwritten: created for the run, or named by the user.
    pub overwrite_devices: Vec<PathBuf>,
}

/// Measures and stores the runs of a lab.
pub trait LabRunner: LabWatcher {
    /// Measures a run, passes its events to `on_event`, and stores it if runs are stored.
    ///
    /// # Errors
    /// If nothing was measured, or the run cannot be stored.
    fn measure(
        &self,
        order: LabRunRequest<'_>,
        on_event: &mut dyn FnMut(&RunEvent),
    ) -> Result<RunRecord, Self::Error>;

    /// Stores a run that a guest measured, if runs are stored.
    ///
    /// # Errors
    /// If it cannot be stored.
    fn keep(
        &self,
        record: &mut RunRecord,
        subject: RunSubject<'_>,
        lab_name: &str,
    ) -> Result<(), Self::Error>;
}
