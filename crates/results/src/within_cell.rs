//! Statistics of one cell's rate over its intervals: uncertainty, warm-up and drift.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A warm-up that changes the mean by less than this share is recorded, but causes no warning.
const WARM_UP_CHANGE_MIN: f64 = 0.01;

/// Statistics of one cell's rate, `total.per_second`, over its intervals.
///
/// They cover the variation within the run, but not the variation between runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WithinRun {
    /// Number of intervals used, at least 10. Neighbors are merged if they contain few operations.
    pub intervals: u32,
    /// Mean of the intervals' rates, per second.
    pub mean: f64,
    /// Standard deviation of the intervals' rates, per second.
    pub stddev: f64,
    /// Effective number of independent intervals; none for fewer than 20.
    pub effective: Option<f64>,
    /// Lower end of the mean's 95 % confidence interval.
    pub ci95_low: Option<f64>,
    /// Upper end of the mean's 95 % confidence interval.
    pub ci95_high: Option<f64>,
    /// The warm-up at the start; none if none was found, or for fewer than 20 intervals.
    pub warm_up: Option<WarmUpRecord>,
    /// The drift after the warm-up; none if nothing was done.
    pub drift: Option<DriftRecord>,
}

/// Measured time that was still warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpRecord {
    /// Its length from the start of the measurement, in nanoseconds.
    pub length_ns: u64,
    /// Mean rate of the intervals after the warm-up, per second.
    pub settled_mean: f64,
    /// Probability of such a large change without a warm-up.
    pub p_value: f64,
}

/// Least-squares line through the intervals' rates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftRecord {
    /// End of the line minus its start, as a share of the mean; negative if the rate falls.
    pub change: f64,
    /// The same change per second.
    pub change_per_second: f64,
    /// Probability of such a steep line without drift.
    pub p_value: f64,
    /// `true` if it is significant at 1 % and the change is larger than 10 %.
    pub is_beyond: bool,
}

impl DriftRecord {
    /// Start and end of the line for rates with this mean. Both are at least 0, even if the fitted
    /// line is lower.
    fn ends(&self, mean: f64) -> [f64; 2] {
        // A least-squares line passes through the mean at its middle.
        [-0.5, 0.5].map(|half| (mean * (1.0 + half * self.change)).max(0.0))
    }

    /// Change from start to end as a share of the start, at least -1; `None` if the line starts at
    /// 0.
    #[must_use]
    pub fn change_from_start(&self) -> Option<f64> {
        let [start, end] = self.ends(1.0);
        (start > 0.0).then(|| end / start - 1.0)
    }
}

impl WithinRun {
    /// Half the width of the mean's 95 % confidence interval as a share of the mean.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        let width = self.ci95_high? - self.ci95_low?;
        (self.mean > 0.0).then(|| width / 2.0 / self.mean)
    }

    /// Ramp time in seconds that would have covered the warm-up after a ramp of `ramp_ns`; `None`
    /// if there was no significant warm-up.
    #[must_use]
    pub fn ramp_needed_s(&self, ramp_ns: u64) -> Option<u64> {
        let warm_up = self.significant_warm_up()?;
        let end_s = (ramp_ns.saturating_add(warm_up.length_ns) as f64 / 1e9).ceil();
        // A second more, because the end of the warm-up is known only to an interval.
        Some(end_s as u64 + 1)
    }

    /// The warm-up, if it changes the mean by at least 1 %.
    #[must_use]
    pub fn significant_warm_up(&self) -> Option<&WarmUpRecord> {
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
    fn a_drift_never_falls_by_more_than_100_percent() {
        let fall = drift(-1.22).change_from_start().unwrap();
        assert!((fall - (0.39 / 1.61 - 1.0)).abs() < 1e-9, "{fall}");
        assert_eq!(drift(-2.5).change_from_start(), Some(-1.0));
        assert_eq!(drift(2.0).change_from_start(), None);
        assert_eq!(drift(0.0).change_from_start(), Some(0.0));
        assert_eq!(drift(-2.5).ends(100.0), [225.0, 0.0]);
    }
}
