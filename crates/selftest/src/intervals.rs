//! How often intervals within a run hold the true mean, of simulated runs.

use stats::UncertainMean;

/// Simulated runs, and intervals of each: those of a run of the shortest usual length.
const RUNS: u32 = 2000;
const INTERVALS: usize = 40;
/// The share of intervals that hold the truth, as it is claimed.
pub(crate) const CLAIM: (f64, f64) = (0.93, 0.97);
/// How much of an interval's deviation the next one has.
const CORRELATION: f64 = 0.5;
const MEAN: f64 = 1000.0;
const STDDEV: f64 = 30.0;

/// The share of the runs whose interval holds the true mean.
pub(crate) fn coverage() -> f64 {
    let mut draws = Draws(20);
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
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0 and below 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A stationary autoregressive series of order 1.
    fn series(&mut self) -> Vec<f64> {
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
    fn intervals_hold_what_they_claim() {
        let coverage = coverage();
        assert!((CLAIM.0..=CLAIM.1).contains(&coverage), "{coverage}");
    }

    #[test]
    fn simulated_intervals_are_correlated_as_they_are_to_be() {
        let mut draws = Draws(1);
        let series: Vec<f64> = (0..500).flat_map(|_| draws.series()).collect();
        let count = series.len() as f64;
        let mean = series.iter().sum::<f64>() / count;
        let variance = series.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / count;
        assert!((mean - MEAN).abs() < 1.0 && (variance.sqrt() / STDDEV - 1.0).abs() < 0.03);
        let pairs = series.windows(2).enumerate();
        // The first of one series does not follow the last of another.
        let pairs = pairs.filter(|(index, _)| (index + 1) % INTERVALS != 0);
        let products: Vec<f64> = pairs
            .map(|(_, pair)| (pair[0] - mean) * (pair[1] - mean))
            .collect();
        let lag = products.iter().sum::<f64>() / products.len() as f64 / variance;
        assert!((lag - CORRELATION).abs() < 0.03, "{lag}");
    }
}
