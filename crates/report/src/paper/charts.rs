//! Bar charts of this machine among the published systems.

use maud::{Markup, html};
use results::BetterDirection;
use units::format;

use super::board::{Ranking, RankingEntry};
use crate::forest::{ForestRow, forest};
use crate::html::{BarInterval, bar, frame};
use crate::names::capital;

/// Above this ratio of the largest to the smallest value, the scale is logarithmic. Short bars
/// would otherwise vanish.
const LINEAR_MAX: f64 = 100.0;

/// Returns the ratios of what was measured here to each published value, then one chart per metric,
/// with a bar for each system.
pub(super) fn charts(boards: &[Ranking], doubted: &[bool]) -> Markup {
    let rows: Vec<ForestRow> = boards.iter().flat_map(|it| ratios(it, doubted)).collect();
    html! {
        (forest(&rows, "each published value"))
        div.boards { @for board in boards { (chart(board, doubted)) } }
    }
}

/// Returns the ratios of one metric, one row per published and measured system. What is not
/// comparable has no ratio.
fn ratios(board: &Ranking, doubted: &[bool]) -> Vec<ForestRow> {
    let published = board.entries.iter().filter(|it| it.side.is_none());
    let is_comparable = |side: usize| doubted.get(side) != Some(&true);
    let measured = board.entries.iter();
    let measured = measured.filter(|it| it.side.is_some_and(is_comparable));
    let measured: Vec<&RankingEntry> = measured.collect();
    let arrow = match board.better {
        BetterDirection::Lower => "↓",
        _ => "↑",
    };
    let row = |own: &RankingEntry, other: &RankingEntry| {
        let ratio = |value: f64| value / other.value;
        ForestRow {
            label: format!(
                "{}: {} to {} {}",
                board.heading, own.name, other.name, other.year
            ),
            detail: format!("{} {arrow}: {}, {}", board.figure, own.text, other.text),
            ratio: ratio(own.value),
            interval: own.bounds.map(|ends| ends.map(ratio)),
            detectable: None,
            repetitions: Vec::new(),
            verdict: None,
            bars: None,
        }
    };
    published
        .filter(|it| it.value > 0.0)
        .flat_map(|other| measured.iter().map(move |own| row(own, other)))
        .collect()
}

fn chart(board: &Ranking, doubted: &[bool]) -> Markup {
    let axis = BarAxis::of(&board.entries);
    let direction = match board.better {
        BetterDirection::Lower => "lower is better",
        _ => "higher is better",
    };
    let scale = if axis.is_log {
        ", on a logarithmic scale"
    } else {
        ""
    };
    let caption = format!("{}: {}, {direction}{scale}", board.heading, board.figure);
    frame(
        &caption,
        false,
        &html! {
            table.bars.board role="table" {
                caption { span { (capital(&caption)) } }
                thead role="rowgroup" {
                    tr role="row" {
                        th.name scope="col" role="columnheader" { "system" }
                        th.name scope="col" role="columnheader" { (board.figure) }
                    }
                }
                tbody role="rowgroup" {
                    @for entry in &board.entries { (row(entry, &axis, doubted)) }
                    @if axis.is_log { (ticks(&axis)) }
                }
            }
        },
    )
}

fn row(entry: &RankingEntry, axis: &BarAxis, doubted: &[bool]) -> Markup {
    let is_measured = entry.side.is_some();
    let is_doubted = entry
        .side
        .is_some_and(|side| doubted.get(side) == Some(&true));
    let color = if is_measured { "color-0" } else { "color-5" };
    html! {
        tr.here[is_measured].doubted[is_doubted] role="row" {
            th scope="row" role="rowheader" {
                (entry.name)
                @if is_doubted {
                    " " small { "(here, not comparable)" }
                } @else if is_measured {
                    " " small { "(here)" }
                }
                @if !entry.year.is_empty() { " " small { (entry.year) } }
            }
            td.name role="cell" {
                div.bar.(color) aria-hidden="true" {
                    @let interval = BarInterval::of(entry.bounds, None);
                    (bar(entry.value, interval, |value| axis.share(value)))
                }
                span.number { (entry.text) }
            }
        }
    }
}

/// Returns the powers of ten below the bars.
fn ticks(axis: &BarAxis) -> Markup {
    html! {
        tr.ticks aria-hidden="true" {
            th {}
            td.name {
                div.bar {
                    @for (share, text) in axis.ticks() {
                        span.tick style={ "left:" (percent(share)) } { (text) }
                    }
                }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share.clamp(0.0, 1.0))
}

/// Scale of the bars.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BarAxis {
    low: f64,
    high: f64,
    is_log: bool,
}

impl BarAxis {
    /// Chooses a scale from zero, or a logarithmic one if the values differ widely.
    fn of(entries: &[RankingEntry]) -> Self {
        // The scale must also have room for the whiskers.
        let ends = entries
            .iter()
            .filter_map(|it| it.bounds.map(|ends| ends[1]));
        let values = || {
            entries
                .iter()
                .map(|it| it.value)
                .filter(|value| *value > 0.0)
        };
        let high = values().chain(ends).fold(0.0, f64::max);
        let least = values().fold(f64::MAX, f64::min);
        match high / least > LINEAR_MAX {
            // Start below the smallest value, so that its bar is visible.
            true => Self {
                low: 10_f64.powf((least * 0.9).log10().floor()),
                high,
                is_log: true,
            },
            false => Self {
                low: 0.0,
                high,
                is_log: false,
            },
        }
    }

    fn share(&self, value: f64) -> f64 {
        match self.is_log {
            // The lower end of an interval may be below the axis, even at 0.
            true => (value.max(self.low) / self.low).log10() / (self.high / self.low).log10(),
            false => value / self.high.max(f64::MIN_POSITIVE),
        }
    }

    /// Returns every power of ten, or every second or third one if there are many.
    fn ticks(&self) -> Vec<(f64, String)> {
        const TICKS_MAX: usize = 4;
        let decades = (self.high / self.low).log10().floor() as usize;
        let step = decades.div_ceil(TICKS_MAX).max(1);
        let values = (0..=decades).step_by(step);
        let values = values.map(|decade| self.low * 10_f64.powi(decade as i32));
        values
            .map(|value| (self.share(value), tick(value)))
            .collect()
    }
}

fn tick(value: f64) -> String {
    match value {
        1000.0.. => format::iops(value)
            .replace(".000", "")
            .replace(".00", "")
            .replace(".0", ""),
        1.0.. => format!("{value:.0}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(values: &[f64]) -> Vec<RankingEntry> {
        let entry = |value: &f64| RankingEntry {
            name: "A".to_owned(),
            year: String::new(),
            value: *value,
            text: value.to_string(),
            bounds: None,
            side: None,
        };
        values.iter().map(entry).collect()
    }

    #[test]
    fn similar_values_have_bars_from_zero() {
        let axis = BarAxis::of(&entries(&[50.0, 100.0]));
        assert!(!axis.is_log && axis.ticks().len() < 2 || axis.low == 0.0);
        assert_eq!([50.0, 100.0].map(|value| axis.share(value)), [0.5, 1.0]);
    }

    #[test]
    fn values_over_several_powers_of_ten_have_a_logarithmic_axis() {
        let axis = BarAxis::of(&entries(&[20.0, 200_000.0]));
        assert!(axis.is_log);
        assert!(
            (axis.share(20.0) - 0.07).abs() < 0.01,
            "{}",
            axis.share(20.0)
        );
        assert_eq!(axis.share(200_000.0), 1.0);
        let texts: Vec<String> = axis.ticks().into_iter().map(|it| it.1).collect();
        assert_eq!(texts, ["10", "100", "1k", "10k", "100k"]);
        // A value that is a power of ten still has a bar.
        assert!(BarAxis::of(&entries(&[10.0, 5000.0])).share(10.0) > 0.1);
    }
}
