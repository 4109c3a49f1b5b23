//! The forest plot of a comparison: rates and 99th percentiles of all cells.

use ::compare::{CellComparison, Figure, FigureComparison, Scope, Verdict};
use maud::Markup;

use super::sentences;
use crate::forest::{ForestRow, ForestTone, forest};
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
    let shown = cell
        .figures
        .iter()
        .filter(|figure| is_plotted(cell, figure));
    shown
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
                tone: match figure.verdict {
                    Verdict::Better => ForestTone::Better,
                    Verdict::Worse => ForestTone::Worse,
                    Verdict::NoDifferenceShown | Verdict::CannotTell => ForestTone::Open,
                },
                verdict: figure.verdict.name().to_owned(),
            }
        })
        .collect()
}

/// Returns `true` for the main metrics of the whole cell: the rate, or else the bandwidth, and the
/// 99th percentile.
fn is_plotted(cell: &CellComparison, figure: &FigureComparison) -> bool {
    let has = |wanted: Figure| {
        let mut totals = cell.figures.iter().filter(|it| it.scope == Scope::Total);
        totals.any(|it| it.figure == wanted)
    };
    let rate = match () {
        () if has(Figure::TransactionsPerSecond) => Figure::TransactionsPerSecond,
        () if has(Figure::PerSecond) => Figure::PerSecond,
        () => Figure::BytesPerSecond,
    };
    figure.scope == Scope::Total && (figure.figure == rate || figure.figure == Figure::LatencyP99)
}
