//! The forest plot of a comparison: rates and 99th percentiles of all cells.

use ::compare::{CellComparison, Figure, FigureComparison, Scope, Verdict};
use maud::Markup;

use super::sentences;
use crate::forest::{ForestBar, ForestBars, ForestRow, forest};
use crate::html::{BarInterval, axis_max};
use crate::measure::LARGE_BYTES;
use crate::numbers::{self, LatencyUnit};

/// Returns the plot of all cells on all sides; nothing if no metric is compared.
pub(super) fn plot(cells: &[Vec<Option<&CellComparison>>], unit: LatencyUnit) -> Markup {
    let rows = cells.iter().flat_map(|sides| of_cell(sides, unit));
    forest(&rows.collect::<Vec<_>>(), "A")
}

/// Returns the rows of a cell: each side after the first, with each of its main metrics.
fn of_cell(sides: &[Option<&CellComparison>], unit: LatencyUnit) -> Vec<ForestRow> {
    let letters = sentences::other_letters().zip(1..);
    let compared = letters
        .zip(sides)
        .filter_map(|(side, cell)| Some((side, (*cell)?)));
    let mut rows: Vec<(Figure, ForestRow)> = Vec::new();
    for ((letter, side), cell) in compared {
        let heading = sentences::cell_heading(&cell.name);
        let label = match sides.len() {
            1 => heading,
            _ => format!("{letter}: {heading}"),
        };
        rows.extend(plotted(cell).map(|figure| {
            let name = sentences::figure(&cell.name, figure, unit);
            let bars = bars(figure, (&letter, side), unit);
            (figure.figure, row(&label, &name, figure, bars))
        }));
    }
    share_axes(&mut rows);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Gives the bars of a metric the same axis on all sides.
fn share_axes(rows: &mut [(Figure, ForestRow)]) {
    let axes: Vec<(Figure, f64)> = rows
        .iter()
        .filter_map(|(figure, row)| Some((*figure, row.bars.as_ref()?.axis_max)))
        .collect();
    for (figure, row) in rows {
        let axes = axes.iter().filter(|(other, _)| other == figure);
        let most = axes.map(|(_, most)| *most).fold(0.0, f64::max);
        row.bars.iter_mut().for_each(|bars| bars.axis_max = most);
    }
}

fn row(label: &str, name: &str, figure: &FigureComparison, bars: ForestBars) -> ForestRow {
    let arrow = if figure.higher_is_better {
        "↑"
    } else {
        "↓"
    };
    ForestRow {
        label: label.to_owned(),
        detail: format!("{name} {arrow}"),
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
        bars: Some(bars),
    }
}

/// Returns the values of the first side and of another one, given by its letter and index.
fn bars(figure: &FigureComparison, (letter, side): (&str, usize), unit: LatencyUnit) -> ForestBars {
    let show = |value| numbers::figure(figure.figure, value, unit);
    let sides = [
        ("A", 0, &figure.a, figure.within_a),
        (letter, side, &figure.b, figure.within_b),
    ];
    let bars = sides.map(|(name, side, estimate, within)| {
        let repeated = estimate.ci95_low.zip(estimate.ci95_high);
        let interval = BarInterval::of(repeated.map(<[f64; 2]>::from), within);
        let half = interval.and_then(BarInterval::half_over_repetitions);
        ForestBar {
            name: name.to_owned(),
            value: estimate.mean,
            interval,
            text: numbers::figure_with_unit(figure.figure, estimate.mean, unit),
            precision: half.map(show).unwrap_or_default(),
            side,
        }
    });
    ForestBars {
        axis_max: axis_max(bars.iter().map(|bar| (bar.value, bar.interval))),
        bars: bars.into(),
    }
}

/// Returns the main metrics of the whole cell: the rate, or the bandwidth of large transfers, and
/// the 99th percentile.
fn plotted(cell: &CellComparison) -> impl Iterator<Item = &FigureComparison> {
    let totals = || cell.figures.iter().filter(|it| it.scope == Scope::Total);
    let mean = |of| totals().find(|it| it.figure == of).map(|it| it.a.mean);
    let moved = mean(Figure::BytesPerSecond).zip(mean(Figure::PerSecond));
    let is_large = moved.is_some_and(|(bytes, count)| bytes >= LARGE_BYTES * count);
    let rates = match is_large {
        true => [Figure::BytesPerSecond, Figure::PerSecond],
        false => [Figure::PerSecond, Figure::BytesPerSecond],
    };
    let mut rates = std::iter::once(Figure::TransactionsPerSecond).chain(rates);
    let rate = rates.find(|rate| mean(*rate).is_some());
    totals().filter(move |it| Some(it.figure) == rate || it.figure == Figure::LatencyP99)
}
