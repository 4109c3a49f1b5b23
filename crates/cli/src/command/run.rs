//! `run`: measures, shows, and writes what was asked for.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use description::{Overrides, Workload, to_toml};
use plan::Plan;
use plan::{Diagnostic, DiagnosticCode};
use planning::{Planned, plan, wanted_targets};
use results::{RunEvent, RunRecord, Status, Warning, WarningCode};
use run::RunOptions;

use crate::args::{PrintArg, RunArgs};
use crate::beside::Beside;
use crate::bounds;
use crate::command::DEFAULT_TARGET;
use crate::command::mounts::put_back;
use crate::command::outputs::Outputs;
use crate::command::team::{Part, Team, options};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::input::{Input, input};
use crate::keep::Keeper;
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
        keep: keeps(&planned.plan),
        sink_token_file: args.sink_token_file.clone(),
        command: std::env::args().collect(),
        workload_file: kept_toml(&workloads, &overrides),
        stop,
        continued: continued.flag(),
        ..RunOptions::default()
    };
    skip_at_signal(&run_options.skip)?;
    let mut keeper = Keeper::open(place, !args.no_db);
    let mut beside = Beside::new(args.web, place);
    let warnings = warnings
        .into_iter()
        .chain(planned.warnings)
        .map(of_plan)
        .chain(keeper.doubts())
        .chain(own_mounts(&planned.plan, team.is_some()))
        .collect();
    let mut live = Live::begin((args.quiet, args.display), &run_options, at_once)?;
    let mut listener = |event: &RunEvent| {
        keeper.hear(event);
        beside.hear(event);
        live.hear(event);
    };
    let (plan, leader) = (&planned.plan, team.as_mut().map(|team| &mut team.leader));
    let mut finished = match leader {
        Some(leader) => run::run_with_crew(plan, warnings, &run_options, leader, &mut listener),
        None => run::run(plan, warnings, &run_options, &mut listener),
    };
    live.finish();
    let began = finished.error.is_none() || !finished.record.cells.is_empty();
    let not_stored = keeper.finish(&mut finished.record).filter(|_| began);
    let is_written = outputs.write(&finished.record, began, not_stored.as_ref());
    // Ending may take as long as others let it, and what was measured is safe by now.
    drop(team);
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok(exit(&finished.record, is_written && not_stored.is_none())),
    }
}

/// What is told of where the targets lie, unless others know better.
fn own_mounts(plan: &Plan, are_elsewhere: bool) -> Vec<Warning> {
    match are_elsewhere {
        true => Vec::new(),
        false => {
            let warnings = not_mounted(plan);
            tell_warnings(&warnings);
            warnings
        }
    }
}

/// What would be measured; what cannot be is refused.
pub(super) fn planned(
    workloads: &[Workload],
    overrides: &Overrides,
    create: bool,
) -> Result<Planned, Failure> {
    let wanted = wanted_targets(workloads, overrides);
    bounds::admit(wanted.iter().map(Path::new))?;
    put_back(wanted.iter().map(Path::new))?;
    look_at(&wanted, workloads, create, overrides)?;
    let facts = target::system_facts(&wanted, Some(DEFAULT_TARGET));
    let mut planned = plan(workloads, overrides, &facts)?;
    bounds::admit_plan(&planned.plan)?;
    match planned.refusals.is_empty() {
        true => Ok(planned),
        false => Err(planned.refusals.swap_remove(0).into()),
    }
}

/// A longer file is not kept with the run.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// What is measured as a workload file with all options in place, as the record keeps it; none
/// where it cannot be said in one.
pub(in crate::command) fn kept_toml(
    workloads: &[Workload],
    overrides: &Overrides,
) -> Option<String> {
    let text = as_toml(workloads, overrides).ok()?;
    Some(text).filter(|text| text.len() <= KEPT_BYTES_MAX)
}

/// What would be measured as a workload file, with all options in place.
fn as_toml(workloads: &[Workload], overrides: &Overrides) -> Result<String, Diagnostic> {
    to_toml(&overrides.written(workloads)?)
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

/// Refuses what cannot be a target before the plan is made for it. Devices wait for the plan, which
/// tells whether they will be written.
pub(super) fn look_at(
    wanted: &[String],
    workloads: &[Workload],
    create: bool,
    overrides: &Overrides,
) -> Result<(), Failure> {
    // That a file is no directory says more than whose file it is; the plan says it.
    let wants_directory = workloads.iter().all(Workload::needs_directory);
    let permission = target::Permission {
        create,
        read_only: overrides.only_reads(workloads),
        ..target::Permission::default()
    };
    for path in wanted.iter().map(Path::new) {
        let kind = std::fs::symlink_metadata(path).map(|found| found.file_type());
        let is_left_to_the_plan =
            kind.is_ok_and(|it| it.is_block_device() || it.is_file() && wants_directory);
        if !is_left_to_the_plan {
            target::admit(path, &permission)?;
        }
    }
    Ok(())
}

/// Warnings of targets that lie on another file system than their paths suggest. The caller prints
/// them before anything is written.
pub(super) fn not_mounted(plan: &Plan) -> Vec<Warning> {
    let touched = plan.targets.iter();
    let touched = touched.filter(|target| target.kind.is_path());
    let found = touched.filter_map(|target| target::unmounted(&target.path));
    found
        .map(|found| Warning::of_run(WarningCode::NotMounted, found.to_string()))
        .collect()
}

/// Prints warnings that cannot wait for the report.
pub(super) fn tell_warnings(warnings: &[Warning]) {
    for warning in warnings {
        tell!("warning: {}", warning.message);
    }
}

pub(super) fn keeps(plan: &Plan) -> bool {
    plan.settings
        .iter()
        .any(|setting| setting.key == "keep" && setting.value == "true")
}

/// A remark on the workload or the plan, as part of the record.
pub(in crate::command) fn of_plan(diagnostic: Diagnostic) -> Warning {
    let place = match (diagnostic.file.as_str(), diagnostic.line) {
        ("", _) => String::new(),
        (file, Some(line)) => format!("{file}:{line}: "),
        (file, None) => format!("{file}: "),
    };
    let help = diagnostic
        .help
        .map(|help| format!("; {help}"))
        .unwrap_or_default();
    let code = match diagnostic.code {
        Some(DiagnosticCode::SizeReduced) => WarningCode::SizeReduced,
        Some(DiagnosticCode::AlignmentRaised) => WarningCode::AlignmentRaised,
        Some(DiagnosticCode::DiffersFromOriginal) => WarningCode::DiffersFromOriginal,
        None => WarningCode::Plan,
    };
    let message = format!("{place}{}{help}", diagnostic.message);
    Warning::of_run(code, message)
}

/// What the exit code says of a run; `is_whole` is whether all of it is where it was wanted.
pub(super) fn exit(record: &RunRecord, is_whole: bool) -> Exit {
    match record.status {
        Status::Interrupted => Exit::Interrupted,
        Status::Failed => Exit::System,
        Status::Complete if record.has_failure() => Exit::Failed,
        Status::Complete if !is_whole => Exit::Failed,
        Status::Complete => Exit::Measured,
    }
}

#[cfg(test)]
mod tests {
    use results::Environment;

    use super::*;

    /// Of a run that ended well and measured nothing.
    fn complete_record() -> RunRecord {
        let mut record = RunRecord::new(Plan::default(), Environment::default(), Vec::new());
        record.finish(Status::Complete);
        record
    }

    #[test]
    fn a_target_that_went_away_is_a_failure() {
        let mut record = complete_record();
        assert_eq!(exit(&record, true), Exit::Measured);
        let lost = Warning::of_cell(WarningCode::TargetLost, 0, "gone");
        record.warnings.push(lost);
        assert_eq!(exit(&record, true), Exit::Failed);
    }
}
