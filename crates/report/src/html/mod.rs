//! A report as one self-contained HTML page: no network, no fonts of others, dark and light, on
//! paper and on a telephone.
//!
//! What is said and drawn is decided in Rust; the page's script draws the charts with [uPlot]
//! and shows the rest when asked to. Without the script, the tables are there, those of a page of
//! many cells excepted.
//!
//! [uPlot]: https://github.com/leeoniya/uPlot

mod cells;
mod chart;
mod comparison;
mod crew;
mod curves;
mod document;
mod environment;
mod first;
mod headline;
mod measure;
mod opened;
mod operations;
mod packed;
mod parts;
mod plan;
mod run;
#[cfg(test)]
#[path = "../../../results/tests/results/sample.rs"]
pub(crate) mod sample;
mod sentence;
mod sweeps;
mod table;
mod verdict;

use maud::{Markup, html};
use results::RunRecord;

use crate::group;

use comparison::Compared;
pub(crate) use document::document;
pub use document::page_policy;
pub(crate) use group::Naming;
pub(crate) use headline::capital;
pub(crate) use measure::Measure;
pub(crate) use opened::{RunGroup, opened};
pub(crate) use plan::{again, command_line};
use run::Run;
pub(crate) use sentence::sentence;
pub(crate) use table::{frame, heads, plain, table as plain_table};

/// The page of one record, or of several beside each other.
#[must_use]
pub fn render(records: &[RunRecord]) -> String {
    let runs = Run::all(records);
    let title = first::title(&runs);
    let compared = comparison::compared(records);
    document(
        &title,
        &first::navigation(&runs),
        &body(&runs, compared.as_ref()),
    )
}

fn body(runs: &[Run], compared: Option<&Compared>) -> Markup {
    html! {
        (first::header(runs, compared))
        main #content {
            @if let Some(Ok(part)) = compared { (part.differences()) (part.compared()) }
            (sweeps::section(runs))
            @for run in runs {
                @if let Some(letter) = &run.letter {
                    h2.run { span.letter { (letter) } " " (sentence(&run.title())) }
                    (first::facts(run))
                }
                (run_sections(run))
            }
        }
        (first::footer(runs))
    }
}

/// What is shown of a run by itself, behind what sums it up.
fn run_sections(run: &Run) -> Markup {
    html! {
        (curves::section(run))
        (cells::results(run))
        (cells::each(run))
        (cells::usage(run))
        (plan::section(run))
        (environment::section(run))
        (plan::command(run))
    }
}
