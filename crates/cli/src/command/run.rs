//! `run`: measures, shows, and writes what was asked for.

use description::{Overrides, Workload};
use plan::Diagnostic;
use results::Warning;
use run::{RunOptions, RunSpec};

use super::outputs::Outputs;
use super::planned::{as_toml, kept_toml, not_mounted, planned};
use super::team::{Part, Team, options};
use crate::args::{PrintArg, RunArgs};
use crate::beside::Beside;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::input::{Input, input};
use crate::live::Live;
use crate::signals::{Continued, skip_at_signal};
use crate::stored::Place;
use crate::terminal::print_document;

/// Measures what the arguments ask for; `at_once` is called at the second Ctrl-C.
pub(crate) fn run(args: &RunArgs, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    let (part, stop) = Part::take_or_refuse(&args.crew, at_once)?;
    let mut team = match part {
        Part::Done(exit) => return Ok(exit),
        Part::First(first) => Some(Team::of_ranks(first, options(args), &stop)?),
        Part::Alone => None,
    };
    let Input {
        workloads,
        warnings,
        mut overrides,
        ..
    } = input(&args.workload)?;
    if let Some(PrintArg::Toml) = args.print {
        return print_toml(&workloads, &warnings, &overrides);
    }
    let create = args.workload.options.create;
    if team.is_none() {
        team = Team::gather(args, &workloads, &stop)?;
    }
    let planned = match &mut team {
        Some(team) => team.shared_plan(&workloads, &mut overrides, &stop)?,
        None => planned(&workloads, &overrides, create)?,
    };
    let outputs = Outputs::open(args, place)?;
    let continued = Continued::watch()?;
    let run_options = RunOptions {
        overwrite_devices: args.overwrite_device.clone(),
        create,
        sink_token_file: args.sink_token_file.clone(),
        stop,
        continued: continued.flag(),
        ..RunOptions::default()
    };
    skip_at_signal(&run_options.skip)?;
    let mut beside = Beside::new(args.web, place);
    // Where there is a team, each process knows where its own targets lie.
    let elsewhere = match team {
        Some(_) => Vec::new(),
        None => not_mounted(&planned.plan, true),
    };
    let warnings = warnings.into_iter().chain(planned.warnings);
    let mut live = Live::begin((args.quiet, args.display), &run_options, at_once)?;
    let spec = RunSpec {
        plan: &planned.plan,
        warnings: warnings.map(Warning::from).chain(elsewhere).collect(),
        workload_file: kept_toml(&workloads, &overrides),
        store: (!args.no_db).then(|| place.open()),
        listener: &mut |event| {
            beside.hear(event);
            live.hear(event);
        },
    };
    let finished = run::measure(spec, &run_options, team.as_mut().map(Team::as_crew));
    live.finish();
    let is_whole = outputs.write(&finished);
    // Ending may take as long as others let it, and what was measured is safe by now.
    drop(team);
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok(Exit::of_run(&finished.record, is_whole)),
    }
}

/// Prints the workload that would be measured, with all options in place.
fn print_toml(
    workloads: &[Workload],
    warnings: &[Diagnostic],
    overrides: &Overrides,
) -> Result<Exit, Failure> {
    for warning in warnings {
        tell_text!("{warning}\n");
    }
    print_document(&Document::Data(as_toml(workloads, overrides)?))?;
    Ok(Exit::Measured)
}
