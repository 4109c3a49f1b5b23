//! The plan in full, and the command that repeats it.

use maud::{Markup, html};
use plan::program::Program;
use plan::{Cell, LinePlan, Plan, Setting, Source, TargetKind};
use planning::{line_remarks, settings_of_each};
use results::CellNames;
use units::{Bytes, Percent, Span, format};

use super::run::Run;
use crate::html::{command_block, opening, plain, sentence};
use crate::names::{cache_name, engine_name};
use crate::table::Column;
use crate::wrap::printable;

/// So many workloads have their options in the page; those of the others are made when asked for.
const PLAIN_WORKLOADS: usize = 20;
/// So many planned cells are in the page; more are made when asked for.
const PLAIN_CELLS: usize = 100;

/// What was planned: workloads with their options, targets, access lines, cells.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let plan = &run.record.plan;
    html! {
        section #(run.id("plan")) {
            h2 { (run.heading("Plan")) }
            (targets(plan))
            @for (name, lines) in access_specs(plan) { (access_spec(&name, lines)) }
            (file_work(plan))
            @let owned = settings_of_each(plan);
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

/// The command line that was given.
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

/// Each access specification once, with its lines.
fn access_specs(plan: &Plan) -> Vec<(String, &[LinePlan])> {
    let mut specs: Vec<(String, &[LinePlan])> = Vec::new();
    for worker in plan.cells.iter().flat_map(|cell| &cell.workers) {
        let known = specs
            .iter()
            .any(|(name, lines)| *name == worker.access_spec && *lines == worker.lines.as_slice());
        if !known && !worker.lines.is_empty() {
            specs.push((worker.access_spec.clone(), &worker.lines));
        }
    }
    specs
}

fn access_spec(name: &str, lines: &[LinePlan]) -> Markup {
    let rows = lines.iter().map(|line| {
        let align = match line.align_bytes {
            0 => "sector".to_owned(),
            bytes => Bytes(bytes.into()).to_string(),
        };
        vec![
            Percent(line.of_size_percent).to_string(),
            Bytes(line.size_bytes.into()).to_string(),
            Percent(line.read_percent).to_string(),
            Percent(line.random_percent).to_string(),
            align,
            line_remarks(line).join(", "),
        ]
    });
    let heads = ["share", "request", "read", "random", "aligned to", "and"];
    let caption = format!("Access specification {}", printable(name));
    plain(heads.map(Column::name), rows, &caption)
}

/// The work on many files of the cells that have such, each kind once.
fn file_work(plan: &Plan) -> Markup {
    let mut works = Vec::new();
    for cell in &plan.cells {
        if let Some(files) = cell.program()
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

/// A line whose spaces at its start stay where browsers draw several as one.
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
        engine_name(cell.engine).to_owned(),
        cache_name(cell.cache).to_owned(),
        cell.workers.len().to_string(),
        cell.iodepth.to_string(),
        (u64::from(cell.repetition) + 1).to_string(),
        Span(cell.ramp_time_ns).to_string(),
        measured,
    ]
}
