//! `lab`: file systems made to order and measured side by side.

mod clean;
mod guest;
mod list;
mod print;
mod progress;
mod recover;
mod remarks;
mod request;
mod run;
mod runner;
mod stored;
mod table;
mod workload;

use lab::{LabError, LabVerdict};

pub(super) use remarks::{alarms, built_as, notes_of, remarks};
pub(super) use request::{read_request, read_unchecked};
pub(super) use runner::{StoringRunner, own_peak_of, peak_of};
pub(super) use stored::{lab_of, page_name, page_of_lab, report_lab, with_runs};
pub(super) use table::costs;
pub(super) use workload::fitted_workload;

use crate::args::{LabAction, LabArgs};
use crate::failure::{Exit, Failure};
use crate::stored::Place;

/// Runs, lists or cleans.
pub(crate) fn lab(args: &LabArgs, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    match &args.action {
        LabAction::Run(args) => run::run(args, place, at_once),
        LabAction::Recover(args) => recover::recover(args, place, at_once),
        LabAction::Report(args) => stored::report(args, place),
        LabAction::List(args) => list::list(args, at_once),
        LabAction::Clean(args) => clean::clean(args),
        LabAction::Guest { order } => guest::guest(order, place, at_once),
    }
}

impl From<LabVerdict> for Exit {
    fn from(verdict: LabVerdict) -> Self {
        match verdict {
            LabVerdict::Whole => Self::Measured,
            LabVerdict::Failed => Self::Failed,
            LabVerdict::Interrupted => Self::Interrupted,
            LabVerdict::System => Self::System,
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let help = error.help();
        let exit = match &error {
            LabError::Stopped => Exit::Interrupted,
            error if error.is_usage() => Exit::Usage,
            _ => Exit::System,
        };
        match error {
            LabError::Plan(refused) => (*refused).into(),
            LabError::InGuest { text } => Self::quoted(exit, text),
            error => Self::new(exit, error, help),
        }
    }
}
