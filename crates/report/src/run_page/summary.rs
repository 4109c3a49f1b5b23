//! A run on one sheet of paper: its main results, two charts, three sentences, the conditions, and
//! the command that repeats it.

use maud::{Markup, html};
use results::{CellRecord, RunRecord};
use units::format;

use super::first;
use super::headline::tile;
use super::run::Run;
use super::sweeps;
use super::verdict::facts;
use crate::chart::{Chart, figures, histogram, latency, throughput};
use crate::group::{Metric, RepeatedCell};
use crate::html::{command_block, sentence, shell};
use crate::measure::WorkloadMeasure;
use crate::numbers::digits;
use crate::verdict::{RunVerdict, VerdictFigure};

/// Maximum number of main results.
const NUMBERS_MAX: usize = 6;
const SENTENCES_MAX: usize = 3;
const CHARTS_MAX: usize = 2;
/// Topics of a verdict's sentences, the most important first.
const TOPICS: [&str; 6] = [
    "highest rate",
    "doubt",
    "limit",
    "like",
    "queue depth",
    "next",
];

/// Returns the summary of a run as a page.
#[must_use]
pub fn render(record: &RunRecord) -> String {
    let runs = Run::all(std::slice::from_ref(record));
    let run = &runs[0];
    let body = html! {
        header {
            (first::status(run))
            h1 { (sentence(&run.title())) }
            p.where { "on " (sentence(&run.targets())) }
        }
        main #content {
            (numbers(run))
            (charts(run))
            (sentences(run))
            section {
                h2 { "Conditions" }
                (first::facts(run, ""))
            }
            @if !record.command.is_empty() {
                section {
                    h2 { "Repeat" }
                    (command_block(&record.command))
                }
            }
        }
    };
    shell(
        &first::title(&runs),
        &html! {},
        &html! { div.sheet { (body) } },
    )
}

fn numbers(run: &Run) -> Markup {
    let of_figure = |verdict: &RunVerdict, it: &VerdictFigure| {
        let label = verdict.of_subject(&it.label());
        tile(&label, &it.value, &it.uncertainty)
    };
    let verdicts = run.model.verdicts.iter();
    let numbers =
        verdicts.flat_map(|it| it.figures.iter().map(move |figure| of_figure(it, figure)));
    let mut numbers: Vec<Markup> = numbers.collect();
    // A run with a single result has room for its latencies.
    if let [only] = run.groups.as_slice() {
        numbers.extend(more(only));
    }
    numbers.truncate(NUMBERS_MAX);
    html! { dl.tiles { @for number in &numbers { (number) } } }
}

/// Returns what else is known about a cell: its bandwidth or rate, latencies and failures.
fn more(group: &RepeatedCell) -> Vec<Markup> {
    let other = match WorkloadMeasure::of(group).metric() {
        Metric::BytesPerSecond => ("operations per second", Metric::PerSecond),
        _ => ("bandwidth", Metric::BytesPerSecond),
    };
    let metrics = [
        other,
        ("mean latency", Metric::LatencyMean),
        ("latency, p50", Metric::LatencyP50),
        ("latency, p99", Metric::LatencyP99),
    ];
    let known = metrics.into_iter().filter_map(|(name, metric)| {
        let figure = group.figure(metric).filter(|it| it.mean > 0.0)?;
        let half = figure.interval.map(|[low, high]| (high - low) / 2.0);
        let precision = half.map(|half| format!("±{} %", digits(100.0 * half / figure.mean)));
        Some(tile(
            name,
            &metric.show(figure.mean),
            &precision.unwrap_or_default(),
        ))
    });
    let failed = tile("failed operations", &format::count(group.errors()), "");
    known.chain([failed]).collect()
}

/// Returns the charts over queue depths, or else the charts of the first cell, with its name if it
/// is not the only one.
fn charts(run: &Run) -> Markup {
    let sweep = sweeps::first(run).map(Vec::from);
    let cell = run.record.cells.first().filter(|_| sweep.is_none());
    let own = cell.map_or_else(Vec::new, |cell| of_cell(run, cell));
    let mut charts = sweep.unwrap_or(own);
    charts.truncate(CHARTS_MAX);
    let named = cell.filter(|_| run.record.cells.len() > 1 && !charts.is_empty());
    html! {
        @if let Some(cell) = named { p.tiles-of { (sentence(&run.naming.cell(cell))) ":" } }
        (figures(&charts))
    }
}

fn of_cell(run: &Run, cell: &CellRecord) -> Vec<Chart> {
    let charts = [throughput, latency, histogram].map(|chart| chart(cell, run.detail));
    charts.into_iter().flatten().collect()
}

fn sentences(run: &Run) -> Markup {
    let all = || {
        let verdicts = run.model.verdicts.iter();
        verdicts.flat_map(|it| it.sentences.iter().map(move |sentence| (it, sentence)))
    };
    let known = TOPICS
        .iter()
        .flat_map(|topic| all().filter(move |it| it.1.0 == *topic));
    let known = known.map(|(verdict, (topic, text))| (*topic, verdict.of_subject(text)));
    let chosen: Vec<(&str, String)> = known.take(SENTENCES_MAX).collect();
    facts(chosen.iter().map(|(topic, text)| (*topic, text.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_summary_has_numbers_charts_sentences_conditions_and_the_command() {
        let page = render(&sample::record());
        for text in [
            "class=\"tiles\"",
            "Conditions",
            "Repeat",
            "<dt>Next</dt>",
            "EPYC 9354",
        ] {
            assert!(page.contains(text), "no `{text}`");
        }
        assert!(page.matches("class=\"tile\"").count() <= NUMBERS_MAX);
        let charts = page.matches("<figure").count();
        assert!(charts <= CHARTS_MAX, "{charts}");
        assert!(!page.contains("<h2>Cells"), "only one sheet");
    }

    #[test]
    fn a_single_result_comes_with_its_latencies() {
        let mut record = sample::record();
        record.cells.truncate(1);
        let page = render(&record);
        for text in ["bandwidth", "latency, p99", "failed operations"] {
            assert!(page.contains(text), "no `{text}`");
        }
    }
}
