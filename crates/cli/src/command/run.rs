//! `run`: measures, shows and writes results.

use description::{Overrides, Workload};
use plan::Diagnostic;
use results::Warning;
use run::{RunOptions, RunSpec};

use super::cluster::{RankRole, Team, options};
use super::outputs::Outputs;
use super::planned::{as_toml, kept_toml, not_mounted, planned};
use crate::args::{PrintArg, RunArgs};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::input::{Input, input};
use crate::live::LiveDisplay;
use crate::live_page::LivePage;
use crate::signals::{Continued, skip_at_signal};
use crate::stored::StoreLocation;
use crate::terminal::print_document;

/// Runs the measurement. The second Ctrl-C calls `at_once`.
pub(crate) fn run(
    args: &RunArgs,
    place: &StoreLocation,
    at_once: fn() -> !,
) -> Result<Exit, CliError> {
    let (part, stop) = RankRole::take_or_refuse(&args.cluster, at_once)?;
    let mut team = match part {
        RankRole::Done(exit) => return Ok(exit),
        RankRole::First(first) => Some(Team::of_ranks(first, options(args), &stop)?),
        RankRole::Alone => None,
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
    let mut beside = LivePage::new(args.web, place);
    // In a team, each process checks its own targets.
    let elsewhere = match team {
        Some(_) => Vec::new(),
        None => not_mounted(&planned.plan, true),
    };
    let warnings = warnings.into_iter().chain(planned.warnings);
    let mut live = LiveDisplay::begin((args.quiet, args.display), &run_options, at_once)?;
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
    let finished = run::measure(spec, &run_options, team.as_mut().map(Team::as_cluster));
    live.finish();
    let is_whole = outputs.write(&finished);
    // Other processes may delay the end. All results are saved by now.
    drop(team);
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok(Exit::of_run(&finished.record, is_whole)),
    }
}

/// Prints the workload to measure, with all options applied.
fn print_toml(
    workloads: &[Workload],
    warnings: &[Diagnostic],
    overrides: &Overrides,
) -> Result<Exit, CliError> {
    for warning in warnings {
        tell_text!("{warning}\n");
    }
    print_document(&OutputText::Data(as_toml(workloads, overrides)?))?;
    Ok(Exit::Measured)
}
