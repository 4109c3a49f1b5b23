//! Share of simulated runs whose confidence interval contains the true mean.

use stats::UncertainMean;

/// Number of simulated runs.
const RUNS: u32 = 2000;
/// Intervals per run, as in a run of the shortest usual length.
const INTERVALS: usize = 40;
/// Allowed range of the share of confidence intervals that contain the true mean.
// 2 % are four standard errors of a share of 95 % in 2,000 runs.
pub(crate) const COVERAGE_RANGE: (f64, f64) = (0.93, 0.97);
/// Correlation between an interval and the next one.
const CORRELATION: f64 = 0.5;
const MEAN: f64 = 1000.0;
const STDDEV: f64 = 30.0;

/// Share of the runs whose confidence interval contains the true mean.
pub(crate) fn coverage() -> f64 {
    // A fixed seed, so that chance cannot make this check fail on one machine and pass on another.
    let mut draws = IntervalRng(20);
    let holding = (0..RUNS).filter(|_| {
        let mean = UncertainMean::of_series(&draws.series());
        let half = mean.and_then(|it| Some((it.mean, it.half_width()?)));
        half.is_some_and(|(mean, half)| (mean - MEAN).abs() <= half)
    });
    holding.count() as f64 / f64::from(RUNS)
}

/// The splitmix64 generator.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
struct IntervalRng(u64);

impl IntervalRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number above 0 and below 1.
    fn unit(&mut self) -> f64 {
        // An `f64` holds 53 bits exactly. The half excludes 0, whose logarithm is infinite.
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A standard normal number (Box-Muller transform).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A stationary autoregressive series of order 1.
    fn series(&mut self) -> Vec<f64> {
        // With this factor, every value has the same variance as the one before.
        let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
        let mut state = self.normal();
        let mut next = || {
            let value = MEAN + STDDEV * state;
            state = CORRELATION * state + fresh * self.normal();
            value
        };
        (0..INTERVALS).map(|_| next()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_claimed_coverage() {
        let coverage = coverage();
        assert!(
            (COVERAGE_RANGE.0..=COVERAGE_RANGE.1).contains(&coverage),
            "{coverage}"
        );
    }

    #[test]
    fn simulated_intervals_have_the_intended_correlation() {
        let mut draws = IntervalRng(1);
        let series: Vec<f64> = (0..500).flat_map(|_| draws.series()).collect();
        let count = series.len() as f64;
        let mean = series.iter().sum::<f64>() / count;
        let variance = series.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / count;
        assert!((mean - MEAN).abs() < 1.0 && (variance.sqrt() / STDDEV - 1.0).abs() < 0.03);
        let pairs = series.windows(2).enumerate();
        // Leave out pairs across two series.
        let pairs = pairs.filter(|(index, _)| (index + 1) % INTERVALS != 0);
        let products: Vec<f64> = pairs
            .map(|(_, pair)| (pair[0] - mean) * (pair[1] - mean))
            .collect();
        let lag = products.iter().sum::<f64>() / products.len() as f64 / variance;
        assert!((lag - CORRELATION).abs() < 0.03, "{lag}");
    }
}
