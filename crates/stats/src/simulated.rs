//! Seeded series with known properties, used to check the estimators.

use crate::draw::SplitMixRng;

/// Draws from distributions and processes.
#[derive(Debug)]
pub struct Simulated(SplitMixRng);

impl Simulated {
    /// A generator; the same seed gives the same draws.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(SplitMixRng::new(seed))
    }

    /// A uniform number above 0 and below 1.
    pub fn unit(&mut self) -> f64 {
        // Never 0, because its logarithm is not finite.
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Independent normal numbers.
    pub fn white(&mut self, count: usize, mean: f64, stddev: f64) -> Vec<f64> {
        (0..count).map(|_| mean + stddev * self.normal()).collect()
    }

    /// A stationary autoregressive series of order 1 around `mean`. Each value has the standard
    /// deviation `stddev`.
    pub fn ar1(&mut self, count: usize, phi: f64, mean: f64, stddev: f64) -> Vec<f64> {
        let fresh = (1.0 - phi * phi).sqrt();
        // A value of the stationary distribution, so that the start needs no discarding.
        let mut state = self.normal();
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(mean + stddev * state);
            state = phi * state + fresh * self.normal();
        }
        values
    }

    /// Multiplies each value of the series by `left` with probability `chance`.
    pub fn add_stalls(&mut self, mut series: Vec<f64>, chance: f64, left: f64) -> Vec<f64> {
        for value in &mut series {
            if self.unit() < chance {
                *value *= left;
            }
        }
        series
    }

    /// Share of `rounds` trials that returned `true`.
    pub fn share(&mut self, rounds: u32, mut trial: impl FnMut(&mut Self) -> bool) -> f64 {
        let hits = (0..rounds).filter(|_| trial(self)).count();
        hits as f64 / f64::from(rounds)
    }
}
