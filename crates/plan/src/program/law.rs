//! Random amounts: sizes, times, counts.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shapes of gamma laws whose quantiles can be computed quickly.
const GAMMA_SHAPES: RangeInclusive<f64> = 0.001..=10_000.0;

/// Law of a random amount: a value of the shape plus `base`, rounded down to a multiple of `step`
/// and clamped to the limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Law {
    /// Distribution of the value.
    pub shape: Shape,
    /// Added to the drawn value.
    #[serde(default)]
    pub base: u64,
    /// Lower limit.
    #[serde(default)]
    pub least: u64,
    /// Upper limit.
    #[serde(default = "no_limit")]
    pub most: u64,
    /// The amount is a multiple of this; 0 and 1 for no rounding.
    #[serde(default)]
    pub step: u64,
}

fn no_limit() -> u64 {
    u64::MAX
}

/// Distribution of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A constant.
    Fixed(u64),
    /// All whole numbers between two bounds are equally likely, bounds included.
    Uniform {
        /// Lower bound.
        low: u64,
        /// Upper bound.
        high: u64,
    },
    /// Exponential distribution, as of times between independent events.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Gamma distribution.
    Gamma {
        /// The mean.
        mean: f64,
        /// The shape, 0.001 to 10000; 1 makes it exponential, and a large one nearly normal.
        shape: f64,
    },
    /// Normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Lognormal distribution.
    LogNormal {
        /// The median.
        median: f64,
        /// The standard deviation of the natural logarithm.
        spread: f64,
    },
    /// Bands by their weights, uniform within each band.
    Table(Vec<Band>),
}

/// A band of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Band {
    /// Weight relative to the other bands.
    pub weight: u32,
    /// Smallest value.
    pub low: u64,
    /// Largest value.
    pub high: u64,
}

impl Law {
    /// A constant amount.
    #[must_use]
    pub const fn fixed(amount: u64) -> Self {
        Self::of(Shape::Fixed(amount))
    }

    /// A shape without limits.
    #[must_use]
    pub const fn of(shape: Shape) -> Self {
        Self {
            shape,
            base: 0,
            least: 0,
            most: u64::MAX,
            step: 0,
        }
    }

    /// The amount if it is constant.
    #[must_use]
    pub const fn always(&self) -> Option<u64> {
        match self.shape {
            Shape::Fixed(amount) => Some(self.within(amount)),
            _ => None,
        }
    }

    /// Smallest possible amount.
    #[must_use]
    pub fn smallest(&self) -> u64 {
        let least = match &self.shape {
            Shape::Fixed(amount) => *amount,
            Shape::Uniform { low, .. } => *low,
            Shape::Table(bands) => bands.iter().map(|band| band.low).min().unwrap_or(0),
            _ => 0,
        };
        self.within(least)
    }

    /// Largest possible amount; `None` if there is no limit.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        let most = match &self.shape {
            Shape::Fixed(amount) => *amount,
            Shape::Uniform { high, .. } => *high,
            Shape::Table(bands) => bands.iter().map(|band| band.high).max().unwrap_or(0),
            // The remaining shapes have no largest value.
            _ if self.most == u64::MAX => return None,
            _ => u64::MAX,
        };
        Some(self.within(most))
    }

    /// The mean; approximate if the limits cut off much of the distribution.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let least = self.least as f64;
        (self.shape.mean() + self.base as f64).clamp(least, (self.most as f64).max(least))
    }

    /// The standard deviation; an upper bound if the limits cut off part of the distribution.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.shape.deviation()
    }

    /// Reason why amounts cannot be drawn, if any.
    #[must_use]
    pub fn flaw(&self) -> Option<InvalidLaw> {
        if self.least > self.most {
            return Some(InvalidLaw::Limits);
        }
        self.shape.flaw()
    }

    /// The amount for a drawn value of the shape.
    #[must_use]
    #[inline]
    pub const fn within(&self, amount: u64) -> u64 {
        let amount = amount.saturating_add(self.base);
        let rounded = match self.step {
            0 | 1 => amount,
            step => (amount / step).saturating_mul(step),
        };
        // The limits come after rounding, so that they hold exactly.
        if rounded < self.least {
            self.least
        } else if rounded > self.most {
            self.most
        } else {
            rounded
        }
    }
}

/// Reason why amounts cannot be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidLaw {
    /// `least` is above `most`.
    Limits,
    /// The lower end of a range or a band is above its upper end.
    Range,
    /// The named parameter is not a number above 0.
    Parameter(&'static str),
    /// The shape of a gamma law is not 0.001 to 10000; computing quantiles of others takes too
    /// long.
    Shape,
    /// No band has a weight above 0.
    Empty,
}

impl std::fmt::Display for InvalidLaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Limits => f.write_str("`least` is above `most`"),
            Self::Range => f.write_str("the low end of a range is above its high end"),
            Self::Parameter(name) => write!(f, "`{name}` is not above 0"),
            Self::Shape => f.write_str("`shape` is not 0.001 to 10000"),
            Self::Empty => f.write_str("no band of the `table` has a share"),
        }
    }
}

impl Shape {
    fn mean(&self) -> f64 {
        match self {
            Self::Fixed(amount) => *amount as f64,
            Self::Uniform { low, high } => f64::midpoint(*low as f64, *high as f64),
            Self::Exponential { mean } | Self::Gamma { mean, .. } | Self::Normal { mean, .. } => {
                *mean
            }
            Self::LogNormal { median, spread } => median * (spread * spread / 2.0).exp(),
            Self::Table(bands) => mean_over_bands(bands, |band| {
                f64::midpoint(band.low as f64, band.high as f64)
            }),
        }
    }

    /// Source: the deviation of a uniform distribution is its width divided by the root of 12; that
    /// of a lognormal distribution is its mean times the root of exp(spread^2) - 1.
    fn deviation(&self) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Uniform { low, high } => high.saturating_sub(*low) as f64 / 12_f64.sqrt(),
            Self::Exponential { mean } => *mean,
            Self::Gamma { mean, shape } => mean / shape.sqrt(),
            Self::Normal { deviation, .. } => *deviation,
            Self::LogNormal { spread, .. } => {
                self.mean() * ((spread * spread).exp() - 1.0).max(0.0).sqrt()
            }
            Self::Table(bands) => {
                let mean = self.mean();
                let variance = mean_over_bands(bands, |band| {
                    let width = band.high.saturating_sub(band.low) as f64;
                    let middle = f64::midpoint(band.low as f64, band.high as f64);
                    (middle - mean).powi(2) + width * width / 12.0
                });
                variance.sqrt()
            }
        }
    }

    fn flaw(&self) -> Option<InvalidLaw> {
        let is_ranged = |low: u64, high: u64| (low > high).then_some(InvalidLaw::Range);
        let is_above = |parameters: &[(&'static str, f64)]| {
            let mut parameters = parameters.iter();
            let invalid = parameters.find(|(_, value)| !(value.is_finite() && *value > 0.0));
            invalid.map(|(name, _)| InvalidLaw::Parameter(name))
        };
        match self {
            Self::Fixed(_) => None,
            Self::Uniform { low, high } => is_ranged(*low, *high),
            Self::Exponential { mean } => is_above(&[("exponential", *mean)]),
            Self::Gamma { mean, shape } => {
                let is_shaped = GAMMA_SHAPES.contains(shape);
                is_above(&[("gamma", *mean), ("shape", *shape)])
                    .or_else(|| (!is_shaped).then_some(InvalidLaw::Shape))
            }
            Self::Normal { mean, deviation } => {
                is_above(&[("normal", *mean), ("deviation", *deviation)])
            }
            Self::LogNormal { median, spread } => {
                is_above(&[("lognormal", *median), ("spread", *spread)])
            }
            Self::Table(bands) if bands.iter().all(|band| band.weight == 0) => {
                Some(InvalidLaw::Empty)
            }
            Self::Table(bands) => bands.iter().find_map(|band| is_ranged(band.low, band.high)),
        }
    }
}

/// The mean of a value over bands, by their weights.
fn mean_over_bands(bands: &[Band], value: impl Fn(&Band) -> f64) -> f64 {
    let weights: f64 = bands.iter().map(|band| f64::from(band.weight)).sum();
    let sum: f64 = bands
        .iter()
        .map(|band| f64::from(band.weight) * value(band))
        .sum();
    if weights > 0.0 { sum / weights } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(shape: Shape) -> Law {
        Law::of(shape)
    }

    #[test]
    fn means_and_deviations_match_the_distributions() {
        let close = |left: f64, right: f64| (left - right).abs() < 1e-6 * right.max(1.0);
        let table = Shape::Table(vec![
            Band {
                weight: 3,
                low: 0,
                high: 100,
            },
            Band {
                weight: 1,
                low: 1000,
                high: 1000,
            },
        ]);
        for (shape, mean, deviation) in [
            (Shape::Fixed(7), 7.0, 0.0),
            (Shape::Uniform { low: 0, high: 12 }, 6.0, 12_f64.sqrt()),
            (Shape::Exponential { mean: 5.0 }, 5.0, 5.0),
            (
                Shape::Gamma {
                    mean: 8.0,
                    shape: 4.0,
                },
                8.0,
                4.0,
            ),
            (
                Shape::Normal {
                    mean: 9.0,
                    deviation: 2.0,
                },
                9.0,
                2.0,
            ),
            (
                Shape::LogNormal {
                    median: 10.0,
                    spread: 1.0,
                },
                10.0 * 0.5_f64.exp(),
                10.0 * 0.5_f64.exp() * (1_f64.exp() - 1.0).sqrt(),
            ),
            (table, 287.5, 169_843.75_f64.sqrt()),
        ] {
            let law = law(shape);
            assert!(close(law.mean(), mean), "{law:?}: {}", law.mean());
            assert!(
                close(law.deviation(), deviation),
                "{law:?}: {}",
                law.deviation()
            );
        }
    }

    #[test]
    fn limits_apply_to_both_ends_and_the_mean() {
        let cut = Law {
            least: 10,
            most: 20,
            step: 8,
            ..law(Shape::Exponential { mean: 100.0 })
        };
        assert_eq!((cut.smallest(), cut.largest()), (10, Some(20)));
        assert!((cut.mean() - 20.0).abs() < 1e-9);
        let open = law(Shape::Exponential { mean: 3.0 });
        assert_eq!((open.smallest(), open.largest()), (0, None));
        let range = law(Shape::Uniform { low: 3, high: 9 });
        assert_eq!((range.smallest(), range.largest()), (3, Some(9)));
    }

    #[test]
    fn an_invalid_distribution_is_refused() {
        let empty = Shape::Table(Vec::new());
        for (shape, flaw) in [
            (
                Shape::Uniform { low: 2, high: 1 },
                "the low end of a range is above its high end",
            ),
            (
                Shape::Exponential { mean: 0.0 },
                "`exponential` is not above 0",
            ),
            (
                Shape::Gamma {
                    mean: 1.0,
                    shape: f64::NAN,
                },
                "`shape` is not above 0",
            ),
            (
                Shape::Gamma {
                    mean: 1.0,
                    shape: 1e9,
                },
                "`shape` is not 0.001 to 10000",
            ),
            (empty, "no band of the `table` has a share"),
        ] {
            assert_eq!(law(shape).flaw().unwrap().to_string(), flaw);
        }
        let limits = Law {
            least: 2,
            most: 1,
            ..Law::fixed(3)
        };
        assert_eq!(limits.flaw(), Some(InvalidLaw::Limits));
        assert_eq!(Law::fixed(3).flaw(), None);
    }
}
