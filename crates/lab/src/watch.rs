//! Whoever hears how far a lab is.

use std::fmt;

use results::RunRecord;

use crate::age::Aged;
use crate::error::LabError;
use crate::outcome::LabAlarm;
use crate::recovery::Trial;
use crate::schedule::Job;

/// What is being done of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabStep {
    /// The bare device is measured.
    MeasureDevice,
    /// A directory that is there is measured past the page cache.
    MeasurePeak,
    /// The file system is made.
    MakeFileSystem,
    /// It is aged; what was written, as a share of what is to be written.
    Age(Option<f64>),
    /// What the workload wrote is made durable.
    Sync,
    /// The file system is unmounted.
    Unmount,
    /// The guest's kernel starts.
    StartGuest,
    /// A guest writes until its kernel is killed.
    WriteUntilKilled,
    /// Another guest looks for what was synced.
    LookForSynced,
}

/// What happens in a lab.
#[derive(Debug)]
pub enum LabEvent<'a> {
    /// All jobs that are to come, in their order.
    Jobs(&'a [Job]),
    /// The job of this index begins.
    Begin(usize),
    /// What is being done of it.
    Step(LabStep),
    /// The file system was aged.
    Aged(&'a Aged),
    /// A guest said something, as it said it.
    GuestSaid(&'a str),
    /// Something failed.
    Alarm(&'a LabAlarm),
    /// The job is done: it was measured.
    Measured(&'a RunRecord),
    /// The job is done: recovery was tried.
    Tried(&'a Trial),
    /// No job comes any more.
    End,
}

/// Hears how far a lab is.
pub trait LabWatcher {
    /// What fails, as it is told.
    type Error: From<LabError> + fmt::Display;

    /// Takes note of what happens.
    fn hear(&self, event: LabEvent<'_>);
}
