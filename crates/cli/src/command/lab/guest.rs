//! `lab guest`: in a guest, does what the host ordered.

use std::path::Path;

use clap::Parser;
use lab::recovery::Part;
use lab::vm::GuestOrder;
use lab::{GuestTask, Job, LabMatrix, MatrixAnswer};
use serde::Serialize;

use super::runner::StoringRunner;
use crate::args::{Cli, Command, FileSystemArgs, LabAction, PaperAction};
use crate::failure::{Exit, Failure};
use crate::signals::stop_flag;
use crate::stored::Place;

/// Rules the guest as its first process, else does what was ordered.
pub(super) fn guest(path: &Path, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    if lab::vm::is_init() {
        lab::vm::rule(path)?;
    }
    let order = GuestOrder::<GuestTask>::read(path)?;
    match &order.task {
        GuestTask::Measure { job, lab } => {
            leave(&order, measure(&order, (job, lab), place, at_once))
        }
        GuestTask::Recover(part) => recover(&order, *part),
        GuestTask::Nothing => leave(&order, Ok(())),
    }
}

/// Leaves the answer for the host.
fn leave<A: Serialize>(
    order: &GuestOrder<GuestTask>,
    answer: Result<A, Failure>,
) -> Result<Exit, Failure> {
    let answer = answer.map_err(|failure| failure.text().to_owned());
    order.answer(&answer)?;
    Ok(match answer {
        Ok(_) => Exit::Measured,
        Err(_) => Exit::System,
    })
}

fn recover(order: &GuestOrder<GuestTask>, part: Part) -> Result<Exit, Failure> {
    match part {
        Part::Write { seed, is_honest } => {
            let Err(error) = lab::recovery::write_until_killed(&order.image, seed, is_honest);
            leave::<()>(order, Err(error.into()))
        }
        Part::Check { seed, done_count } => {
            let checked = lab::recovery::check_after_crash(&order.image, seed, done_count);
            leave(order, checked.map_err(Failure::from))
        }
    }
}

fn measure(
    order: &GuestOrder<GuestTask>,
    job: (&Job, &str),
    place: &Place,
    at_once: fn() -> !,
) -> Result<MatrixAnswer, Failure> {
    let cli = Cli::try_parse_from(&order.arguments)
        .map_err(|error| Failure::new(Exit::Usage, error, None))?;
    let (matrix, args) = matrix(&cli.command)?;
    let stop = stop_flag(at_once)?;
    let runner = StoringRunner::new(&matrix, args, place, false, &stop);
    matrix.measure_in_guest(job, &order.image, &runner, &stop)
}

/// The matrix that the host's arguments describe.
fn matrix(command: &Command) -> Result<(LabMatrix, &FileSystemArgs), Failure> {
    match command {
        Command::Lab(args) => match &args.action {
            LabAction::Run(args) => Ok((super::run::guest_matrix(args)?, &args.file_systems)),
            _ => Err(Failure::bug()),
        },
        Command::Paper(args) => match &args.action {
            PaperAction::Run(args) => {
                let matrix = crate::command::paper::guest_matrix(args)?;
                Ok((matrix, &args.file_systems))
            }
            _ => Err(Failure::bug()),
        },
        _ => Err(Failure::bug()),
    }
}
