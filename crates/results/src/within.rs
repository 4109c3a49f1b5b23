//! What the intervals of one cell say about its rate: how sure it is, whether it was warm, whether
//! it drifted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A warm-up that changes the mean by less than this share is recorded, but no reason to doubt.
const WARM_UP_CHANGE_MIN: f64 = 0.01;

/// What the intervals of one cell say about its rate, `total.per_second`.
///
/// It covers what varied within the run; what differs from run to run is not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpRecord {
    /// Its length from the start of the measurement, in nanoseconds.
    pub length_ns: u64,
    /// Mean of the intervals behind it, per second.
    pub settled_mean: f64,
    /// How probable so large a change would be without warm-up.
    pub p_value: f64,
}

/// The least-squares line through the intervals' rates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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

impl DriftRecord {
    /// Where the line begins and ends, of rates with this mean; no rate is below 0, whatever a line
    /// through them is.
    #[must_use]
    pub fn ends(&self, mean: f64) -> [f64; 2] {
        [-0.5, 0.5].map(|half| (mean * (1.0 + half * self.change)).max(0.0))
    }

    /// The change from start to end as a share of the start, at least -1; none where the line
    /// begins at 0.
    #[must_use]
    pub fn change_from_start(&self) -> Option<f64> {
        let [start, end] = self.ends(1.0);
        (start > 0.0).then(|| end / start - 1.0)
    }
}

impl WithinRun {
    /// Mean of the rates after the warm-up, per second.
    #[must_use]
    pub fn settled_mean(&self) -> f64 {
        let settled = self.warm_up.as_ref().map(|it| it.settled_mean);
        settled.unwrap_or(self.mean)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn drift(change: f64) -> DriftRecord {
        DriftRecord {
            change,
            change_per_second: change / 10.0,
            p_value: 0.0,
            is_beyond: true,
        }
    }

    #[test]
    fn nothing_falls_by_more_than_all_of_it() {
        let fall = drift(-1.22).change_from_start().unwrap();
        assert!((fall - (0.39 / 1.61 - 1.0)).abs() < 1e-9, "{fall}");
        assert_eq!(drift(-2.5).change_from_start(), Some(-1.0));
        assert_eq!(drift(2.0).change_from_start(), None);
        assert_eq!(drift(0.0).change_from_start(), Some(0.0));
        assert_eq!(drift(-2.5).ends(100.0), [225.0, 0.0]);
    }
}
