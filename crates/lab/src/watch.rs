//! Interface to the caller that follows the progress of a lab.

use std::fmt;

use results::RunRecord;

use crate::age::AgedState;
use crate::error::LabError;
use crate::outcome::LabFailure;
use crate::recovery::Trial;
use crate::schedule::LabMeasurement;

/// Current step of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabStep {
    /// The bare device is measured.
    MeasureDevice,
    /// An existing directory is measured with direct I/O.
    MeasurePeak,
    /// The file system is created.
    MakeFileSystem,
    /// The file system is aged; the share of bytes written, if known.
    Age(Option<f64>),
    /// The data of the workload is synced.
    Sync,
    /// The file system is unmounted.
    Unmount,
    /// The guest's kernel starts.
    StartGuest,
    /// A guest writes until its kernel is killed.
    WriteUntilKilled,
    /// Another guest checks the synced data.
    CheckSynced,
}

/// An event of a lab, for its watcher.
#[derive(Debug)]
pub enum LabEvent<'a> {
    /// All jobs, in order.
    Jobs(&'a [LabMeasurement]),
    /// The job with this index begins.
    Begin(usize),
    /// The current job's next step.
    Step(LabStep),
    /// The file system was aged.
    Aged(&'a AgedState),
    /// A line that a guest printed.
    GuestLine(&'a str),
    /// A failure that does not end the lab.
    Failure(&'a LabFailure),
    /// The job is done: a run was measured.
    Measured(&'a RunRecord),
    /// The job is done: recovery was tested.
    RecoveryTested(&'a Trial),
    /// No further jobs.
    End,
}

/// Follows the progress of a lab.
pub trait LabWatcher {
    /// The caller's error type.
    type Error: From<LabError> + fmt::Display;

    /// Receives an event.
    fn on_event(&self, event: LabEvent<'_>);
}
