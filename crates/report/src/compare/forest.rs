//! The forest plot of a comparison: rates and 99th percentiles of all cells.

use ::compare::{CellComparison, Figure, FigureComparison, Scope, Verdict};
use maud::Markup;

use super::sentences;
use crate::forest::{ForestRow, forest};
use crate::numbers::{self, LatencyUnit};

/// Returns the plot of all cells on all sides; nothing if no metric is compared.
pub(super) fn plot(cells: &[Vec<Option<&CellComparison>>], unit: LatencyUnit) -> Markup {
    let several = cells.first().is_some_and(|sides| sides.len() > 1);
    let rows = cells.iter().flat_map(|sides| {
        let letters = sentences::other_letters();
        let compared = letters
            .zip(sides)
            .filter_map(|(letter, cell)| Some((letter, (*cell)?)));
        compared.flat_map(move |(letter, cell)| rows(cell, &letter, unit, several))
    });
    forest(&rows.collect::<Vec<_>>(), "A")
}

fn rows(cell: &CellComparison, letter: &str, unit: LatencyUnit, several: bool) -> Vec<ForestRow> {
    let heading = sentences::cell_heading(&cell.name);
    let label = match several {
        true => format!("{letter}: {heading}"),
        false => heading,
    };
    plotted(cell)
        .map(|figure| {
            let value = |mean: f64| numbers::figure(figure.figure, mean, unit);
            let arrow = if figure.higher_is_better {
                "↑"
            } else {
                "↓"
            };
            let name = sentences::figure(&cell.name, figure, unit);
            let (a, b) = (value(figure.a.mean), value(figure.b.mean));
            ForestRow {
                label: label.clone(),
                detail: format!("{name} {arrow}: A {a}, {letter} {b}"),
                ratio: figure.ratio,
                interval: figure
                    .ci95_low
                    .zip(figure.ci95_high)
                    .map(|(low, high)| [low, high]),
                detectable: match figure.verdict {
                    Verdict::NoDifferenceShown => figure.smallest_difference,
                    _ => None,
                },
                repetitions: Vec::new(),
                verdict: Some(figure.verdict),
            }
        })
        .collect()
}

/// Returns the main metrics of the whole cell: the rate, or else the bandwidth, and the 99th
/// percentile.
fn plotted(cell: &CellComparison) -> impl Iterator<Item = &FigureComparison> {
    let totals = || cell.figures.iter().filter(|it| it.scope == Scope::Total);
    let rates = [
        Figure::TransactionsPerSecond,
        Figure::PerSecond,
        Figure::BytesPerSecond,
    ];
    let mut rates = rates.into_iter();
    let rate = rates.find(|rate| totals().any(|it| it.figure == *rate));
    totals().filter(move |it| Some(it.figure) == rate || it.figure == Figure::LatencyP99)
}
