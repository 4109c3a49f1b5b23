//! Runs side by side on a page: a bar per value, and the complete runs.

use ::compare::Verdict;
use maud::{Markup, html};
use results::BetterDirection;
use units::format;

use super::rows::{ColumnValue, FigureRow, interval, ratio};
use super::{SHORT_MARK, SideBySide, WorkloadSection};
use crate::document::{Block, DocumentPart};
use crate::forest::{ForestBar, ForestBars, ForestRow, forest};
use crate::html::{self, BarInterval, frame, sentence, table as plain_table};
use crate::numbers::ABSENT;
use crate::run_page::{RunGroup, opened};
use crate::table::{Column, Table};

/// Returns the rates of all sections as ratios to the first column.
pub(super) fn ratios(side_by_side: &SideBySide) -> Markup {
    let rows = side_by_side.sections.iter().flat_map(|section| {
        // Without a value in the first column, the ratios of a row are to another column.
        let has_reference = |row: &&FigureRow| matches!(row.values.first(), Some(Some(_)));
        let rates = section.rows.iter().filter(|row| row.is_rate);
        let rates = rates.filter(has_reference);
        rates.flat_map(|row| forest_rows(side_by_side, section, row))
    });
    let first = side_by_side.columns.first();
    let reference = first.map_or("", |(name, _)| name.as_str());
    forest(&rows.collect::<Vec<_>>(), reference)
}

fn forest_rows(
    side_by_side: &SideBySide,
    section: &WorkloadSection,
    row: &FigureRow,
) -> Vec<ForestRow> {
    let columns = side_by_side.columns.iter().zip(&row.values).enumerate();
    let compared = columns.filter_map(|(column, ((name, _), value))| {
        let value = value.as_ref()?;
        Some((column, name, value.ratio?))
    });
    compared
        .map(|(column, name, ratio)| {
            let is_better = match row.better {
                BetterDirection::Lower => ratio.value < 1.0,
                _ => ratio.value > 1.0,
            };
            let verdict = match (row.differs_from_first(column), ratio.certainty) {
                (true, _) if is_better => Verdict::Better,
                (true, _) => Verdict::Worse,
                (false, Some(_)) => Verdict::NoDifferenceShown,
                (false, None) => Verdict::CannotTell,
            };
            ForestRow {
                label: format!("{}: {name}", section.heading),
                detail: row.label.clone(),
                ratio: ratio.value,
                interval: ratio.certainty.map(|it| [it.ci95_low, it.ci95_high]),
                detectable: None,
                repetitions: Vec::new(),
                verdict: Some(verdict),
                bars: Some(bars(side_by_side, row, column)),
            }
        })
        .collect()
}

/// Returns the values of the first column and of another one.
fn bars(side_by_side: &SideBySide, row: &FigureRow, column: usize) -> ForestBars {
    let bar = |column: usize| {
        let ((name, _), value) = (side_by_side.columns.get(column)?, row.values.get(column)?);
        let value = value.as_ref()?;
        let half = value
            .interval()
            .and_then(BarInterval::half_over_repetitions);
        Some(ForestBar {
            name: name.clone(),
            value: value.mean,
            interval: value.interval(),
            // All rows of the plot are rates.
            text: format!("{}/s", value.text),
            precision: half.map(format::iops).unwrap_or_default(),
            side: column,
        })
    };
    ForestBars {
        axis_max: row.scale_max(),
        bars: [0, column].into_iter().filter_map(bar).collect(),
    }
}

/// Returns the metrics of a section, with links to its runs.
pub(super) fn table(side_by_side: &SideBySide, section: &WorkloadSection, index: usize) -> Markup {
    let table = html! {
        table.side-by-side {
            thead {
                tr {
                    th.name scope="col" { "figure" }
                    @for (name, _) in &side_by_side.columns {
                        th scope="col" { a href="#columns" { (name) } }
                    }
                }
            }
            tbody { @for row in &section.rows { (line(side_by_side, row, index)) } }
        }
    };
    frame(&section.heading, false, &table)
}

/// Returns the anchor of the runs of a section in a column.
fn group_id([section, column]: [usize; 2]) -> String {
    format!("runs-{section}-{column}")
}

/// Returns the runs of each workload on each file system.
fn groups(side_by_side: &SideBySide) -> Vec<RunGroup> {
    let mut groups: Vec<RunGroup> = Vec::new();
    for (index, run) in side_by_side.runs.iter().enumerate() {
        let id = group_id(run.position);
        match groups.last_mut().filter(|group| group.id == id) {
            Some(group) => group.runs.push(index),
            None => groups.push(RunGroup {
                id,
                name: format!("{} on {}", run.section, run.column),
                runs: vec![index],
            }),
        }
    }
    groups
}

/// Returns a list of the runs with their warnings, followed by each complete run.
pub(super) fn runs(side_by_side: &SideBySide) -> DocumentPart {
    let heads = ["run", "workload", "file system", "began", "warnings"];
    let rows = side_by_side.runs.iter().map(|run| {
        let warnings: Vec<String> = run.warnings.iter().map(|it| format!("`{it}`")).collect();
        vec![
            run.id.clone(),
            run.section.clone(),
            run.column.clone(),
            run.started.clone(),
            warnings.join(", "),
        ]
    });
    let listed = Table::new(heads.map(Column::name), rows);
    let link = |row: usize| side_by_side.runs.get(row).map(|run| group_id(run.position));
    let listed = plain_table(&listed, "Runs", link);
    let runs = opened(&side_by_side.records, &groups(side_by_side));
    let blocks = [listed, runs].map(Block::Markup);
    match side_by_side.runs.is_empty() {
        true => DocumentPart::default(),
        false => DocumentPart::new("Runs", blocks).at("runs"),
    }
}

fn line(side_by_side: &SideBySide, row: &FigureRow, section: usize) -> Markup {
    let best = row.best();
    let has_runs = |position: &[usize; 2]| {
        let mut runs = side_by_side.runs.iter();
        runs.any(|run| run.position == *position)
    };
    html! {
        tr {
            th scope="row" {
                (sentence(&row.label))
                @if row.is_short { " " (SHORT_MARK) }
                @if !row.direction().is_empty() { br; small { (row.direction()) } }
            }
            @for (column, value) in row.values.iter().enumerate() {
                td {
                    @match value {
                        Some(value) => {
                            @let link = Some([section, column]).filter(has_runs);
                            (cell(row, column, value, (best == Some(column), link)))
                        }
                        None => { (ABSENT) }
                    }
                }
            }
        }
    }
}

/// Returns a value with its bar and its ratio, linked to the underlying runs.
fn cell(
    row: &FigureRow,
    column: usize,
    value: &ColumnValue,
    (is_best, link): (bool, Option<[usize; 2]>),
) -> Markup {
    let shown = html! {
        @if is_best { strong { "* " (value.text) } } @else { (value.text) }
    };
    html! {
        @match link {
            Some(position) => { a href={ "#" (group_id(position)) } { (shown) } }
            None => { (shown) }
        }
        // Without a positive value there is no scale.
        @if row.scale_max() > 0.0 { (bar(row.scale_max(), value, is_best)) }
        @if let Some(of) = value.ratio {
            small {
                "× " (ratio(of.value))
                @let interval = interval(row, column, value);
                @if !interval.is_empty() { br; (interval) }
            }
        }
    }
}

/// Returns a bar relative to the largest value.
fn bar(most: f64, value: &ColumnValue, is_best: bool) -> Markup {
    html! {
        div.bar.below.best[is_best] aria-hidden="true" {
            (html::bar(value.mean, value.interval(), |value| value / most))
        }
    }
}
