//! Warm-up that the ramp time did not cover.

use serde::{Deserialize, Serialize};

use crate::draw::SplitMixRng;
use crate::{autocorrelation, describe};

/// Minimum number of intervals for a test.
const INTERVALS_MIN: usize = 20;
/// Level of significance of a change of the mean.
const SIGNIFICANCE_LEVEL: f64 = 0.01;
/// Number of random series that show how large a change chance produces.
// With the run, these are 1000 series, so p-values have steps of a tenth of the level.
const DRAWN_COUNT: u32 = 999;
/// Bias of the correlation of neighbors after subtracting the two means that fit best, in units of
/// (1 + 2 r) / n (from simulation).
const BIAS: f64 = 6.0;
/// The rest of a run counts as settled from the first point at which its mean is nearly as certain
/// as it can be: the squared standard error is at most this multiple of the smallest.
const SETTLED_ERROR_RATIO: f64 = 1.2;
/// A value counts as a stall if its distance from the local median exceeds this multiple of the
/// median distance. This is beyond 5 standard deviations of white noise, which noise without stalls
/// hardly ever reaches.
const STALL_FACTOR: f64 = 8.0;
/// Upper limit of the estimated correlation of neighbors.
const CORRELATION_MAX: f64 = 0.95;
/// Fixed, because the draws affect the result.
const SEED: u64 = 0x5eed_3a21;

/// The warm-up at the start of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// 0-based index of the first interval that is no longer warm-up.
    pub end_index: usize,
    /// Mean over all intervals.
    pub mean: f64,
    /// Mean over the intervals from `end_index` on.
    pub settled_mean: f64,
    /// Probability of a change this large without warm-up.
    pub p_value: f64,
}

impl WarmUp {
    /// Finds the warm-up of a run. `None` if there is no detectable warm-up, for fewer than 20
    /// intervals, or if one is not finite.
    ///
    /// Detection uses the largest likelihood ratio for a change of the mean at any point of the
    /// first half, compared with the same statistic of 999 series without a change. Those series
    /// are an autoregression of the run's own innovations in random order, with the
    /// (bias-corrected) correlation of its neighbors. Correlated noise is therefore not mistaken
    /// for a change. The warm-up ends at the first start from which the mean of the rest is nearly
    /// as certain as it can be (MSER). The standard error may exceed the smallest by a tenth,
    /// because the smallest can lie anywhere in the settled part. After the change, the median of
    /// five replaces values that are far from it (Hampel's filter); otherwise one stall in the
    /// settled part would move the end past itself. A run that has not settled in its first half
    /// has no warm-up but a [drift](crate::Drift).
    ///
    /// Source: White, "An effective truncation heuristic for bias reduction in simulation output",
    /// Simulation 69, 1997 (MSER); Hawkins, "Testing a sequence of observations for a shift in
    /// location", JASA 72, 1977 (likelihood ratio); Bühlmann, "Sieve bootstrap for time series",
    /// Bernoulli 3, 1997; Kendall, "Note on bias in the estimation of autocorrelation", 1954.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < INTERVALS_MIN || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let step = largest_step(&autocorrelation::deviations(values))?;
        let p_value = Some(p_value(values, &step)).filter(|p| *p <= SIGNIFICANCE_LEVEL)?;
        let end_index = certain_start(&without_stalls(values, step.index));
        // 0 would be no warm-up, and the middle would mean that the run had not settled.
        let has_settled = (1..values.len() / 2).contains(&end_index);
        Some(Self {
            end_index,
            mean: describe::mean(values)?,
            settled_mean: describe::mean(&values[end_index..])?,
            p_value,
        })
        .filter(|_| has_settled)
    }

    /// Change of the mean when the warm-up is left out, as a share of the overall mean; `None` for
    /// a mean of 0.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| (self.settled_mean - self.mean) / self.mean.abs())
    }
}

/// A change of the mean: squared size relative to the remaining scatter, and the first index after
/// the change.
struct MeanStep {
    size: f64,
    index: usize,
}

/// The largest change of the mean in the first half of a series with mean 0; `None` for a constant
/// series.
fn largest_step(deviations: &[f64]) -> Option<MeanStep> {
    let n = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|value| value * value).sum();
    let (mut before, mut explained, mut index) = (0.0, 0.0, 1);
    for (split, value) in (1..=deviations.len() / 2).zip(deviations) {
        before += value;
        let left = split as f64;
        // The sum of squares that two means explain, because all deviations add up to 0.
        let gain = before * before * n / (left * (n - left));
        if gain > explained {
            (explained, index) = (gain, split);
        }
    }
    let rest = squares - explained;
    // Rounding leaves a remainder even if the step explains everything.
    let size = if rest > squares * 1e-12 {
        explained / rest
    } else {
        f64::INFINITY
    };
    (squares > 0.0).then_some(MeanStep { size, index })
}

/// Probability that the largest change in a series without real changes is at least this large.
fn p_value(values: &[f64], step: &MeanStep) -> f64 {
    // Around both means: around a single one, a step would look like correlation of neighbors.
    let (start, rest) = values.split_at(step.index);
    let residuals = [
        autocorrelation::deviations(start),
        autocorrelation::deviations(rest),
    ]
    .concat();
    let correlation = correlation(&residuals);
    let mut innovations = innovations(&residuals, correlation);
    let mut draws = SplitMixRng::new(SEED);
    let as_large = (0..DRAWN_COUNT)
        .filter(|_| {
            draws.shuffle(&mut innovations);
            let drawn = autoregression(&innovations, correlation);
            largest_step(&autocorrelation::deviations(&drawn))
                .is_some_and(|drawn| drawn.size >= step.size)
        })
        .count();
    // The run itself counts as one of the series.
    (as_large as f64 + 1.0) / (f64::from(DRAWN_COUNT) + 1.0)
}

/// Correlation of neighbors, corrected for the bias of subtracting two means.
fn correlation(residuals: &[f64]) -> f64 {
    let observed = autocorrelation::lag_one(residuals);
    let missing = BIAS * (1.0 + 2.0 * observed) / residuals.len() as f64;
    (observed + missing).clamp(0.0, CORRELATION_MAX)
}

/// Innovations of an autoregressive series of order 1.
fn innovations(series: &[f64], correlation: f64) -> Vec<f64> {
    // The first value has no predecessor; scaled, it has the same scatter as the others.
    let first = series.first().map(|value| value * fresh(correlation));
    let others = series
        .windows(2)
        .map(|pair| pair[1] - correlation * pair[0]);
    first.into_iter().chain(others).collect()
}

/// The autoregressive series of order 1 with these innovations.
fn autoregression(innovations: &[f64], correlation: f64) -> Vec<f64> {
    let mut previous = None;
    let mut next = |innovation: &f64| {
        let value = match previous {
            // The series must not begin with less scatter than it has later.
            None => innovation / fresh(correlation),
            Some(previous) => correlation * previous + innovation,
        };
        previous = Some(value);
        value
    };
    innovations.iter().map(&mut next).collect()
}

/// Standard deviation of the innovations relative to that of the series.
fn fresh(correlation: f64) -> f64 {
    (1.0 - correlation * correlation).sqrt()
}

/// A copy of the values in which stalls from index `from` on are replaced: values far from the
/// median of the five values around them get that median.
fn without_stalls(values: &[f64], from: usize) -> Vec<f64> {
    let (start, rest) = values.split_at(from);
    let around = |index: usize| {
        let window = &values[index.saturating_sub(2)..values.len().min(index + 3)];
        describe::median(window).unwrap_or(values[index])
    };
    let medians: Vec<f64> = (from..values.len()).map(around).collect();
    let apart: Vec<f64> = rest
        .iter()
        .zip(&medians)
        .map(|(a, b)| (a - b).abs())
        .collect();
    let limit = describe::median(&apart).map_or(f64::INFINITY, |apart| apart * STALL_FACTOR);
    let smooth = rest.iter().zip(medians).map(|(value, median)| {
        if (value - median).abs() > limit {
            median
        } else {
            *value
        }
    });
    start.iter().copied().chain(smooth).collect()
}

/// The first start, within the first half, from which the mean is nearly as certain as from the
/// best start. Uncertainty is the sum of squared deviations divided by the squared count.
fn certain_start(values: &[f64]) -> usize {
    let deviations = autocorrelation::deviations(values);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut uncertainties = Vec::with_capacity(values.len());
    // From the end, so that one pass gives the sums of every rest.
    for (count, value) in (1..).zip(deviations.iter().rev()) {
        sum += value;
        squares += value * value;
        let count = f64::from(count);
        // Rounding may make the squares of equal values negative.
        let scatter = (squares - sum * sum / count).max(squares * 1e-12);
        uncertainties.push(scatter / (count * count));
    }
    uncertainties.reverse();
    let first_half = &uncertainties[..=values.len() / 2];
    let smallest = first_half.iter().copied().fold(f64::INFINITY, f64::min);
    let enough = |uncertainty: &f64| *uncertainty <= smallest * SETTLED_ERROR_RATIO;
    first_half.iter().position(enough).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Simulated;

    fn alarms(count: usize, phi: f64) -> f64 {
        Simulated::new(59).share(600, |simulated| {
            WarmUp::of(&simulated.ar1(count, phi, 1000.0, 30.0)).is_some()
        })
    }

    /// A rate that begins `depth` too low and approaches its level as e^(-t/tau).
    fn climbing(noise: Vec<f64>, depth: f64, tau: f64) -> Vec<f64> {
        (0..)
            .zip(noise)
            .map(|(index, value)| value * (1.0 - depth * (-f64::from(index) / tau).exp()))
            .collect()
    }

    #[test]
    fn white_noise_has_no_warm_up() {
        for count in [20, 30, 60, 300] {
            let share = alarms(count, 0.0);
            assert!(share <= 0.05, "{count}: {share}");
        }
    }

    #[test]
    fn correlated_noise_has_no_warm_up() {
        for (count, phi) in [
            (20, 0.3),
            (20, 0.5),
            (20, 0.7),
            (30, 0.5),
            (30, 0.7),
            (40, 0.3),
            (40, 0.5),
            (40, 0.7),
            (60, 0.5),
            (300, 0.5),
        ] {
            let share = alarms(count, phi);
            assert!(share <= 0.05, "{count} {phi}: {share}");
        }
    }

    #[test]
    fn noise_with_stalls_has_no_warm_up() {
        for (count, phi) in [(20, 0.0), (30, 0.5), (40, 0.7), (60, 0.0)] {
            let share = Simulated::new(61).share(600, |simulated| {
                let series = simulated.ar1(count, phi, 1000.0, 30.0);
                WarmUp::of(&simulated.add_stalls(series, 0.05, 0.5)).is_some()
            });
            assert!(share <= 0.05, "{count} {phi}: {share}");
        }
    }

    #[test]
    fn a_slow_first_third_is_found_with_its_length() {
        for (count, phi) in [(20, 0.3), (30, 0.5), (40, 0.0), (40, 0.5)] {
            let slow = count * 3 / 10;
            let share = Simulated::new(89).share(300, |simulated| {
                let mut values = simulated.ar1(count, phi, 1000.0, 30.0);
                values[..slow].iter_mut().for_each(|value| *value /= 3.0);
                WarmUp::of(&values).is_some_and(|it| (slow..=slow + 3).contains(&it.end_index))
            });
            assert!(share >= 0.93, "{count} {phi}: {share}");
        }
    }

    #[test]
    fn stalls_after_a_warm_up_do_not_lengthen_it() {
        let mut values = Simulated::new(97).white(40, 100.0, 1.0);
        values[..12].iter_mut().for_each(|value| *value /= 3.0);
        for stall in [15, 19, 27] {
            values[stall] *= 0.8;
        }
        let end_index = WarmUp::of(&values).unwrap().end_index;
        assert!((12..=15).contains(&end_index), "{end_index}");
    }

    #[test]
    fn a_warm_up_is_found_and_left_out() {
        let mut simulated = Simulated::new(67);
        let mut ends = Vec::new();
        let share = simulated.share(300, |simulated| {
            let noise = simulated.white(60, 1000.0, 30.0);
            let warm_up = WarmUp::of(&climbing(noise, 0.3, 3.0));
            ends.extend(warm_up.map(|warm_up| warm_up.end_index as f64));
            warm_up.is_some_and(|it| (it.settled_mean - 1000.0).abs() < 20.0)
        });
        assert!(share > 0.98, "{share}");
        let middle = describe::median(&ends).unwrap();
        assert!((3.0..=9.0).contains(&middle), "{middle}");
    }

    #[test]
    fn a_fresh_device_that_slows_down_has_a_warm_up_too() {
        let noise = Simulated::new(71).ar1(60, 0.3, 1000.0, 20.0);
        let warm_up = WarmUp::of(&climbing(noise, -0.5, 4.0)).unwrap();
        assert!(warm_up.settled_mean < warm_up.mean && warm_up.p_value <= 0.01);
        assert!((-0.06..-0.02).contains(&warm_up.change().unwrap()));
    }

    #[test]
    fn a_step_is_found_at_its_end_or_slightly_later() {
        let mut values = Simulated::new(73).white(40, 1000.0, 10.0);
        values[..7].iter_mut().for_each(|value| *value -= 200.0);
        let end_index = WarmUp::of(&values).unwrap().end_index;
        assert!((7..=10).contains(&end_index), "{end_index}");
    }

    #[test]
    fn a_run_that_never_settles_has_no_warm_up() {
        let values: Vec<f64> = (0..60)
            .map(|index| 1000.0 - 5.0 * f64::from(index))
            .collect();
        assert_eq!(WarmUp::of(&values), None);
        assert!(crate::Drift::of(&values).unwrap().is_beyond(0.1));
    }

    #[test]
    fn a_change_in_the_second_half_is_not_a_warm_up() {
        let mut values = Simulated::new(79).white(60, 1000.0, 10.0);
        values[45..].iter_mut().for_each(|value| *value -= 300.0);
        assert_eq!(WarmUp::of(&values), None);
    }

    #[test]
    fn short_constant_and_undefined_runs_have_no_warm_up() {
        assert_eq!(WarmUp::of(&[1.0, 2.0, 3.0]), None);
        assert_eq!(WarmUp::of(&[5.0; 60]), None);
        assert_eq!(WarmUp::of(&[f64::NAN; 60]), None);
        assert_eq!(WarmUp::of(&[0.0; 60]), None);
    }

    #[test]
    fn a_perfect_step_is_found() {
        let values: Vec<f64> = (0..40).map(|index| f64::from(index >= 5)).collect();
        let warm_up = WarmUp::of(&values).unwrap();
        assert_eq!((warm_up.end_index, warm_up.settled_mean), (5, 1.0));
    }

    #[test]
    fn a_rate_that_becomes_exactly_constant_has_settled() {
        for rate in [97.3, 1000.1, 123_456.7] {
            let mut values = [rate; 40];
            values[..12].fill(rate / 3.0);
            let end_index = WarmUp::of(&values).map(|it| it.end_index);
            assert_eq!(end_index, Some(12), "{rate}");
        }
    }

    #[test]
    fn the_same_run_always_has_the_same_answer() {
        let values = climbing(Simulated::new(83).white(60, 1000.0, 30.0), 0.2, 3.0);
        assert_eq!(WarmUp::of(&values), WarmUp::of(&values));
    }
}
