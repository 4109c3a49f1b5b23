//! Share of simulated runs whose confidence interval contains the true mean.

use stats::{Simulated, UncertainMean};

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
    let mut draws = Simulated::new(20);
    let holding = (0..RUNS).filter(|_| {
        let mean = UncertainMean::of_series(&series(&mut draws));
        let half = mean.and_then(|it| Some((it.mean, it.half_width()?)));
        half.is_some_and(|(mean, half)| (mean - MEAN).abs() <= half)
    });
    holding.count() as f64 / f64::from(RUNS)
}

/// The intervals of a simulated run.
fn series(draws: &mut Simulated) -> Vec<f64> {
    draws.ar1(INTERVALS, CORRELATION, MEAN, STDDEV)
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
        let mut draws = Simulated::new(1);
        let series: Vec<f64> = (0..500).flat_map(|_| series(&mut draws)).collect();
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
