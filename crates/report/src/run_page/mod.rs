//! The page of a run, or of several side by side.

mod cells;
mod cluster;
mod comparison;
mod curves;
mod environment;
mod first;
mod headline;
mod matrices;
mod nested_runs;
mod operations;
mod plan;
mod repetitions;
mod replays;
mod run;
mod summary;
mod sweeps;
mod verdict;

use maud::{Markup, html};
use results::RunRecord;

use crate::document::ReportMedium;
use crate::html::{sentence, shell};
use crate::imported;
use crate::write::page;
use comparison::ComparisonResult;
pub(crate) use nested_runs::{RunGroup, opened};
use run::Run;
pub(crate) use summary::render as render_summary;

/// Returns the page of one record, or of several side by side.
#[must_use]
pub fn render(records: &[RunRecord]) -> String {
    if let [record] = records
        && let Some(import) = &record.import
    {
        return page::write(&imported::document(record, import, ReportMedium::Page));
    }
    let runs = Run::all(records);
    let title = first::title(&runs);
    let compared = comparison::compared(records);
    shell(
        &title,
        &first::navigation(&runs),
        &body(&runs, compared.as_ref()),
    )
}

fn body(runs: &[Run], compared: Option<&ComparisonResult>) -> Markup {
    html! {
        (first::header(runs, compared))
        main #content {
            @if let Some(Ok(document)) = compared { (page::parts(&document.parts)) }
            (sweeps::section(runs))
            @for run in runs {
                // A single run has this heading and these facts in the header already.
                @if let Some(letter) = &run.letter {
                    h2.run { span.letter { (letter) } " " (sentence(&run.title())) }
                    (first::facts(run, ""))
                }
                (run_sections(run))
            }
        }
        (first::footer(runs))
    }
}

/// Returns the sections of a single run, after the summary.
fn run_sections(run: &Run) -> Markup {
    if let Some(import) = &run.record.import {
        return page::parts(&imported::parts(import, ReportMedium::Page, |id| {
            run.id(id)
        }));
    }
    html! {
        (curves::section(run))
        (replays::section(run))
        (matrices::section(run))
        (cells::results(run))
        (cells::each(run))
        (cells::usage(run))
        (plan::section(run))
        (environment::section(run))
        (plan::command(run))
    }
}
