//! `lab`: file systems made to order and measured side by side.

mod aging;
mod clean;
mod contest;
mod ground;
mod guest;
mod list;
mod measure;
mod outcome;
mod peak;
mod print;
mod progress;
mod recover;
mod run;
mod stored;

pub(super) use contest::{Contest, Entrant, Held, Side};
pub(super) use ground::Asked;
pub(super) use guest::probe;
pub(super) use outcome::{costs, exit, shortfalls};
pub(super) use peak::{Peak, peak};
pub(super) use stored::{lab_of, page_name, page_of_lab, report_lab, with_runs};

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

impl From<lab::LabError> for Failure {
    fn from(error: lab::LabError) -> Self {
        let help = error.help();
        let exit = if error.is_usage() {
            Exit::Usage
        } else {
            Exit::System
        };
        Self::new(exit, error, help)
    }
}
