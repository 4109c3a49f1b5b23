//! What a run lends to a cell.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use engine::TscClock;
use plan::Cell;
use results::RunEvent;
use target::DeviceCounters;

use crate::cut::is_cut;
use crate::meeting::Meeting;
use crate::status::StatusWish;

/// What the run lends to a cell, or to a stage of one.
pub(crate) struct CellKit<'a> {
    pub cell: &'a Cell,
    pub clock: &'a TscClock,
    /// Set from outside to end the run.
    pub stop: &'a AtomicBool,
    /// Set from outside to go on with the next cell; none where what is done must be whole.
    pub skip: Option<&'a AtomicBool>,
    /// Set from outside when the process goes on after it was stopped.
    pub continued: &'a AtomicBool,
    /// Where it is agreed with other processes when to begin.
    pub meeting: Option<&'a dyn Meeting>,
    /// What is shown as being done, and how much of it there is.
    pub course: Course,
    /// The devices under the targets, which are looked at over the time of the measurement.
    pub devices: Option<Rc<DeviceCounters>>,
    /// Whether it is told while it goes on what was done so far.
    pub status: Option<StatusWish<'a>>,
    /// Called when the measurement begins and when it ends, with the threads' ids.
    pub mark: &'a mut dyn FnMut(Mark, &[i32]),
    pub listener: &'a mut dyn FnMut(&RunEvent),
}

impl CellKit<'_> {
    /// Whether the cell is to end before it is over.
    pub fn is_cut(&self) -> bool {
        is_cut(self.stop, self.skip)
    }

    /// Tells other processes when the first worker here began.
    pub fn tell_begin(&self, begin_ns: Option<u64>) {
        if let (Some(meeting), Some(begin_ns)) = (self.meeting, begin_ns) {
            meeting.begun(self.course.phase.as_deref(), begin_ns);
        }
    }
}

/// What is shown as being done, and how much of it there is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course {
    /// The phase's name, where it is not simply measuring.
    pub phase: Option<String>,
    /// Transactions until it ends; none where it ends by time or nobody knows.
    pub transactions: Option<u64>,
    /// How long it is to take, in nanoseconds; 0 where it ends by itself.
    pub time_ns: u64,
}

/// The ends of the measurement, as the monitor sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Begin,
    /// A round ends and the next begins.
    Round,
    End,
}
