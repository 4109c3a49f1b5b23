//! Expected size of a file.

use super::super::Law;

/// Size of a file in bytes: mean, variance and maximum.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MeanExtent {
    pub mean: f64,
    pub variance: f64,
    pub max: f64,
}

impl MeanExtent {
    pub fn of(law: &Law) -> Self {
        Self {
            mean: law.mean(),
            variance: law.deviation().powi(2),
            max: law.largest().map_or(f64::INFINITY, |most| most as f64),
        }
    }

    /// An extent that is always the same.
    pub const fn exactly(bytes: f64) -> Self {
        Self {
            mean: bytes,
            variance: 0.0,
            max: bytes,
        }
    }

    /// The sum of `count` such extents, each drawn independently.
    pub fn times(self, count: f64) -> Self {
        Self {
            mean: self.mean * count,
            variance: self.variance * count,
            max: self.max * count,
        }
    }

    /// The sum of two extents, drawn independently.
    pub fn plus(self, other: Self) -> Self {
        Self {
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
            max: self.max + other.max,
        }
    }

    /// The extent with the larger mean; `self` if the means are equal.
    pub fn larger(self, other: Self) -> Self {
        match other.mean > self.mean {
            true => other,
            false => self,
        }
    }
}
