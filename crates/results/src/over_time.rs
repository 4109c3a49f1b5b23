//! Statistics of a cell's rate, from its intervals.

use stats::{Drift, WarmUp, mean, stddev};

use crate::even_intervals::{EvenRates, uncertain_rate};
use crate::names::DATA_OPERATIONS;
use crate::{CellRecord, DriftRecord, Phase, WarmUpRecord, WithinRun};

/// Minimum number of intervals for statistics.
// Enough for a drift; warm-up and the interval of the mean need 20 and check that themselves.
const INTERVALS_MIN: usize = 10;
/// A rate is not steady if it changes by this share of its mean over the run. SNIA limits the
/// excursion of a window in the same way.
const EXCURSION_MAX: f64 = 0.10;

impl WithinRun {
    /// Statistics of a measured cell. `None` with fewer than 10 intervals, and for phases of a
    /// classic program, because intervals do not count its transactions.
    #[must_use]
    pub fn of(cell: &CellRecord) -> Option<Self> {
        if matches!(cell.phase, Phase::Classic(_)) || cell.workers == 0 {
            return None;
        }
        let even = even_rates(cell);
        let rates = &even.per_second;
        if rates.len() < INTERVALS_MIN {
            return None;
        }
        // Before the drift, which would otherwise be that of the warm-up.
        let warm_up = WarmUp::of(rates);
        let settled = warm_up.map_or(0, |it| it.end_index);
        let uncertain = uncertain_rate(cell, &even, cell.total.count);
        let half = uncertain.and_then(|it| Some((it.mean, it.half_width()?)));
        let stddev = stddev(rates)?;
        Some(Self {
            intervals: u32::try_from(rates.len()).unwrap_or(u32::MAX),
            mean: mean(rates)?,
            stddev,
            effective: uncertain.map(|it| it.effective(stddev, rates.len())),
            ci95_low: half.map(|(mean, half)| mean - half),
            ci95_high: half.map(|(mean, half)| mean + half),
            warm_up: warm_up.map(|it| WarmUpRecord {
                length_ns: even.starts_ns[it.end_index],
                settled_mean: it.settled_mean,
                p_value: it.p_value,
            }),
            drift: drift(&even.starts_ns[settled..], &rates[settled..]),
        })
    }
}

/// Rates of the operations that `total` counts, whose rate the statistics describe.
fn even_rates(cell: &CellRecord) -> EvenRates {
    let names: Vec<&str> = cell.operations.keys().map(String::as_str).collect();
    let moving = |name: &&str| DATA_OPERATIONS.contains(name);
    let names = match names.iter().any(moving) {
        true => names.into_iter().filter(moving).collect(),
        false => names,
    };
    EvenRates::of(&cell.intervals, &names, |figures| figures.count)
}

/// Mean rates of a cell per second in the first and in the last fifth of the time after its
/// warm-up. Unlike the ends of a fitted line, they were measured.
pub(crate) fn end_rates(cell: &CellRecord, within: &WithinRun) -> Option<[f64; 2]> {
    let even = even_rates(cell);
    let settled_ns = within.warm_up.as_ref().map_or(0, |it| it.length_ns);
    let begin = even.starts_ns.partition_point(|&start| start < settled_ns);
    let rates = even.per_second.get(begin..)?;
    let fifth = rates.len() / 5;
    Some([mean(&rates[..fifth])?, mean(&rates[rates.len() - fifth..])?])
}

fn drift(starts_ns: &[u64], rates: &[f64]) -> Option<DriftRecord> {
    let drift = Drift::of(rates)?;
    // From the middle of the first slice to the middle of the last, like the fitted line.
    let span_ns = starts_ns.last()?.saturating_sub(*starts_ns.first()?).max(1);
    Some(DriftRecord {
        change: drift.change,
        change_per_second: drift.change * 1e9 / span_ns as f64,
        p_value: drift.p_value,
        is_beyond: drift.is_beyond(EXCURSION_MAX),
    })
}
