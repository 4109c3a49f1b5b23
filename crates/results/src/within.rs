//! What the intervals of one cell say about its rate: how sure it is, whether it was warm, whether
//! it drifted.

use serde::{Deserialize, Serialize};
use stats::{Drift, WarmUp, mean, stddev};

use crate::build::MOVES_BYTES;
use crate::even::{EvenRates, uncertain_rate};
use crate::{CellRecord, Phase};

/// Fewer intervals say nothing.
const INTERVALS_MIN: usize = 10;
/// A rate that changes by this share of its mean over the run is not steady, as in SNIA's limit
/// for the excursion of a window.
const EXCURSION_MAX: f64 = 0.10;
/// A warm-up that changes the mean by less than this share is recorded, but no reason to doubt.
const WARM_UP_CHANGE_MIN: f64 = 0.01;

/// What the intervals of one cell say about its rate, `total.per_second`.
///
/// It covers what varied within the run; what differs from run to run is not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WithinRun {
    /// How many intervals were looked at, at least 10; where they hold few operations, neighbors
    /// are taken together.
    pub intervals: u32,
    /// Mean of the intervals' rates, per second.
    pub mean: f64,
    /// Standard deviation of the intervals' rates, per second.
    pub stddev: f64,
    /// How many independent ones they are worth; none for fewer than 20.
    pub effective: Option<f64>,
    /// Lower end of the mean's 95 % confidence interval.
    pub ci95_low: Option<f64>,
    /// Upper end of the mean's 95 % confidence interval.
    pub ci95_high: Option<f64>,
    /// The warm-up at the start; none where there is none to be seen, or fewer than 20 intervals.
    pub warm_up: Option<WarmUpRecord>,
    /// The slope of what follows the warm-up; none where nothing was done.
    pub drift: Option<DriftRecord>,
}

/// Measured time that still was warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WarmUpRecord {
    /// Its length from the start of the measurement, in nanoseconds.
    pub length_ns: u64,
    /// Mean of the intervals behind it, per second.
    pub settled_mean: f64,
    /// How probable so large a change would be without warm-up.
    pub p_value: f64,
}

/// The least-squares line through the intervals' rates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DriftRecord {
    /// The line's end less its start, as a share of the mean; below 0 when it falls.
    pub change: f64,
    /// The same for each second.
    pub change_per_second: f64,
    /// How probable so steep a line would be without drift.
    pub p_value: f64,
    /// Whether it is significant at 1 % and changes by more than 10 %.
    pub is_beyond: bool,
}

impl WithinRun {
    /// Of a measured cell; none with fewer than 10 intervals, and for the phases of a classic
    /// program, whose transactions intervals do not count.
    #[must_use]
    pub fn of(cell: &CellRecord) -> Option<Self> {
        if matches!(cell.phase, Phase::Classic(_)) || cell.workers == 0 {
            return None;
        }
        let names: Vec<&str> = cell.operations.keys().map(String::as_str).collect();
        let moving = |name: &&str| MOVES_BYTES.contains(name);
        let names = match names.iter().any(moving) {
            true => names.into_iter().filter(moving).collect(),
            false => names,
        };
        let even = EvenRates::of(&cell.intervals, &names, |figures| figures.count);
        let rates = &even.per_second;
        if rates.len() < INTERVALS_MIN {
            return None;
        }
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

    /// Half the width of the mean's 95 % confidence interval as a share of the mean.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        let width = self.ci95_high? - self.ci95_low?;
        (self.mean > 0.0).then(|| width / 2.0 / self.mean)
    }

    /// The warm-up, where the mean is another one without it.
    #[must_use]
    pub fn warm_up_that_matters(&self) -> Option<&WarmUpRecord> {
        let limit = WARM_UP_CHANGE_MIN * self.mean.abs();
        let matters = |it: &&WarmUpRecord| (it.settled_mean - self.mean).abs() >= limit;
        self.warm_up.as_ref().filter(matters)
    }
}

fn drift(starts_ns: &[u64], rates: &[f64]) -> Option<DriftRecord> {
    let drift = Drift::of(rates)?;
    // From the middle of the first to that of the last, as is the line.
    let span_ns = starts_ns.last()?.saturating_sub(*starts_ns.first()?).max(1);
    Some(DriftRecord {
        change: drift.change,
        change_per_second: drift.change * 1e9 / span_ns as f64,
        p_value: drift.p_value,
        is_beyond: drift.is_beyond(EXCURSION_MAX),
    })
}
