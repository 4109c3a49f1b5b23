//! Rounds of a cell that was measured until steady.

use results::{CellRecord, SteadyRecord, SteadyWindow};

use super::{Axis, AxisScale, AxisUnit, Chart, ChartNumber, LineStyle, Series, View};
use crate::model::steady_sentence;
use crate::names::capital;

const ROUND: Axis = Axis::new("round", AxisUnit::Count, AxisScale::Linear);

/// Operations per second of each round. Also shows the window, its mean, the allowed band and the
/// fitted line. `None` with fewer than two rounds.
#[must_use]
pub fn rounds(cell: &CellRecord) -> Option<Chart> {
    let steady = cell.steady.as_ref().filter(|it| it.rounds.len() > 1)?;
    let numbers = (1..=steady.rounds.len()).map(|round| ChartNumber::exact(round as f64));
    let summary = format!("{}.", capital(&steady_sentence(steady)));
    let title = "Rounds until steady";
    Some(Chart::new(title, summary, ROUND, numbers, [view(steady)]))
}

fn view(steady: &SteadyRecord) -> View {
    let rates = steady.rounds.iter().map(|round| round.per_second);
    let rates = rates.map(ChartNumber::rounded);
    let mut series = vec![Series::new("round", 0, LineStyle::Marked, rates)];
    let mut bands = Vec::new();
    if let Some(window) = &steady.window {
        let drawn = WindowValues { steady, window };
        // The rule limits the distance between the largest and the smallest value (SNIA PTS). Half
        // of it is on each side of the mean.
        let half = window.range_limit / 2.0;
        let share = steady.rule.range_max * 50.0;
        let mean = window.average;
        series.extend([
            drawn.series("mean of the window", 2, LineStyle::Dashed, |_| mean),
            drawn.series("fitted line", 1, LineStyle::Solid, |index| {
                window.line_first + window.slope_per_round * index as f64
            }),
            drawn.series(&format!("mean + {share} %"), 2, LineStyle::Dotted, |_| {
                mean + half
            }),
            drawn.series(&format!("mean - {share} %"), 2, LineStyle::Dotted, |_| {
                mean - half
            }),
        ]);
        // The indexes of the last two series, which are the edges of the band.
        bands.push([3, 4]);
    }
    View {
        bands,
        ..View::new("IOPS", Axis::RATE, series)
    }
}

/// Values that exist only within the window.
struct WindowValues<'a> {
    steady: &'a SteadyRecord,
    window: &'a SteadyWindow,
}

impl WindowValues<'_> {
    /// Returns a series of `value`, which takes the index of a round within the window.
    fn series(
        &self,
        label: &str,
        color: usize,
        line: LineStyle,
        value: impl Fn(usize) -> f64,
    ) -> Series {
        let at = |round: usize| {
            let index = round.checked_sub(self.window.first_round_index);
            let index = index.filter(|index| *index < self.window.values.len());
            index.map_or(ChartNumber::NONE, |index| {
                ChartNumber::rounded(value(index))
            })
        };
        Series::new(label, color, line, (0..self.steady.rounds.len()).map(at))
    }
}

#[cfg(test)]
mod tests {
    use results::{RoundRecord, SteadyRule};

    use super::*;
    use crate::sample;

    fn cell(rates: &[f64]) -> CellRecord {
        let mut cell = sample::record().cells.remove(0);
        let mut state = stats::SteadyState::new(SteadyRule::default());
        rates.iter().for_each(|rate| {
            state.push(*rate);
        });
        let round = |per_second: &f64| RoundRecord {
            per_second: *per_second,
            ..RoundRecord::default()
        };
        cell.steady = Some(SteadyRecord {
            rule: *state.rule(),
            verdict: state.verdict(),
            rounds: rates.iter().map(round).collect(),
            window: state.window(),
        });
        cell
    }

    #[test]
    fn the_window_shows_its_mean_band_and_line() {
        let chart = rounds(&cell(&[2000.0, 950.0, 975.0, 1000.0, 1025.0, 1050.0])).unwrap();
        assert_eq!(chart.at.len(), 6);
        assert!(
            chart.summary.starts_with("Steady after 6 rounds; "),
            "{}",
            chart.summary
        );
        let view = &chart.views[0];
        let values = |index: usize| -> Vec<f64> {
            view.series[index]
                .values
                .iter()
                .map(|it| it.get())
                .collect()
        };
        assert_eq!(values(0)[0], 2000.0);
        assert!((1..5).all(|index| values(index)[0].is_nan()));
        assert_eq!(values(1)[1..], [1000.0; 5]);
        assert_eq!(values(2)[1..], [950.0, 975.0, 1000.0, 1025.0, 1050.0]);
        assert_eq!((values(3)[1], values(4)[1]), (1100.0, 900.0));
        assert_eq!(view.series[3].label, "mean + 10 %");
        assert_eq!(view.bands, [[3, 4]]);
    }

    #[test]
    fn too_few_rounds_are_drawn_without_a_window() {
        let chart = rounds(&cell(&[1000.0, 2000.0])).unwrap();
        assert_eq!(
            (chart.views[0].series.len(), chart.views[0].bands.len()),
            (1, 0)
        );
        assert_eq!(rounds(&cell(&[1000.0])), None);
        assert_eq!(rounds(&sample::record().cells[0]), None);
    }
}
