//! What guests are ordered to do.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::bench::Lab;
use crate::error::LabError;
use crate::place::default_directory;
use crate::recovery::Part;
use crate::schedule::Job;
use crate::vm::{self, Host, Kernel};

/// What a guest is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestTask {
    /// Measure one job of the matrix that its arguments describe.
    Measure {
        /// Which.
        job: Job,
        /// The lab's name on the host.
        lab: String,
    },
    /// Do a part of a trial of recovery.
    Recover(Part),
    /// Do nothing, to tell that guests run here.
    Nothing,
}

/// Finds what runs guests and has one do nothing, in a lab of its own.
///
/// # Errors
/// What is missing, or why guests do not run; [`LabError::Stopped`] where `stop` is set meanwhile.
pub fn probe_guests(stop: &AtomicBool) -> Result<Kernel, LabError> {
    vm::probe(&default_directory(), GuestTask::Nothing, stop)
}

/// Refuses what guests would be needed for where they do not run.
pub(crate) fn probe_in(lab: &mut Lab, host: &Host, stop: &AtomicBool) -> Result<(), LabError> {
    match lab.probe_guest(host, GuestTask::Nothing, stop) {
        // Whoever goes on sees that it is to end, and says so.
        Err(LabError::Stopped) => Ok(()),
        probed => probed,
    }
}
