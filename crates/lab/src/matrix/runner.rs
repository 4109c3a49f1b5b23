//! Whoever measures and keeps the runs of a matrix.

use std::path::PathBuf;

use description::{Overrides, Workload};
use planning::Planned;
use results::{RunEvent, RunRecord};

use crate::age::Aged;
use crate::built_as::BuiltAs;
use crate::choice::Choice;
use crate::watch::LabWatcher;

/// What a run is measured on.
#[derive(Debug, Clone, Copy)]
pub enum RunSubject<'a> {
    /// A file system.
    FileSystem {
        /// Which.
        choice: &'a Choice,
        /// What was made.
        built_as: &'a BuiltAs,
        /// What it was before the workload, where it was aged.
        aged: Option<&'a Aged>,
    },
    /// What file systems are made on, in words.
    BareDevice(&'a str),
    /// A directory that is there, past the page cache, by its label.
    PeakOf(&'a str),
}

/// A run that is to be measured.
#[derive(Debug)]
pub struct RunOrder<'a> {
    /// What is to be measured; it has no refusals.
    pub planned: Planned,
    /// What was planned.
    pub workloads: &'a [Workload],
    /// With these options, the target among them.
    pub overrides: &'a Overrides,
    /// On what.
    pub subject: RunSubject<'a>,
    /// The lab's name.
    pub lab_name: &'a str,
    /// Devices that were made for it, or that the user named.
    pub overwrite_devices: Vec<PathBuf>,
}

/// Measures and keeps the runs of a lab.
pub trait LabRunner: LabWatcher {
    /// Measures, tells `hear` what happens meanwhile, and keeps the run where runs are kept.
    ///
    /// # Errors
    /// Why nothing was measured, or what was measured cannot be kept.
    fn measure(
        &self,
        order: RunOrder<'_>,
        hear: &mut dyn FnMut(&RunEvent),
    ) -> Result<RunRecord, Self::Error>;

    /// Keeps a run that a guest measured, where runs are kept.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keep(
        &self,
        record: &mut RunRecord,
        subject: RunSubject<'_>,
        lab_name: &str,
    ) -> Result<(), Self::Error>;
}
