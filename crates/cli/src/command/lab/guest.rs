//! `lab guest`: runs inside a guest and executes the order of the host.

use std::path::Path;

use clap::Parser;
use lab::recovery::RecoveryGuestTask;
use lab::vm::GuestJob;
use lab::{GuestMatrixResults, GuestTask, LabMatrix, LabMeasurement};
use serde::Serialize;

use super::runner::StoringRunner;
use crate::args::{Cli, Command, FileSystemArgs, LabAction, PaperAction};
use crate::failure::{CliError, Exit};
use crate::signals::stop_flag;
use crate::stored::StoreLocation;

/// As the first process, runs the guest; otherwise executes the order.
pub(super) fn guest(
    path: &Path,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    // `run_as_init` starts this program again and powers the guest off, so it returns only on
    // errors.
    if lab::vm::is_init() {
        lab::vm::run_as_init(path)?;
    }
    let order = GuestJob::<GuestTask>::read(path)?;
    match &order.task {
        GuestTask::Measure { job, lab } => leave(
            &order,
            measure(&order, (job, lab), location, on_second_interrupt),
        ),
        GuestTask::Recover(part) => recover(&order, *part),
        GuestTask::Nothing => leave(&order, Ok(())),
    }
}

/// Writes the answer for the host.
fn leave<A: Serialize>(
    order: &GuestJob<GuestTask>,
    answer: Result<A, CliError>,
) -> Result<Exit, CliError> {
    let answer = answer.map_err(|failure| failure.text().to_owned());
    order.answer(&answer)?;
    Ok(match answer {
        Ok(_) => Exit::Success,
        Err(_) => Exit::System,
    })
}

fn recover(order: &GuestJob<GuestTask>, part: RecoveryGuestTask) -> Result<Exit, CliError> {
    match part {
        RecoveryGuestTask::Write { seed, is_honest } => {
            // The host kills the guest while it writes, so only an error ends this call.
            let Err(error) = lab::recovery::write_until_killed(&order.image, seed, is_honest);
            leave::<()>(order, Err(error.into()))
        }
        RecoveryGuestTask::Check { seed, done_count } => {
            let checked = lab::recovery::check_after_crash(&order.image, seed, done_count);
            leave(order, checked.map_err(CliError::from))
        }
    }
}

fn measure(
    order: &GuestJob<GuestTask>,
    job: (&LabMeasurement, &str),
    place: &StoreLocation,
    at_once: fn() -> !,
) -> Result<GuestMatrixResults, CliError> {
    // The host's own arguments, so that guest and host build the same matrix.
    let cli = Cli::try_parse_from(&order.arguments)
        .map_err(|error| CliError::new(Exit::Usage, error, None))?;
    let (matrix, args) = matrix(&cli.command)?;
    let stop = stop_flag(at_once)?;
    // Not stored in the guest: the host imports the record into its own store.
    let runner = StoringRunner::new(&matrix, args, place, false, &stop);
    matrix.measure_in_guest(job, &order.image, &runner, &stop)
}

/// Returns the matrix described by the arguments of the host.
fn matrix(command: &Command) -> Result<(LabMatrix, &FileSystemArgs), CliError> {
    match command {
        Command::Lab(args) => match &args.action {
            LabAction::Run(args) => Ok((super::run::guest_matrix(args)?, &args.file_systems)),
            _ => Err(CliError::bug()),
        },
        Command::Paper(args) => match &args.action {
            PaperAction::Run(args) => {
                let matrix = crate::command::paper::guest_matrix(args)?;
                Ok((matrix, &args.file_systems))
            }
            _ => Err(CliError::bug()),
        },
        _ => Err(CliError::bug()),
    }
}
