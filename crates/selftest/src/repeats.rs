//! Repeats identical runs to count false differences and confidence intervals that contain the true
//! rate.

use compare::{ComparisonOptions, compare};
use plan::EngineKind;
use results::RunRecord;
use stats::Estimate;

use crate::check::Bound;
use crate::delay::DelayTarget;
use crate::delayed;
use crate::figures::binomial_bounds;
use crate::measure::{Measurer, MissingValue, first_cell};

/// Number of runs on each side of a comparison.
const REPETITIONS: u32 = 5;
/// Probability of a false difference.
const FALSE_ALARM: f64 = 0.05;
/// Probability with which an interval should contain the true rate.
const COVERAGE: f64 = 0.95;

/// Compares an open loop with itself several times.
pub(crate) struct RepeatedCheck<'a> {
    comparisons: u32,
    /// Requests per second, with Poisson arrivals.
    rate: f64,
    target: Option<&'a mut DelayTarget>,
    workload: String,
}

/// Counts over all comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ComparisonCounts {
    pub comparisons: u32,
    pub different: u32,
    pub intervals: u32,
    pub covering: u32,
}

impl ComparisonCounts {
    /// Maximum number of comparisons that may find a difference.
    pub fn difference_bound(self) -> Bound {
        let (_, high) = binomial_bounds(self.comparisons, FALSE_ALARM);
        Bound::AtMost {
            high: f64::from(high),
        }
    }

    /// Allowed range for the number of intervals that contain the rate.
    pub fn coverage_bound(self) -> Bound {
        let (low, high) = binomial_bounds(self.intervals, COVERAGE);
        Bound::Between {
            low: f64::from(low),
            high: f64::from(high),
        }
    }
}

impl<'a> RepeatedCheck<'a> {
    /// Repetitions on the `null` engine.
    pub fn of_null() -> Self {
        let rate = 5000.0;
        Self {
            // These 140 runs of 45 ms take about 6 s of the minute that a self-test should take.
            comparisons: 14,
            rate,
            target: None,
            workload: format!(
                "engine = \"null\"\nsize = \"1g\"\niodepth = 16\nrate = \"{rate}/s\"\n\
                 arrivals = \"poisson\"\nrun_time = \"40ms\"\nramp_time = \"5ms\"\n\
                 [[access_spec]]\nline = [{{ size = \"4k\", random = 100 }}]\n"
            ),
        }
    }

    /// Repetitions on the delayed file.
    pub fn of_delayed(target: &'a mut DelayTarget, engine: EngineKind) -> Self {
        let rate = 400.0;
        let settings = format!(
            "ramp_time = 0\niodepth = 16\nrate = \"{rate}/s\"\narrivals = \"poisson\"\n\
             run_time = \"80ms\""
        );
        Self {
            // 60 runs of 80 ms take about 5 s for each engine.
            comparisons: 6,
            rate,
            target: Some(target),
            workload: delayed::workload(engine, &settings),
        }
    }

    /// Runs all comparisons, alternating between their two sides.
    pub fn run(
        &mut self,
        measurer: &Measurer,
        attempt: u32,
    ) -> Result<ComparisonCounts, MissingValue> {
        if let Some(target) = &mut self.target {
            target
                .begin(delayed::SERVICE, None)
                .map_err(MissingValue::Broken)?;
        }
        let path = self.target.as_ref().map(|_| DelayTarget::path());
        let mut repeated = ComparisonCounts {
            comparisons: 0,
            different: 0,
            intervals: 0,
            covering: 0,
        };
        // Each run gets its own seed, because equal seeds would give equal due times.
        let mut seed = attempt * self.comparisons * REPETITIONS * 2;
        for _ in 0..self.comparisons {
            let mut sides = [Vec::new(), Vec::new()];
            for repetition in 0..REPETITIONS as usize {
                // A B B A order: a steady drift of the machine then affects both sides alike.
                for side in [repetition % 2, (repetition + 1) % 2] {
                    seed += 1;
                    let text = format!("seed = {seed}\n{}", self.workload);
                    sides[side].push(measurer.run(&text, path.as_deref())?);
                }
            }
            for side in &sides {
                repeated.intervals += 1;
                repeated.covering += u32::from(holds(side, self.rate)?);
            }
            repeated.comparisons += 1;
            repeated.different += u32::from(is_different(&sides)?);
        }
        Ok(repeated)
    }
}

/// `true` if the 95 % interval of the mean rate of some runs contains the requested rate.
fn holds(runs: &[RunRecord], rate: f64) -> Result<bool, MissingValue> {
    let rates: Result<Vec<f64>, MissingValue> = runs
        .iter()
        .map(|run| Ok(first_cell(run)?.total.per_second))
        .collect();
    let estimate = Estimate::from_samples(&rates?);
    let interval = estimate.and_then(|it| it.ci95_low.zip(it.ci95_high));
    let (low, high) =
        interval.ok_or_else(|| MissingValue::Broken("repetitions have no interval".to_owned()))?;
    Ok((low..=high).contains(&rate))
}

fn is_different([a, b]: &[Vec<RunRecord>; 2]) -> Result<bool, MissingValue> {
    let options = ComparisonOptions {
        force: false,
        // Runs of the same repetition follow each other, so what disturbs one disturbs its partner,
        // too.
        paired: true,
    };
    let comparison = compare(a, b, options).map_err(|it| MissingValue::Broken(it.to_string()))?;
    let mut figures = comparison.figures();
    Ok(figures.any(|it| it.verdict.is_significant()))
}
