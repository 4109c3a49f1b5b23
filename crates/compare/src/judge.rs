//! The verdict on each figure.

use results::CellRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Estimate, Ratio, UncertainMean};

use crate::figure::{self, Figure, Scope};
use crate::series;

/// The chance of a false alarm in a whole comparison.
const LEVEL: f64 = 0.05;
/// A difference this large is no use as a bound.
const DIFFERENCE_MAX: f64 = 9.0;

/// What the second run is beside the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better by more than chance.
    Better,
    /// Worse by more than chance.
    Worse,
    /// No difference that chance would not explain; one smaller than
    /// [`FigureComparison::smallest_difference`] may exist.
    NoDifferenceShown,
    /// Too little was measured to tell a difference from chance, such as one repetition each.
    CannotTell,
}

impl Verdict {
    /// The verdict in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifferenceShown => "no difference shown",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// What tells how sure a ratio is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The scatter of repetitions on both sides.
    Repetitions,
    /// The scatter of the ratios of pairs of repetitions.
    Pairs,
    /// The scatter of one side's repetitions; the other was measured once.
    OneSide,
    /// The scatter of intervals within one run each. What differs from run to run is not in it.
    WithinRun,
    /// Nothing; there is a ratio and no more.
    Nothing,
}

/// One figure on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureComparison {
    /// What the figure belongs to.
    pub scope: Scope,
    /// The figure.
    pub figure: Figure,
    /// Its unit.
    pub unit: String,
    /// Whether a larger value is the better one.
    pub higher_is_better: bool,
    /// The first side's mean with its own interval.
    pub a: Estimate,
    /// The second side's mean with its own interval.
    pub b: Estimate,
    /// The second over the first, by geometric means where pairs are compared.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % confidence interval, not corrected for other tests.
    pub ci95_low: Option<f64>,
    /// Upper end of the ratio's 95 % confidence interval, not corrected for other tests.
    pub ci95_high: Option<f64>,
    /// The difference as a share of the first: the ratio less 1.
    pub effect: f64,
    /// What the interval rests on.
    pub basis: Basis,
    /// How probable so large a difference would be by chance, this figure taken alone.
    pub p_value: Option<f64>,
    /// The same, corrected by Holm for all figures of all cells of the comparison.
    pub p_corrected: Option<f64>,
    /// The smallest true difference, as a share, that would have been called one in 80 of 100
    /// such comparisons; none where even a tenfold one would have been missed more often.
    pub smallest_difference: Option<f64>,
    /// Another figure that is exactly proportional to this one; both count as one test.
    pub same_as: Option<Figure>,
    /// Better, worse, no difference shown, or cannot tell.
    pub verdict: Verdict,
    #[serde(skip)]
    pub(crate) certainty: Option<stats::Certainty>,
}

impl FigureComparison {
    /// By how much the second side is worse, as a share of the first; 0 or less where it is not.
    #[must_use]
    pub fn loss(&self) -> f64 {
        if self.higher_is_better {
            -self.effect
        } else {
            self.effect
        }
    }
}

/// Two groups of cells of which the same was asked.
pub(crate) struct Pair<'a> {
    pub a: &'a [&'a CellRecord],
    pub b: &'a [&'a CellRecord],
    /// Whether the i-th cells of both sides were measured one after the other.
    pub paired: bool,
}

impl Pair<'_> {
    /// All figures, not yet judged.
    pub(crate) fn figures(&self) -> Vec<FigureComparison> {
        let cells = [self.a, self.b].concat();
        let mut figures = Vec::new();
        for scope in figure::scopes(&cells) {
            let first = figures.len();
            for kind in Figure::ALL {
                figures.extend(self.figure(&scope, kind));
            }
            self.mark_proportional(&mut figures[first..]);
        }
        figures
    }

    fn figure(&self, scope: &Scope, figure: Figure) -> Option<FigureComparison> {
        let samples = |cells: &[&CellRecord]| -> Option<Vec<f64>> {
            let value = |cell: &&CellRecord| figure::value(cell, scope, figure);
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
            same_as: None,
            verdict: Verdict::CannotTell,
            certainty,
        })
    }

    /// The ratio with the best certainty that the samples give.
    fn ratio(&self, a: &[f64], b: &[f64], scope: &Scope, figure: Figure) -> Option<(Ratio, Basis)> {
        let rounding = figure.step() / 6.0_f64.sqrt();
        let several = (a.len() > 1, b.len() > 1);
        if self.paired
            && several.0
            && let Some(ratio) = Ratio::paired(a, b)
        {
            return Some((ratio.widened(rounding), Basis::Pairs));
        }
        if several == (false, false) {
            return Some((
                self.within_run(a[0], b[0], scope, figure)?,
                Basis::WithinRun,
            ));
        }
        let ratio = Ratio::of_estimates(&Estimate::from_samples(a)?, &Estimate::from_samples(b)?)?;
        let basis = match several {
            (true, true) => Basis::Repetitions,
            _ => Basis::OneSide,
        };
        Some((ratio.widened(rounding), basis))
    }

    /// The ratio of single measurements, each as uncertain as the intervals of its run make it.
    fn within_run(&self, a: f64, b: f64, scope: &Scope, figure: Figure) -> Option<Ratio> {
        let uncertain = |cell: &CellRecord, value: f64| {
            let mean = series::uncertain_mean(cell, scope, figure)?;
            Some(UncertainMean {
                mean: value,
                standard_error: mean.relative()? * value,
                ..mean
            })
        };
        match (uncertain(self.a[0], a), uncertain(self.b[0], b)) {
            (Some(a), Some(b)) => Ratio::of(&a, &b),
            _ => Ratio::bare(a, b),
        }
    }

    /// Marks the bandwidth of operations that all have one size: it says what the rate says.
    fn mark_proportional(&self, figures: &mut [FigureComparison]) {
        let rates: Vec<&FigureComparison> = figures.iter().collect();
        let [rate, bandwidth, ..] = rates.as_slice() else {
            return;
        };
        let kinds = (rate.figure, bandwidth.figure);
        if kinds != (Figure::PerSecond, Figure::BytesPerSecond) {
            return;
        }
        let size_bytes = |cell: &CellRecord| {
            let of = |figure| figure::value(cell, &rate.scope, figure);
            Some(of(Figure::BytesPerSecond)? / of(Figure::PerSecond)?)
        };
        let sizes: Vec<Option<f64>> = self.a.iter().chain(self.b).map(|c| size_bytes(c)).collect();
        let is_one_size = sizes.iter().all(|size| match (size, sizes[0]) {
            (Some(size), Some(first)) => (size / first - 1.0).abs() < 1e-9,
            _ => false,
        });
        if is_one_size {
            figures[1].same_as = Some(Figure::PerSecond);
        }
    }
}

/// Judges all figures of a comparison together; returns how many tests that took.
pub(crate) fn judge(figures: &mut [&mut FigureComparison]) -> usize {
    let tested: Vec<usize> = (0..figures.len())
        .filter(|&index| figures[index].p_value.is_some() && figures[index].same_as.is_none())
        .collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&i| figures[i].p_value).collect();
    let corrected = stats::holm(&p_values);
    let level = LEVEL / tested.len().max(1) as f64;
    for (&index, p) in tested.iter().zip(&corrected) {
        figures[index].conclude(*p, level);
    }
    // A figure that is the same as another stands behind it.
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
        self.verdict = if p_corrected >= LEVEL {
            match self.basis {
                // What differs from run to run is in neither.
                Basis::WithinRun => Verdict::CannotTell,
                _ => Verdict::NoDifferenceShown,
            }
        } else if (self.effect > 0.0) == self.higher_is_better {
            Verdict::Better
        } else {
            Verdict::Worse
        };
    }
}
