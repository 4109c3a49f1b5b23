//! Tasks for guests.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::bench::Lab;
use crate::error::LabError;
use crate::labs_dir::default_directory;
use crate::recovery::RecoveryGuestTask;
use crate::schedule::LabMeasurement;
use crate::vm::{self, Host, Kernel};

/// Task that the host gives to a guest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestTask {
    /// Measure one job of the matrix that the arguments describe.
    Measure {
        /// The job to measure.
        job: LabMeasurement,
        /// Name of the lab on the host.
        lab: String,
    },
    /// Run one part of a recovery trial.
    Recover(RecoveryGuestTask),
    /// Do nothing, to check that guests run here.
    Nothing,
}

/// Finds the guest kernel and runs a guest that does nothing, in a temporary lab.
///
/// # Errors
/// If something is missing or guests do not run; [`LabError::Stopped`] if `stop` is set meanwhile.
pub fn probe_guests(stop: &AtomicBool) -> Result<Kernel, LabError> {
    vm::probe(&default_directory(), GuestTask::Nothing, stop)
}

/// Checks that guests run before they are needed.
pub(crate) fn probe_in(lab: &mut Lab, host: &Host, stop: &AtomicBool) -> Result<(), LabError> {
    match lab.probe_guest(host, GuestTask::Nothing, stop) {
        // The caller checks for the stop and reports it.
        Err(LabError::Stopped) => Ok(()),
        probed => probed,
    }
}
