//! The verdict on each metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Estimate, Ratio, UncertainMean};

use crate::figure::{Figure, Scope};
use crate::measurement::{self, Measurement};
use crate::series;

/// Probability of any false alarm in a whole comparison.
const SIGNIFICANCE_LEVEL: f64 = 0.05;
/// Larger detectable differences are not reported, as a ratio minus 1.
const DIFFERENCE_MAX: f64 = 9.0;

/// Verdict on the second side relative to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Significantly better.
    Better,
    /// Significantly worse.
    Worse,
    /// No significant difference; one smaller than [`FigureComparison::smallest_difference`] may
    /// exist.
    NoDifferenceShown,
    /// Too few measurements to distinguish a difference from chance, such as one repetition each.
    CannotTell,
}

impl Verdict {
    /// Returns the verdict in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifferenceShown => "no difference shown",
            Self::CannotTell => "cannot tell",
        }
    }

    /// Returns `true` if the difference is significant.
    #[must_use]
    pub const fn is_significant(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }
}

/// Data that the uncertainty of a ratio is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Scatter of the repetitions of both sides.
    Repetitions,
    /// Scatter of the ratios between paired repetitions.
    Pairs,
    /// Scatter of the repetitions of one side; the other was measured once.
    OneSide,
    /// Scatter of the intervals within one run each. It does not include differences between runs.
    WithinRun,
    /// Nothing; only the ratio is known.
    Nothing,
}

/// One metric on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureComparison {
    /// Operations that the metric covers.
    pub scope: Scope,
    /// The metric.
    pub figure: Figure,
    /// Unit of the values.
    pub unit: String,
    /// `true` if larger values are better.
    pub higher_is_better: bool,
    /// Mean of the first side, with its confidence interval.
    pub a: Estimate,
    /// Mean of the second side, with its confidence interval.
    pub b: Estimate,
    /// The second side divided by the first; by geometric means if pairs are compared.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % confidence interval, not corrected for multiple tests.
    pub ci95_low: Option<f64>,
    /// Upper end of the ratio's 95 % confidence interval, not corrected for multiple tests.
    pub ci95_high: Option<f64>,
    /// The difference relative to the first side: the ratio minus 1.
    pub effect: f64,
    /// Data that the confidence interval is based on.
    pub basis: Basis,
    /// Probability of a difference this large by chance, for this metric alone.
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction for all metrics of all cells of the comparison.
    pub p_corrected: Option<f64>,
    /// Smallest true difference, relative to the first side, that 80 of 100 such comparisons would
    /// detect; null if they would miss even a tenfold one.
    pub smallest_difference: Option<f64>,
    /// Number of repetitions of each side with which 80 of 100 such comparisons would detect a
    /// difference as large as this one; null if it was detected, if both sides were not repeated
    /// equally often, for rounded metrics such as percentiles, or if more than 1000 would be
    /// needed.
    pub repetitions_needed: Option<u64>,
    /// Another metric that is exactly proportional to this one; both count as one test.
    pub same_as: Option<Figure>,
    /// Verdict.
    pub verdict: Verdict,
    /// Ends of the 95 % confidence interval that the intervals within the first side's only run
    /// give its value; `None` if it was repeated, or if they cannot show it.
    #[serde(skip)]
    pub within_a: Option<[f64; 2]>,
    /// The same for the second side.
    #[serde(skip)]
    pub within_b: Option<[f64; 2]>,
    #[serde(skip)]
    pub(crate) certainty: Option<stats::RatioConfidence>,
}

impl FigureComparison {
    /// Returns how much worse the second side is, relative to the first; 0 or less if it is not
    /// worse.
    #[must_use]
    pub fn loss(&self) -> f64 {
        if self.higher_is_better {
            -self.effect
        } else {
            self.effect
        }
    }

    /// Returns `true` if the scatter shows what more repetitions would detect: both sides were
    /// repeated equally often. The scatter within a run or of one side says nothing about
    /// repetitions of both, and unequal numbers leave open which side would need more.
    #[must_use]
    pub fn has_equal_repetitions(&self) -> bool {
        matches!(self.basis, Basis::Repetitions | Basis::Pairs) && self.a.n == self.b.n
    }
}

/// Two groups of cells with the same work.
pub(crate) struct Pair<'a> {
    pub a: &'a [Measurement<'a>],
    pub b: &'a [Measurement<'a>],
    /// `true` if the i-th cells of both sides were measured one after the other.
    pub paired: bool,
}

impl Pair<'_> {
    /// Returns all metrics, without verdicts.
    pub(crate) fn figures(&self) -> Vec<FigureComparison> {
        let cells = [self.a, self.b].concat();
        let mut figures = Vec::new();
        for scope in measurement::scopes(&cells) {
            let first = figures.len();
            for kind in Figure::ALL {
                figures.extend(self.figure(&scope, kind));
            }
            // Per scope: one operation may have a single size although the total mixes several.
            self.mark_proportional(&mut figures[first..]);
        }
        figures
    }

    fn figure(&self, scope: &Scope, figure: Figure) -> Option<FigureComparison> {
        let samples = |cells: &[Measurement]| -> Option<Vec<f64>> {
            let value = |cell: &Measurement| cell.value(scope, figure);
            cells.iter().map(value).collect()
        };
        let (a, b) = (samples(self.a)?, samples(self.b)?);
        let (ratio, basis) = self.ratio(&a, &b, scope, figure)?;
        let certainty = ratio.certainty;
        Some(FigureComparison {
            scope: scope.clone(),
            figure,
            unit: figure.unit().to_owned(),
            higher_is_better: figure.higher_is_better(),
            a: Estimate::from_samples(&a)?,
            b: Estimate::from_samples(&b)?,
            ratio: ratio.value,
            ci95_low: certainty.map(|certainty| certainty.ci95_low),
            ci95_high: certainty.map(|certainty| certainty.ci95_high),
            effect: ratio.value - 1.0,
            basis: if certainty.is_some() {
                basis
            } else {
                Basis::Nothing
            },
            p_value: certainty.map(|certainty| certainty.p_value),
            p_corrected: None,
            smallest_difference: None,
            repetitions_needed: None,
            same_as: None,
            verdict: Verdict::CannotTell,
            within_a: interval_within_run(self.a, scope, figure),
            within_b: interval_within_run(self.b, scope, figure),
            certainty,
        })
    }

    /// Returns the ratio, with the best estimate of uncertainty that the samples allow.
    fn ratio(&self, a: &[f64], b: &[f64], scope: &Scope, figure: Figure) -> Option<(Ratio, Basis)> {
        // Rounding to a step has a standard error of step/√12. A ratio of two rounded values has √2
        // times as much.
        let rounding = figure.step() / 6.0_f64.sqrt();
        let several = (a.len() > 1, b.len() > 1);
        if self.paired
            && several.0
            // `None` for unequal numbers of repetitions. The sides are then compared without pairs.
            && let Some(ratio) = Ratio::paired(a, b)
        {
            return Some((ratio.widened(rounding), Basis::Pairs));
        }
        if several == (false, false) {
            let ratio = self.within_run(a[0], b[0], scope, figure)?;
            return Some((ratio.widened(rounding), Basis::WithinRun));
        }
        let ratio = Ratio::of_estimates(&Estimate::from_samples(a)?, &Estimate::from_samples(b)?)?;
        let basis = match several {
            (true, true) => Basis::Repetitions,
            _ => Basis::OneSide,
        };
        Some((ratio.widened(rounding), basis))
    }

    /// Returns the ratio of single measurements. Their uncertainty is that of the intervals within
    /// each run.
    fn within_run(&self, a: f64, b: f64, scope: &Scope, figure: Figure) -> Option<Ratio> {
        let uncertain = |cell, value| uncertain_within_run(cell, value, scope, figure);
        match (uncertain(self.a[0], a), uncertain(self.b[0], b)) {
            (Some(a), Some(b)) => Ratio::of(&a, &b),
            _ => Ratio::bare(a, b),
        }
    }

    /// Marks the bandwidth of operations of a single size, because it is proportional to the rate.
    fn mark_proportional(&self, figures: &mut [FigureComparison]) {
        let rates: Vec<&FigureComparison> = figures.iter().collect();
        let [rate, bandwidth, ..] = rates.as_slice() else {
            return;
        };
        let kinds = (rate.figure, bandwidth.figure);
        if kinds != (Figure::PerSecond, Figure::BytesPerSecond) {
            return;
        }
        let size_bytes = |cell: &Measurement| {
            let of = |figure| cell.value(&rate.scope, figure);
            Some(of(Figure::BytesPerSecond)? / of(Figure::PerSecond)?)
        };
        let sizes: Vec<Option<f64>> = self.a.iter().chain(self.b).map(size_bytes).collect();
        let is_one_size = sizes.iter().all(|size| match (size, sizes[0]) {
            // Both rates are divided by the same time, so equal sizes differ only by floating-point
            // errors.
            (Some(size), Some(first)) => (size / first - 1.0).abs() < 1e-9,
            _ => false,
        });
        if is_one_size {
            figures[1].same_as = Some(Figure::PerSecond);
        }
    }
}

/// Returns a value of a run, with the uncertainty that the intervals within the run show.
fn uncertain_within_run(
    cell: Measurement,
    value: f64,
    scope: &Scope,
    figure: Figure,
) -> Option<UncertainMean> {
    let mean = series::uncertain_mean(cell.cell()?, scope, figure)?;
    Some(UncertainMean {
        mean: value,
        // The value covers the whole run, so the error of the intervals' mean is scaled to it.
        standard_error: mean.relative()? * value,
        ..mean
    })
}

/// Returns the 95 % confidence interval within the only run; `None` for several runs.
fn interval_within_run(cells: &[Measurement], scope: &Scope, figure: Figure) -> Option<[f64; 2]> {
    let [cell] = cells else { return None };
    let value = cell.value(scope, figure)?;
    let half = uncertain_within_run(*cell, value, scope, figure)?.half_width()?;
    Some([(value - half).max(0.0), value + half])
}

/// Sets the verdicts of all metrics of a comparison. Returns the number of tests.
pub(crate) fn judge(figures: &mut [&mut FigureComparison]) -> usize {
    // A metric proportional to another one is the same test, so it counts only once.
    let tested: Vec<usize> = (0..figures.len())
        .filter(|&index| figures[index].p_value.is_some() && figures[index].same_as.is_none())
        .collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&i| figures[i].p_value).collect();
    let corrected = stats::holm(&p_values);
    // Holm's strictest level: a p-value below it is significant whatever the other p-values are.
    let level = SIGNIFICANCE_LEVEL / tested.len().max(1) as f64;
    for (&index, p) in tested.iter().zip(&corrected) {
        figures[index].conclude(*p, level);
    }
    // A proportional metric directly follows the metric that it repeats.
    for index in 1..figures.len() {
        let (before, behind) = figures.split_at_mut(index);
        let (twin, figure) = (&before[index - 1], &mut behind[0]);
        if figure.same_as.is_some()
            && let Some(p) = twin.p_corrected
        {
            figure.conclude(p, level);
        }
    }
    tested.len()
}

impl FigureComparison {
    fn conclude(&mut self, p_corrected: f64, level: f64) {
        self.p_corrected = Some(p_corrected);
        self.smallest_difference = self
            .certainty
            .and_then(|certainty| certainty.smallest_difference(level))
            .filter(|difference| *difference <= DIFFERENCE_MAX);
        self.verdict = if p_corrected >= SIGNIFICANCE_LEVEL {
            match self.basis {
                // The scatter within a run does not include differences between runs.
                Basis::WithinRun => Verdict::CannotTell,
                _ => Verdict::NoDifferenceShown,
            }
        } else if (self.effect > 0.0) == self.higher_is_better {
            Verdict::Better
        } else {
            Verdict::Worse
        };
        // More repetitions do not remove rounding.
        let is_predictable = self.has_equal_repetitions() && self.figure.step() == 0.0;
        self.repetitions_needed = self
            .certainty
            .filter(|_| is_predictable && self.verdict == Verdict::NoDifferenceShown)
            .and_then(|certainty| certainty.repetitions_for(self.effect, self.a.n, level));
    }
}
