//! Resources that a run lends to a cell.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use engine::TscClock;
use plan::Cell;
use results::RunEvent;
use storage::DeviceCounters;

use crate::agreement::PeerAgreement;
use crate::status::StatusRequest;
use crate::stop_conditions::is_cut;

/// Resources that the run lends to a cell, or to a stage of one.
pub(crate) struct CellContext<'a> {
    pub cell: &'a Cell,
    pub clock: &'a TscClock,
    /// Set by a signal handler to end the run.
    pub stop: &'a AtomicBool,
    /// Set by a signal handler to continue with the next cell; `None` if the work must not be cut
    /// short.
    pub skip: Option<&'a AtomicBool>,
    /// Set by the handler of `SIGCONT`, after the process was stopped.
    pub continued: &'a AtomicBool,
    /// Agreement with other processes; `None` if this process runs alone.
    pub agreement: Option<&'a dyn PeerAgreement>,
    /// Stage that the display shows.
    pub shown_stage: ShownStage,
    /// Devices under the targets, sampled during the measurement.
    pub devices: Option<Rc<DeviceCounters>>,
    /// Status reports during the cell; `None` if none are requested.
    pub status: Option<StatusRequest<'a>>,
    /// Called at the start and the end of the measurement, with the threads' IDs.
    pub mark: &'a mut dyn FnMut(CellMark, &[i32]),
    pub listener: &'a mut dyn FnMut(&RunEvent),
}

impl CellContext<'_> {
    /// `true` if the cell is to end early.
    pub fn is_cut(&self) -> bool {
        is_cut(self.stop, self.skip)
    }

    /// Reports to other processes when the first worker here started.
    pub fn report_begin(&self, begin_ns: Option<u64>) {
        if let (Some(meeting), Some(begin_ns)) = (self.agreement, begin_ns) {
            meeting.begun(self.shown_stage.phase.as_deref(), begin_ns);
        }
    }
}

/// Stage that the display shows, and its size.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownStage {
    /// Name of the phase; `None` for plain measuring.
    pub phase: Option<String>,
    /// Transactions until its end; `None` if it ends by time or the number is not known.
    pub transactions: Option<u64>,
    /// Planned duration, in nanoseconds; 0 if its work ends it.
    pub time_ns: u64,
}

/// Points of the measurement that the monitor marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellMark {
    Begin,
    /// A round ends and the next one starts.
    Round,
    End,
}
