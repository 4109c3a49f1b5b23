//! Amounts that are drawn: sizes, times, counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an amount is drawn: by a shape, then rounded to a multiple of `step` and kept within the
/// limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Law {
    /// How it is distributed.
    pub shape: Shape,
    /// The least that may come.
    #[serde(default)]
    pub least: u64,
    /// The most that may come.
    #[serde(default = "no_limit")]
    pub most: u64,
    /// It is a multiple of this; 0 and 1 for any.
    #[serde(default)]
    pub step: u64,
}

fn no_limit() -> u64 {
    u64::MAX
}

/// How an amount is distributed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Always the same.
    Fixed(u64),
    /// Every whole number between two is as likely as any other, both included.
    Uniform {
        /// The least.
        low: u64,
        /// The most.
        high: u64,
    },
    /// Exponential, as times between independent events are.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Gamma.
    Gamma {
        /// The mean.
        mean: f64,
        /// The shape, above 0; 1 makes it exponential.
        shape: f64,
    },
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// The logarithm is normal.
    LogNormal {
        /// Half of all are below.
        median: f64,
        /// The standard deviation of the natural logarithm.
        spread: f64,
    },
    /// Bands by their weights, uniform within each.
    Table(Vec<Band>),
}

/// A band of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Band {
    /// How often it comes, beside the others' weights.
    pub weight: u32,
    /// The least in it.
    pub low: u64,
    /// The most in it.
    pub high: u64,
}

impl Law {
    /// Always the same.
    #[must_use]
    pub const fn fixed(amount: u64) -> Self {
        Self::of(Shape::Fixed(amount))
    }

    /// A shape without limits.
    #[must_use]
    pub const fn of(shape: Shape) -> Self {
        Self {
            shape,
            least: 0,
            most: u64::MAX,
            step: 0,
        }
    }

    /// The amount where it is always the same.
    #[must_use]
    pub const fn always(&self) -> Option<u64> {
        match self.shape {
            Shape::Fixed(amount) => Some(self.within(amount)),
            _ => None,
        }
    }

    /// An amount as the limits and the step let it be.
    #[must_use]
    pub const fn within(&self, amount: u64) -> u64 {
        let rounded = match self.step {
            0 | 1 => amount,
            step => (amount / step).saturating_mul(step),
        };
        if rounded < self.least {
            self.least
        } else if rounded > self.most {
            self.most
        } else {
            rounded
        }
    }
}
