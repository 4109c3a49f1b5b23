//! `run`: measures, shows and writes results.

use description::{Overrides, Workload};
use plan::Diagnostic;
use results::Warning;
use run::{Finished, RunOptions, RunSpec};
use store::Store;

use super::cluster::{RankRole, StartedCluster, options};
use super::outputs::Outputs;
use super::planned::{as_toml, not_mounted, planned, toml_for_record};
use super::replay::trace_or_workload;
use super::runs::change_tags;
use crate::args::{PrintArg, RunArgs};
use crate::document::OutputText;
use crate::event_file::EventFile;
use crate::failure::{CliError, Exit};
use crate::input::Input;
use crate::live::LiveDisplay;
use crate::live_page::LivePage;
use crate::signals::{ResumeFlag, skip_at_signal};
use crate::stored::StoreLocation;
use crate::terminal::print_document;

/// Runs the measurement. The second Ctrl-C calls `on_second_interrupt`.
pub(crate) fn run(
    args: &RunArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let (part, stop) = RankRole::take_or_refuse(&args.cluster, on_second_interrupt)?;
    let mut cluster = match part {
        RankRole::Done(exit) => return Ok(exit),
        RankRole::First(first) => Some(StartedCluster::of_ranks(first, options(args), &stop)?),
        RankRole::Standalone => None,
    };
    let Input {
        workloads,
        warnings,
        mut overrides,
        ..
    } = trace_or_workload(args)?;
    if let Some(PrintArg::Toml) = args.print {
        return print_toml(&workloads, &warnings, &overrides);
    }
    let create = args.workload.options.create;
    if cluster.is_none() {
        cluster = StartedCluster::gather(args, &workloads, &stop)?;
    }
    let planned = match &mut cluster {
        Some(cluster) => cluster.shared_plan(&workloads, &mut overrides, &stop)?,
        None => planned(&workloads, &overrides, create)?,
    };
    let outputs = Outputs::open(args, location)?;
    let events = args.events.as_deref().map(EventFile::create).transpose()?;
    let continued = ResumeFlag::watch()?;
    let run_options = RunOptions {
        overwrite_devices: args.overwrite_device.clone(),
        create,
        sink_token_file: args.sink_token_file.clone(),
        stop,
        continued: continued.flag(),
        ..RunOptions::default()
    };
    skip_at_signal(&run_options.skip)?;
    let mut live_page = LivePage::new(args.web, location);
    // In a cluster, each process checks its own targets.
    let mount_warnings = cluster.is_none().then(|| not_mounted(&planned.plan, true));
    let mount_warnings = mount_warnings.unwrap_or_default();
    let warnings = warnings.into_iter().chain(planned.warnings);
    let shown = (args.quiet, args.display);
    let mut live = LiveDisplay::begin(shown, &run_options, on_second_interrupt)?;
    let spec = RunSpec {
        plan: &planned.plan,
        warnings: warnings.map(Warning::from).chain(mount_warnings).collect(),
        workload_file: toml_for_record(&workloads, &overrides),
        store: (!args.no_db).then(|| location.open()),
        listener: &mut |event| {
            events.iter().for_each(|events| events.on_event(event));
            live_page.on_event(event);
            live.on_event(event);
        },
    };
    let others = cluster.as_mut().map(StartedCluster::as_cluster);
    let finished = run::measure(spec, &run_options, others);
    live.finish();
    let is_whole = outputs.write(&finished) & events.is_none_or(EventFile::finish);
    // Other processes may delay the end. All results are saved by now.
    drop(cluster);
    add_tags(&args.tag, &finished, location)?;
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok(Exit::of_run(&finished.record, is_whole)),
    }
}

/// Adds tags to a run, if it is stored.
fn add_tags(
    tags: &[String],
    finished: &Finished,
    location: &StoreLocation,
) -> Result<(), CliError> {
    let is_stored = finished.has_begun() && finished.not_stored.is_none();
    match is_stored && !tags.is_empty() {
        true => change_tags(&finished.record.id, tags, location, Store::add_tag),
        false => Ok(()),
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
    Ok(Exit::Success)
}
