//! `check`: what would be done, and everything that is doubtful about it.

use std::path::Path;

use description::{Overrides, Workload};
use plan::facts::{SystemFacts, TargetFacts};
use plan::{Cell, Plan, TargetKind, TargetPlan};
use plan::{Diagnostic, Severity, printable};
use planning::{
    CheckedPlan, GroupHost, Planned, TargetRemark, hosts_of_groups, plan, plan_text_on,
    wanted_targets,
};

use crate::args::CheckArgs;
use crate::bounds;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::input::{Input, input};
use crate::terminal::Stream;

/// Parses and plans, and prints the plan and every warning. Nothing is touched.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let output = args.json.open()?;
    let Input {
        workloads,
        warnings,
        mut overrides,
        about,
    } = input(&args.workload)?;
    let hosts = match args.host.is_empty() {
        true => Vec::new(),
        false => hosts_of_groups(&workloads, &args.host)?,
    };
    let is_here = hosts.is_empty();
    let wanted = wanted_targets(&workloads, &overrides);
    let facts = match is_here {
        true => bounds::facts_within(&wanted)?,
        false => {
            overrides.set_ranks_of_groups(hosts.iter().map(|it| it.group.clone()).collect());
            facts_elsewhere(&wanted)
        }
    };
    let mut planned = accepted(&workloads, &overrides, &facts)?;
    let is_looked_at = is_here && bounds::admit(wanted.iter().map(Path::new)).is_ok();
    planned.warnings.splice(0..0, warnings);
    // The file is understood; that it cannot be run is for `run` to refuse.
    for mut refusal in planned.refusals.drain(..) {
        refusal.severity = Severity::Warning;
        planned.warnings.push(refusal);
    }
    if is_looked_at {
        let create = args.workload.options.create;
        planned.warnings.extend(found_here(&planned.plan, create));
    }
    if output.takes_stdout() {
        for warning in &planned.warnings {
            tell_text!("{warning}\n");
        }
    }
    let targets = planned.plan.targets.iter();
    let remarks = targets.map(|target| match is_looked_at {
        true => remark(target),
        false => TargetRemark::default(),
    });
    let remarks: Vec<TargetRemark> = remarks.collect();
    let checked = CheckedPlan {
        plan: &planned.plan,
        warnings: &planned.warnings,
        target_remarks: &remarks,
        hosts: &hosts,
    };
    output.give(&checked, || {
        let columns = match Stream::Output.is_terminal() {
            true => Stream::Output.page().width,
            false => usize::MAX,
        };
        Document::prose(
            about.clone() + &host_lines(&hosts) + &plan_text_on(&planned, &remarks, columns),
        )
    })?;
    Ok(Exit::Measured)
}

/// The plan of workloads on targets that are as these facts say.
///
/// # Errors
/// Whatever is wrong with it on any machine; what keeps it from this one is among its refusals.
pub(crate) fn accepted(
    workloads: &[Workload],
    overrides: &Overrides,
    facts: &SystemFacts,
) -> Result<Planned, Failure> {
    let planned = plan(workloads, overrides, facts)?;
    bounds::refuse_large(&planned.plan)?;
    run::try_streams(&planned.plan)?;
    Ok(planned)
}

/// Facts of targets that are on other machines, which nobody looks at.
fn facts_elsewhere(wanted: &[String]) -> SystemFacts {
    let facts = |path: &String| TargetFacts::placeholder(path, TargetKind::Directory);
    SystemFacts {
        targets: wanted.iter().map(facts).collect(),
        ..SystemFacts::default()
    }
}

/// Which group would work where.
fn host_lines(hosts: &[GroupHost]) -> String {
    if hosts.is_empty() {
        return String::new();
    }
    let line = |it: &GroupHost| format!("  {}: {}\n", printable(&it.group), it.host);
    let lines: String = hosts.iter().map(line).collect();
    format!("hosts\n{lines}\n")
}

/// What is found on this machine that keeps the plan from being run, or makes it doubtful.
fn found_here(plan: &Plan, create: bool) -> Vec<Diagnostic> {
    let refusals = run::refusals(plan, create).into_iter().map(|error| {
        let warning = Diagnostic::warning("", format!("`run` would refuse this: {error}"));
        match error.help() {
            Some(help) => warning.help(help),
            None => warning,
        }
    });
    let touched = plan.targets.iter().filter(|target| target.kind.is_path());
    let found = touched.filter_map(|target| target::unmounted(&target.path));
    let unmounted = found.map(|found| Diagnostic::warning("", found.to_string()));
    refusals.chain(unmounted).chain(doubts(plan)).collect()
}

/// What is known of a target beside the plan.
fn remark(target: &TargetPlan) -> TargetRemark {
    if !target.kind.is_path() {
        return TargetRemark::default();
    }
    TargetRemark {
        layers: target::stack(&target.path).map(|stack| stack.text),
        is_foreign: target::is_foreign(&target.path),
    }
}

/// What there is to doubt of the storage under the targets, as `run` will say it.
fn doubts(plan: &Plan) -> Vec<Diagnostic> {
    let paths: Vec<_> = plan.targets.iter().map(|it| it.path.clone()).collect();
    let in_memory = results::doubt_memory(&target::environment(&paths), plan);
    // What is preconditioned or stamped is written before it is read.
    let is_written = |cell: &&Cell| {
        cell.precondition.is_some() || cell.workers.iter().any(|worker| worker.verify)
    };
    let cells = plan.cells.iter().filter(|cell| !is_written(cell));
    let blank = cells.flat_map(|cell| run::blank_storage(plan, cell));
    let mut messages: Vec<String> = Vec::new();
    for warning in in_memory.into_iter().chain(blank) {
        if !messages.contains(&warning.message) {
            messages.push(warning.message);
        }
    }
    let diagnostics = messages.into_iter();
    diagnostics
        .map(|message| Diagnostic::warning("", message))
        .collect()
}
