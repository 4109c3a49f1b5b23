//! The complete plan, and the command that repeats it.

use maud::{Markup, html};
use plan::program::Program;
use plan::{Cell, LinePlan, Plan, Setting, Source, TargetKind};
use results::CellNames;
use units::{Bytes, Span, format};

use super::run::Run;
use crate::html::{command_block, opening, plain, sentence};
use crate::names::cache_name;
use crate::plan_text::{line_texts, settings_by_workload, until_done};
use crate::table::Column;
use crate::wrap::printable;

/// Number of workloads with plain options in the page; other options are unpacked on demand.
const PLAIN_WORKLOADS: usize = 20;
/// Number of planned cells with plain rows in the page; the others are unpacked on demand.
const PLAIN_CELLS: usize = 100;

/// Returns the plan: workloads with their options, targets, access lines, cells.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let plan = &run.record.plan;
    html! {
        section #(run.id("plan")) {
            h2 { (run.heading("Plan")) }
            (targets(plan))
            @for (name, lines) in access_specs(plan) { (access_spec(&name, lines)) }
            (file_work(plan))
            @let owned = settings_by_workload(plan);
            @for (index, workload) in plan.workloads.iter().enumerate() {
                @let summary = html! { "Options of " (sentence(&printable(&workload.name))) };
                @let options = html! {
                    @if !workload.source.is_empty() {
                        p { "Source: " (sentence(&printable(&workload.source))) }
                    }
                    (settings(owned.get(index).map_or(&[], Vec::as_slice)))
                };
                details { (opening(&summary, &options, index < PLAIN_WORKLOADS)) }
            }
            @let summary = html! { "Cells as planned" };
            details { (opening(&summary, &cells(plan), plan.cells.len() <= PLAIN_CELLS)) }
        }
    }
}

/// Returns the command line of the run.
#[must_use]
pub fn command(run: &Run) -> Markup {
    html! {
        @if !run.record.command.is_empty() {
            section #(run.id("repeat")) {
                h2 { (run.heading("Repeat")) }
                p {
                    "The same plan with the same seed (" (run.record.plan.seed) ") asks for the \
                     same requests."
                }
                (command_block(&run.record.command))
            }
        }
    }
}

fn targets(plan: &Plan) -> Markup {
    let rows = plan.targets.iter().map(|target| {
        let kind = match target.kind {
            TargetKind::Directory => "directory, with a work directory in it",
            TargetKind::File => "file",
            TargetKind::Device => "block device",
            TargetKind::Endless => "character device",
            TargetKind::Network => "TCP peer",
            TargetKind::Null => "nothing is touched",
        };
        vec![
            printable(&target.path.to_string_lossy()),
            kind.to_owned(),
            Bytes(target.size_bytes).to_string(),
            Bytes(target.block_bytes.into()).to_string(),
        ]
    });
    let columns = ["target", "kind", "bytes used", "unit of direct I/O"].map(Column::name);
    plain(columns, rows, "Targets")
}

/// Returns the distinct access specifications, with their lines.
fn access_specs(plan: &Plan) -> Vec<(String, &[LinePlan])> {
    let mut specs: Vec<(String, &[LinePlan])> = Vec::new();
    for worker in plan.cells.iter().flat_map(|cell| &cell.workers) {
        let is_known = specs
            .iter()
            .any(|(name, lines)| *name == worker.access_spec && *lines == worker.lines.as_slice());
        if !is_known && !worker.lines.is_empty() {
            specs.push((worker.access_spec.clone(), &worker.lines));
        }
    }
    specs
}

fn access_spec(name: &str, lines: &[LinePlan]) -> Markup {
    let rows = lines.iter().map(|line| line_texts(line).to_vec());
    let heads = ["share", "request", "read", "random", "aligned to", "and"];
    let caption = format!("Access specification {}", printable(name));
    plain(heads.map(Column::name), rows, &caption)
}

/// Returns the distinct kinds of work on files.
fn file_work(plan: &Plan) -> Markup {
    let mut works = Vec::new();
    for cell in &plan.cells {
        if let Some(files) = cell.program()
            // Cells that differ in depth or repetition have the same program.
            && !works.iter().any(|(_, known)| *known == files)
        {
            works.push((cell.workload.as_str(), files));
        }
    }
    let table = |(workload, files): (&str, &Program)| {
        let rows = files.words().into_iter().map(|line| vec![indented(&line)]);
        let caption = format!("Files of {}", printable(workload));
        plain([Column::name("what is done")], rows, &caption)
    };
    html! {
        @for work in works {
            (table(work))
        }
    }
}

/// Keeps the indent of a line, because browsers collapse spaces.
fn indented(line: &str) -> String {
    let text = line.trim_start();
    let indent = "\u{a0}\u{a0}".repeat(line.len() - text.len());
    indent + &printable(text)
}

fn settings(settings: &[&Setting]) -> Markup {
    let rows = settings.iter().map(|setting| {
        let source = match setting.source {
            Source::Written => "written in the workload",
            Source::Default => "default",
            Source::Option => "option of the command",
        };
        vec![
            printable(&setting.key),
            printable(&setting.value),
            source.to_owned(),
        ]
    });
    let columns = ["option", "value", "from"].map(Column::name);
    plain(columns, rows, "Options")
}

fn cells(plan: &Plan) -> Markup {
    let heads = [
        "workload",
        "cell",
        "engine",
        "cache",
        "workers",
        "queue depth",
        "repetition",
        "ramp",
        "measured",
    ];
    let names = CellNames::of(plan);
    let rows = plan.cells.iter().map(|it| cell(&names, it));
    plain(heads.map(Column::name), rows, "Cells as planned")
}

fn cell(names: &CellNames, cell: &Cell) -> Vec<String> {
    let measured = match (cell.run_time_ns, cell.operations) {
        (0, None) => match cell.steady {
            Some(rule) => format!("until steady, {} rounds at most", rule.rounds_max),
            None => until_done(cell),
        },
        (0, Some(count)) => format!("{} operations", format::count(count)),
        (time, Some(count)) => {
            format!(
                "{}, at most {} operations",
                Span(time),
                format::count(count)
            )
        }
        (time, None) => Span(time).to_string(),
    };
    vec![
        printable(&names.planned(cell)),
        (u64::from(cell.index) + 1).to_string(),
        cell.engine.name().to_owned(),
        cache_name(cell.cache).to_owned(),
        cell.workers.len().to_string(),
        cell.iodepth.to_string(),
        (u64::from(cell.repetition) + 1).to_string(),
        Span(cell.ramp_time_ns).to_string(),
        measured,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cell_without_a_run_time_is_measured_until_it_is_done() {
        let record = sample::record();
        let names = CellNames::of(&record.plan);
        let measured = |change: fn(&mut Cell)| {
            let mut planned = record.plan.cells[0].clone();
            (planned.run_time_ns, planned.operations, planned.steady) = (0, None, None);
            change(&mut planned);
            cell(&names, &planned).pop().unwrap()
        };
        assert_eq!(measured(|_| {}), "until done");
        assert_eq!(measured(|cell| cell.run_time_ns = 3_000_000_000), "3s");
        assert_eq!(measured(|cell| cell.operations = Some(7)), "7 operations");
    }
}
