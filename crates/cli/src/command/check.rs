//! `check`: what would be done, and everything that is doubtful about it.

use workload::plan::{Cell, Plan, TargetPlan};
use workload::{
    CheckedPlan, Diagnostic, Severity, TargetRemark, plan, plan_text_on, wanted_targets,
};

use crate::args::CheckArgs;
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
        overrides,
        about,
    } = input(&args.workload)?;
    let wanted = wanted_targets(&workloads, &overrides);
    let create = args.workload.options.create;
    let facts = target::system_facts(&wanted, None);
    let mut planned = plan(&workloads, &overrides, &facts)?;
    planned.warnings.splice(0..0, warnings);
    // The file is understood; that it cannot be run is for `run` to refuse.
    for mut refusal in planned.refusals.drain(..) {
        refusal.severity = Severity::Warning;
        planned.warnings.push(refusal);
    }
    planned.warnings.extend(
        run::refusals(&planned.plan, create)
            .into_iter()
            .map(|error| {
                let warning = Diagnostic::warning("", format!("`run` would refuse this: {error}"));
                match error.help() {
                    Some(help) => warning.help(help),
                    None => warning,
                }
            }),
    );
    let targets = planned.plan.targets.iter();
    let touched = targets.filter(|target| target.kind.is_path());
    let found = touched.filter_map(|target| target::unmounted(&target.path));
    let unmounted: Vec<_> = found
        .map(|found| Diagnostic::warning("", found.to_string()))
        .collect();
    planned.warnings.extend(unmounted);
    planned.warnings.extend(doubts(&planned.plan));
    if output.takes_stdout() {
        for warning in &planned.warnings {
            tell_text!("{warning}\n");
        }
    }
    let remarks = planned.plan.targets.iter().map(remark);
    let remarks: Vec<TargetRemark> = remarks.collect();
    let checked = CheckedPlan {
        plan: &planned.plan,
        warnings: &planned.warnings,
        target_remarks: &remarks,
    };
    output.give(&checked, || {
        let columns = match Stream::Output.is_terminal() {
            true => Stream::Output.page().width,
            false => usize::MAX,
        };
        Document::prose(about.clone() + &plan_text_on(&planned, &remarks, columns))
    })?;
    Ok(Exit::Measured)
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
