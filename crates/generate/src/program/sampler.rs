//! Amounts drawn by a law from 64 random bits each.

use plan::program::{Band, Law, Shape};
use statrs::distribution::{ContinuousCDF, Gamma, LogNormal, Normal};

use crate::choice::AliasTable;
use crate::{GenerateError, mix};

/// Number of sections of the probability range, within which quantiles are interpolated.
const PARTS: usize = 4096;

/// A prepared law.
#[derive(Debug, Clone)]
pub(super) struct Sampler {
    sampled: SampledLaw,
    law: Law,
}

#[derive(Debug, Clone)]
enum SampledLaw {
    Fixed(u64),
    Uniform {
        low: u64,
        /// Number of different values, minus one.
        span: u64,
    },
    Quantiles {
        /// Quantiles at multiples of 1 / `PARTS`, without both ends, which may be infinite.
        inner: Box<[f64]>,
        /// Used to compute the first and the last section.
        exact: Exact,
    },
    Bands {
        choice: AliasTable,
        bands: Box<[Band]>,
    },
}

/// A continuous distribution, given by its quantiles.
#[derive(Debug, Clone)]
enum Exact {
    Exponential { mean: f64 },
    Gamma(Gamma),
    Normal(Normal),
    LogNormal(LogNormal),
}

impl Exact {
    fn quantile(&self, probability: f64) -> f64 {
        match self {
            Self::Exponential { mean } => -mean * (-probability).ln_1p(),
            Self::Gamma(gamma) => gamma.inverse_cdf(probability),
            Self::Normal(normal) => normal.inverse_cdf(probability),
            Self::LogNormal(normal) => normal.inverse_cdf(probability),
        }
    }
}

impl Sampler {
    /// Prepares a law.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub(super) fn new(law: &Law) -> Result<Self, GenerateError> {
        Ok(Self {
            sampled: SampledLaw::new(&law.shape)?,
            law: law.clone(),
        })
    }

    /// The amount if it is constant; otherwise `None`.
    pub(super) const fn always(&self) -> Option<u64> {
        self.law.always()
    }

    /// The amount for these random bits.
    #[inline]
    pub(super) fn amount(&self, bits: u64) -> u64 {
        let amount = match &self.sampled {
            SampledLaw::Fixed(amount) => *amount,
            SampledLaw::Uniform { low, span } => low + below(bits, u128::from(*span) + 1),
            SampledLaw::Quantiles { inner, exact } => quantile(inner, exact, bits),
            SampledLaw::Bands { choice, bands } => {
                let band = bands[choice.pick(bits)];
                let count = u128::from(band.high.saturating_sub(band.low)) + 1;
                // The choice has used these bits, so the amount needs others.
                band.low + below(mix(bits), count)
            }
        };
        self.law.within(amount)
    }
}

impl SampledLaw {
    fn new(shape: &Shape) -> Result<Self, GenerateError> {
        let exact = match shape {
            Shape::Fixed(amount) => return Ok(Self::Fixed(*amount)),
            Shape::Uniform { low, high } => {
                return Ok(Self::Uniform {
                    low: *low,
                    span: high.saturating_sub(*low),
                });
            }
            Shape::Table(bands) => return Self::bands(bands),
            Shape::Exponential { mean } => Exact::Exponential {
                mean: require_positive("exponential", "mean", *mean)?,
            },
            Shape::Gamma { mean, shape } => {
                let invalid = |_| out_of_range("gamma", "shape", *shape);
                let shape = require_positive("gamma", "shape", *shape)?;
                let rate = shape / require_positive("gamma", "mean", *mean)?;
                Exact::Gamma(Gamma::new(shape, rate).map_err(invalid)?)
            }
            Shape::Normal { mean, deviation } => {
                let invalid = |_| out_of_range("normal", "deviation", *deviation);
                Exact::Normal(Normal::new(*mean, *deviation).map_err(invalid)?)
            }
            Shape::LogNormal { median, spread } => {
                let invalid = |_| out_of_range("lognormal", "spread", *spread);
                let location = require_positive("lognormal", "median", *median)?.ln();
                Exact::LogNormal(LogNormal::new(location, *spread).map_err(invalid)?)
            }
        };
        // Prepared, because an exact quantile takes far more arithmetic than an interpolation.
        let inner = (1..PARTS).map(|part| exact.quantile(part as f64 / PARTS as f64));
        Ok(Self::Quantiles {
            inner: inner.collect(),
            exact,
        })
    }

    fn bands(bands: &[Band]) -> Result<Self, GenerateError> {
        let weights: Vec<f64> = bands.iter().map(|band| band.weight.into()).collect();
        let sum: f64 = weights.iter().sum();
        if sum <= 0.0 {
            return Err(out_of_range("table", "sum of weights", sum));
        }
        Ok(Self::Bands {
            choice: AliasTable::new(&weights),
            bands: bands.into(),
        })
    }
}

/// A number below `count`, which must be from 1 to 2^64.
#[inline]
fn below(bits: u64, count: u128) -> u64 {
    // The high half of the product is below 2^64.
    ((u128::from(bits) * count) >> 64) as u64
}

/// The quantile for these random bits; a negative one becomes 0.
#[inline]
fn quantile(inner: &[f64], exact: &Exact, bits: u64) -> u64 {
    let unit = (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64);
    let position = unit * PARTS as f64;
    let part = position as usize;
    let amount = match (part.checked_sub(1), inner.get(part)) {
        (Some(before), Some(high)) => {
            let low = inner[before];
            low + (high - low) * (position - part as f64)
        }
        // At the middle of a 53-bit step, which is neither 0 nor 1.
        _ => exact.quantile(unit + 0.5 / (1_u64 << 53) as f64),
    };
    // The cast saturates and converts negative values to 0.
    amount.round() as u64
}

fn require_positive(
    name: &'static str,
    parameter: &'static str,
    value: f64,
) -> Result<f64, GenerateError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(out_of_range(name, parameter, value))
}

fn out_of_range(name: &'static str, parameter: &'static str, value: f64) -> GenerateError {
    GenerateError::Distribution {
        name,
        parameter,
        value,
        wanted: "above 0",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Rng;

    fn mean(shape: Shape) -> f64 {
        let sampler = Sampler::new(&Law::of(shape)).unwrap();
        let mut rng = Rng::new(5);
        let sum: f64 = (0..400_000)
            .map(|_| sampler.amount(rng.next_u64()) as f64)
            .sum();
        sum / 400_000.0
    }

    #[test]
    fn sample_means_match_the_distributions() {
        let near = |seen: f64, wanted: f64| assert!((seen / wanted - 1.0).abs() < 0.01, "{seen}");
        near(mean(Shape::Uniform { low: 10, high: 20 }), 15.0);
        near(mean(Shape::Exponential { mean: 1e6 }), 1e6);
        let gamma = Shape::Gamma {
            mean: 16384.0,
            shape: 1.5,
        };
        near(mean(gamma), 16384.0);
        let normal = Shape::Normal {
            mean: 1e6,
            deviation: 1e4,
        };
        near(mean(normal), 1e6);
        let log_normal = Shape::LogNormal {
            median: 9216.0,
            spread: 1.0,
        };
        near(mean(log_normal), 9216.0 * 0.5_f64.exp());
        let band = |weight, low, high| Band { weight, low, high };
        near(
            mean(Shape::Table(vec![band(3, 0, 10), band(1, 100, 100)])),
            28.75,
        );
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let invalid = [
            Shape::Exponential { mean: 0.0 },
            Shape::Gamma {
                mean: 1.0,
                shape: f64::NAN,
            },
            Shape::LogNormal {
                median: -1.0,
                spread: 1.0,
            },
            Shape::Table(Vec::new()),
        ];
        for shape in invalid {
            assert!(Sampler::new(&Law::of(shape)).is_err());
        }
    }

    proptest! {
        #[test]
        fn amounts_keep_within_the_limits(
            bits: u64,
            least in 0_u64..1000,
            more in 0_u64..1_000_000,
            step in 0_u64..512,
        ) {
            let shape = Shape::LogNormal { median: 5e4, spread: 3.0 };
            let law = Law { least, most: least + more, step, ..Law::of(shape) };
            let amount = Sampler::new(&law).unwrap().amount(bits);
            prop_assert!((least..=least + more).contains(&amount));
        }

        #[test]
        fn a_uniform_amount_reaches_both_ends_and_no_further(bits: u64, low: u64, high: u64) {
            let (low, high) = (low.min(high), low.max(high));
            let sampler = Sampler::new(&Law::of(Shape::Uniform { low, high })).unwrap();
            prop_assert!((low..=high).contains(&sampler.amount(bits)));
            prop_assert_eq!(sampler.amount(0), low);
            prop_assert_eq!(sampler.amount(u64::MAX), high);
        }
    }
}
