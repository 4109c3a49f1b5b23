//! Tables of the compared cells.

use ::compare::{CellComparison, FigureComparison, Verdict};
use stats::Estimate;

use super::sentences;
use crate::numbers::{self, ABSENT, LatencyUnit, digits, percent, ratio};
use crate::styled::Style;
use crate::table::{Column, Table};

/// A metric on all sides.
#[derive(Debug)]
pub(super) struct ComparedRow<'a> {
    label: String,
    /// One entry per side after the first; `None` if a side lacks the metric.
    others: Vec<Option<&'a FigureComparison>>,
    unit: LatencyUnit,
}

impl<'a> ComparedRow<'a> {
    /// Returns the metrics of a cell, in the order of first appearance.
    pub fn of(cell: &[Option<&'a CellComparison>], unit: LatencyUnit) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        for (comparison_index, comparison) in cell.iter().enumerate() {
            let Some(comparison) = comparison else {
                continue;
            };
            for figure in &comparison.figures {
                let label = sentences::figure(&comparison.name, figure, unit);
                match rows.iter_mut().find(|row| row.label == label) {
                    Some(row) => row.others[comparison_index] = Some(figure),
                    None => {
                        let mut others = vec![None; cell.len()];
                        others[comparison_index] = Some(figure);
                        rows.push(Self {
                            label,
                            others,
                            unit,
                        });
                    }
                }
            }
        }
        rows
    }

    fn figures(&self) -> impl Iterator<Item = &'a FigureComparison> + '_ {
        self.others.iter().flatten().copied()
    }

    fn value(&self, of: fn(&FigureComparison) -> &Estimate, figure: &FigureComparison) -> String {
        numbers::figure(figure.figure, of(figure).mean, self.unit)
    }
}

/// Formats the half-width of the 95 % confidence interval, in percent of the mean.
fn precision(estimate: &Estimate) -> String {
    estimate
        .relative_error()
        .map_or_else(|| ABSENT.to_owned(), percent)
}

fn has_precision(rows: &[ComparedRow], of: fn(&FigureComparison) -> &Estimate) -> bool {
    rows.iter()
        .flat_map(ComparedRow::figures)
        .any(|figure| of(figure).relative_error().is_some())
}

/// Selects the estimate of a side.
type Side = fn(&FigureComparison) -> &Estimate;

/// Table of two sides, next to each other.
pub(super) fn for_two_sides(rows: &[ComparedRow]) -> Table {
    let sides: [(&str, Side); 2] = [("A", |figure| &figure.a), ("B", |figure| &figure.b)];
    let mut columns = vec![Column::name("figure")];
    for (letter, of) in sides {
        columns.push(Column::number(letter, 20));
        if has_precision(rows, of) {
            columns.push(Column::number("± %", 5));
        }
    }
    let texts = rows.iter().filter_map(|row| {
        let figure = row.figures().next()?;
        let mut texts = vec![row.label.clone()];
        for (_, of) in sides {
            texts.push(row.value(of, figure));
            texts.extend(has_precision(rows, of).then(|| precision(of(figure))));
        }
        texts.extend(judged(figure));
        Some(texts)
    });
    with_judgment(columns, texts.collect(), "B/A")
}

/// Table of several sides, one below the other.
pub(super) fn for_several_sides(rows: &[ComparedRow]) -> Table {
    let mut columns = vec![
        Column::name("figure"),
        Column::name("run"),
        Column::number("value", 20),
    ];
    let is_repeated =
        has_precision(rows, |figure| &figure.a) || has_precision(rows, |figure| &figure.b);
    if is_repeated {
        columns.push(Column::number("± %", 5));
    }
    let side_cells =
        |row: &ComparedRow, letter: &str, figure, of: fn(&FigureComparison) -> &Estimate| {
            let texts = [String::new(), letter.to_owned(), row.value(of, figure)];
            let precision = is_repeated.then(|| precision(of(figure)));
            texts.into_iter().chain(precision).collect::<Vec<String>>()
        };
    let mut texts = Vec::new();
    for row in rows {
        // All comparisons have the same first side, so any of them has its value.
        let Some(figure) = row.figures().next() else {
            continue;
        };
        let mut first = side_cells(row, "A", figure, |figure| &figure.a);
        first[0].clone_from(&row.label);
        // The first side is the reference, so it has no ratio and no verdict.
        first.extend([const { String::new() }; 6]);
        texts.push(first);
        for (letter, other) in sentences::other_letters().zip(&row.others) {
            if let Some(figure) = other {
                let mut text = side_cells(row, &letter, figure, |figure| &figure.b);
                text.extend(judged(figure));
                texts.push(text);
            }
        }
    }
    with_judgment(columns, texts, "to A")
}

fn with_judgment(mut columns: Vec<Column>, rows: Vec<Vec<String>>, ratio: &str) -> Table {
    let first = columns.len() + 1;
    columns.extend([
        Column::number(ratio, 30),
        Column::number("low", 10),
        Column::number("high", 10),
        Column::number("detects %", 9),
        Column::number("needs", 8),
        // Declared as a number because numbers are never wrapped, which keeps the row on one line.
        Column::number("verdict", u8::MAX),
    ]);
    Table {
        styles: rows.iter().map(|row| style(row.last()?)).collect(),
        ..Table::new(columns, rows).with_span(first, first + 1, "95 %")
    }
}

/// Returns the style of a verdict.
fn style(verdict: &str) -> Option<Style> {
    match verdict {
        it if it == Verdict::Better.name() => Some(Style::Green),
        it if it == Verdict::Worse.name() => Some(Style::Red),
        _ => None,
    }
}

/// Formats the ratio, the ends of its interval, the smallest detectable difference, the repetitions
/// that would detect this one, and the verdict.
fn judged(figure: &FigureComparison) -> [String; 6] {
    let end = |end: Option<f64>| end.map_or_else(|| ABSENT.to_owned(), ratio);
    [
        ratio(figure.ratio),
        end(figure.ci95_low),
        end(figure.ci95_high),
        detectable_difference(figure),
        repetitions_needed(figure),
        sentences::verdict(figure),
    ]
}

/// Formats the repetitions that would detect this difference, if it was not detected.
fn repetitions_needed(figure: &FigureComparison) -> String {
    match (figure.verdict, figure.repetitions_needed) {
        (_, Some(count)) => count.to_string(),
        (Verdict::NoDifferenceShown | Verdict::CannotTell, None) => ABSENT.to_owned(),
        _ => String::new(),
    }
}

/// Formats the smallest detectable difference, if no difference was detected.
fn detectable_difference(figure: &FigureComparison) -> String {
    match (figure.verdict, figure.smallest_difference) {
        // `digits` drops decimals from 1000 % on, which keeps the column narrow.
        (Verdict::NoDifferenceShown, Some(smallest)) if smallest >= 1.0 => digits(smallest * 100.0),
        (Verdict::NoDifferenceShown, Some(smallest)) => percent(smallest),
        (Verdict::NoDifferenceShown, None) | (Verdict::CannotTell, _) => ABSENT.to_owned(),
        _ => String::new(),
    }
}
