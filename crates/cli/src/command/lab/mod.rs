//! `lab`: creates file systems and measures them side by side.

mod clean;
mod guest;
mod list;
mod print;
mod progress;
mod recover;
pub(super) mod remarks;
pub(super) mod request;
mod run;
pub(super) mod runner;
pub(super) mod stored;
pub(super) mod table;
pub(super) mod workload;

use lab::{LabError, LabVerdict};

use crate::args::{LabAction, LabArgs};
use crate::failure::{CliError, Exit};
use crate::stored::StoreLocation;

/// Runs the action of `lab`.
pub(crate) fn lab(
    args: &LabArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    match &args.action {
        LabAction::Run(args) => run::run(args, location, on_second_interrupt),
        LabAction::Recover(args) => recover::recover(args, location, on_second_interrupt),
        LabAction::Report(args) => stored::report(args, location),
        LabAction::List(args) => list::list(args, on_second_interrupt),
        LabAction::Clean(args) => clean::clean(args),
        LabAction::Guest { order } => guest::guest(order, location, on_second_interrupt),
    }
}

impl From<LabVerdict> for Exit {
    fn from(verdict: LabVerdict) -> Self {
        match verdict {
            LabVerdict::Complete => Self::Success,
            LabVerdict::Failed => Self::Failed,
            LabVerdict::Interrupted => Self::Interrupted,
            LabVerdict::System => Self::System,
        }
    }
}

impl From<LabError> for CliError {
    fn from(error: LabError) -> Self {
        let help = error.help();
        let exit = match &error {
            LabError::Stopped => Exit::Interrupted,
            error if error.is_usage_error() => Exit::Usage,
            _ => Exit::System,
        };
        match error {
            LabError::Plan(refused) => (*refused).into(),
            // The pgmeter in the guest has already formatted this text, with its `error:` and
            // `help:`.
            LabError::GuestError { text } => Self::quoted(exit, text),
            error => Self::new(exit, error, help),
        }
    }
}
