//! `check`: prints the plan of a run, and everything that is doubtful about it; or the counts of a
//! trace.

use std::path::Path;

use description::{Overrides, Workload};
use plan::facts::{SystemFacts, TargetFacts};
use plan::{Cell, Plan, TargetKind, TargetPlan};
use plan::{Diagnostic, Severity, printable};
use planning::{
    CheckedPlan, GroupHost, Planned, TargetProperties, hosts_of_groups, plan, wanted_targets,
};
use report::plan_text_with_remarks;

use super::check_trace::{check_trace, trace_files};
use crate::args::CheckArgs;
use crate::bounds;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::input::{Input, input, with_options_in_help};
use crate::terminal::OutputStream;

/// Parses and plans, then prints the plan and all warnings. Touches no target.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, CliError> {
    let output = args.json.open()?;
    if let Some(files) = trace_files(args)? {
        return check_trace(args, &files, output);
    }
    let Input {
        workloads,
        warnings,
        mut overrides,
        check_text: about,
    } = input(&args.workload)?;
    let hosts = match args.host.is_empty() {
        true => Vec::new(),
        false => hosts_of_groups(&workloads, &args.host)?,
    };
    let is_local = hosts.is_empty();
    let wanted = wanted_targets(&workloads, &overrides);
    let facts = match is_local {
        true => bounds::facts_within_bounds(&wanted)?,
        false => {
            overrides.set_ranks_of_groups(hosts.iter().map(|it| it.group.clone()).collect());
            placeholder_facts(&wanted)
        }
    };
    let mut planned = accepted(&workloads, &overrides, &facts)?;
    // A page must not learn anything about paths outside its targets.
    let is_looked_at = is_local && bounds::admit(wanted.iter().map(Path::new)).is_ok();
    planned.warnings.splice(0..0, warnings);
    // The file itself is valid, so obstacles on this machine are only warnings; `run` refuses them.
    for mut refusal in planned.refusals.drain(..) {
        refusal.severity = Severity::Warning;
        planned.warnings.push(refusal);
    }
    if is_looked_at {
        let create = args.workload.options.create;
        planned
            .warnings
            .extend(local_findings(&planned.plan, create));
    }
    if output.takes_stdout() {
        for warning in &planned.warnings {
            tell_text!("{warning}\n");
        }
    }
    let targets = planned.plan.targets.iter();
    let remarks = targets.map(|target| match is_looked_at {
        true => remark(target),
        false => TargetProperties::default(),
    });
    let remarks: Vec<TargetProperties> = remarks.collect();
    let checked = CheckedPlan {
        plan: &planned.plan,
        warnings: &planned.warnings,
        target_remarks: &remarks,
        hosts: &hosts,
    };
    output.give(&checked, || {
        let columns = match OutputStream::Output.is_terminal() {
            true => OutputStream::Output.page().width,
            // A program that reads the plan should not find wrapped lines.
            false => usize::MAX,
        };
        OutputText::prose(
            about.clone()
                + &host_lines(&hosts)
                + &plan_text_with_remarks(&planned, &remarks, columns),
        )
    })?;
    Ok(Exit::Success)
}

/// Plans workloads for targets with the given facts.
///
/// # Errors
/// For mistakes that are independent of the machine. Obstacles on this machine are in `refusals`.
pub(crate) fn accepted(
    workloads: &[Workload],
    overrides: &Overrides,
    facts: &SystemFacts,
) -> Result<Planned, CliError> {
    let planned = plan(workloads, overrides, facts);
    let planned = planned.map_err(|error| with_options_in_help(error, |key| overrides.has(key)))?;
    // This precedes the creation of the streams, because each worker's stream takes memory.
    bounds::refuse_large(&planned.plan)?;
    // Some impossible values are found only when the streams of requests are created.
    run::try_streams(&planned.plan)?;
    Ok(planned)
}

/// Returns placeholder facts for targets on other machines, which are not probed.
fn placeholder_facts(wanted: &[String]) -> SystemFacts {
    let facts = |path: &String| TargetFacts::placeholder(path, TargetKind::Directory);
    SystemFacts {
        targets: wanted.iter().map(facts).collect(),
        ..SystemFacts::default()
    }
}

/// Lists the host of each group.
fn host_lines(hosts: &[GroupHost]) -> String {
    if hosts.is_empty() {
        return String::new();
    }
    let line = |it: &GroupHost| format!("  {}: {}\n", printable(&it.group), it.host);
    let lines: String = hosts.iter().map(line).collect();
    format!("hosts\n{lines}\n")
}

/// Returns findings on this machine that prevent the planned run or make it doubtful.
fn local_findings(plan: &Plan, create: bool) -> Vec<Diagnostic> {
    let refusals = run::refusals(plan, create).into_iter().map(|error| {
        let warning = Diagnostic::warning("", format!("`run` would refuse this: {error}"));
        match error.help() {
            Some(help) => warning.help(help),
            None => warning,
        }
    });
    let touched = plan.targets.iter().filter(|target| target.kind.is_path());
    let found = touched.filter_map(|target| storage::unmounted(&target.path));
    let unmounted = found.map(|found| Diagnostic::warning("", found.to_string()));
    refusals.chain(unmounted).chain(doubts(plan)).collect()
}

/// Returns facts about a target that are not part of the plan.
fn remark(target: &TargetPlan) -> TargetProperties {
    if !target.kind.is_path() {
        return TargetProperties::default();
    }
    TargetProperties {
        layers: storage::stack(&target.path).map(|stack| stack.text),
        is_foreign: storage::is_foreign(&target.path),
    }
}

/// Returns doubts about the storage under the targets, in the words of `run`.
fn doubts(plan: &Plan) -> Vec<Diagnostic> {
    let paths: Vec<_> = plan.targets.iter().map(|it| it.path.clone()).collect();
    let in_memory = results::memory_target_warnings(&storage::environment(&paths), plan);
    // Preconditioned or stamped data is written before it is read.
    let is_written = |cell: &&Cell| {
        cell.precondition.is_some() || cell.workers.iter().any(|worker| worker.verify)
    };
    let cells = plan.cells.iter().filter(|cell| !is_written(cell));
    let blank = cells.flat_map(|cell| run::blank_storage(plan, cell));
    let mut messages: Vec<String> = Vec::new();
    for warning in in_memory.into_iter().chain(blank) {
        // Several cells on one target have the same doubt.
        if !messages.contains(&warning.message) {
            messages.push(warning.message);
        }
    }
    let diagnostics = messages.into_iter();
    diagnostics
        .map(|message| Diagnostic::warning("", message))
        .collect()
}
