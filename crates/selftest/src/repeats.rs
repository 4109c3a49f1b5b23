//! Repetitions of one thing: whether it is called different from itself, and whether intervals
//! hold its true rate.

use compare::{ComparisonOptions, Verdict, compare};
use plan::EngineKind;
use results::RunRecord;
use stats::Estimate;

use crate::check::Bound;
use crate::delay::DelayTarget;
use crate::delayed;
use crate::figures::binomial_bounds;
use crate::measure::{Measurer, Trouble, first_cell};

/// How often each side of a comparison is measured.
const REPETITIONS: u32 = 5;
/// The chance of a false alarm, and of an interval that holds.
const FALSE_ALARM: f64 = 0.05;
const HOLDS: f64 = 0.95;

/// An open loop that is measured again and again.
pub(crate) struct Repeats<'a> {
    comparisons: u32,
    /// Requests each second, at random.
    rate: f64,
    target: Option<&'a mut DelayTarget>,
    workload: String,
}

/// What repetitions came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repeated {
    pub comparisons: u32,
    pub different: u32,
    pub intervals: u32,
    pub holding: u32,
}

impl Repeated {
    /// How many comparisons may find a difference.
    pub fn different_bound(self) -> Bound {
        let (_, high) = binomial_bounds(self.comparisons, FALSE_ALARM);
        Bound::AtMost {
            high: f64::from(high),
        }
    }

    /// How many intervals may hold the rate.
    pub fn holding_bound(self) -> Bound {
        let (low, high) = binomial_bounds(self.intervals, HOLDS);
        Bound::Between {
            low: f64::from(low),
            high: f64::from(high),
        }
    }
}

impl<'a> Repeats<'a> {
    /// On the engine that does nothing.
    pub fn of_null() -> Self {
        let rate = 5000.0;
        Self {
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

    /// On the file whose reads take a known time.
    pub fn of_delayed(target: &'a mut DelayTarget, engine: EngineKind) -> Self {
        let rate = 400.0;
        let how = format!(
            "ramp_time = 0\niodepth = 16\nrate = \"{rate}/s\"\narrivals = \"poisson\"\n\
             run_time = \"80ms\""
        );
        Self {
            comparisons: 6,
            rate,
            target: Some(target),
            workload: delayed::workload(engine, &how),
        }
    }

    /// Measures both sides of each comparison in turn.
    pub fn run(&mut self, measurer: &Measurer, attempt: u32) -> Result<Repeated, Trouble> {
        if let Some(target) = &mut self.target {
            target
                .begin(delayed::SERVICE, None)
                .map_err(Trouble::Broken)?;
        }
        let path = self.target.as_ref().map(|_| DelayTarget::path());
        let mut repeated = Repeated {
            comparisons: 0,
            different: 0,
            intervals: 0,
            holding: 0,
        };
        // Each run has due times of its own: repetitions of one run would all have the same.
        let mut seed = attempt * self.comparisons * REPETITIONS * 2;
        for _ in 0..self.comparisons {
            let mut sides = [Vec::new(), Vec::new()];
            for repetition in 0..REPETITIONS as usize {
                for side in [repetition % 2, (repetition + 1) % 2] {
                    seed += 1;
                    let text = format!("seed = {seed}\n{}", self.workload);
                    sides[side].push(measurer.run(&text, path.as_deref())?);
                }
            }
            for side in &sides {
                repeated.intervals += 1;
                repeated.holding += u32::from(holds(side, self.rate)?);
            }
            repeated.comparisons += 1;
            repeated.different += u32::from(is_different(&sides)?);
        }
        Ok(repeated)
    }
}

/// Whether the 95 % interval of the mean of some runs holds the rate that was asked
/// for.
fn holds(runs: &[RunRecord], rate: f64) -> Result<bool, Trouble> {
    let rates: Result<Vec<f64>, Trouble> = runs
        .iter()
        .map(|run| Ok(first_cell(run)?.total.per_second))
        .collect();
    let estimate = Estimate::from_samples(&rates?);
    let interval = estimate.and_then(|it| it.ci95_low.zip(it.ci95_high));
    let (low, high) =
        interval.ok_or_else(|| Trouble::Broken("repetitions have no interval".to_owned()))?;
    Ok((low..=high).contains(&rate))
}

fn is_different([a, b]: &[Vec<RunRecord>; 2]) -> Result<bool, Trouble> {
    let options = ComparisonOptions {
        force: false,
        paired: true,
    };
    let comparison = compare(a, b, options).map_err(|it| Trouble::Broken(it.to_string()))?;
    let mut figures = comparison.figures();
    Ok(figures.any(|it| matches!(it.verdict, Verdict::Better | Verdict::Worse)))
}
