//! How far a file reaches.

use super::super::Law;

/// Bytes of a file, as a mean with its variance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    pub mean: f64,
    pub variance: f64,
    pub most: f64,
}

impl Extent {
    pub fn of(law: &Law) -> Self {
        Self {
            mean: law.mean(),
            variance: law.deviation().powi(2),
            most: law.largest().map_or(f64::INFINITY, |most| most as f64),
        }
    }

    /// The sum of `count` such extents, each drawn independently.
    pub fn times(self, count: f64) -> Self {
        Self {
            mean: self.mean * count,
            variance: self.variance * count,
            most: self.most * count,
        }
    }

    pub fn behind(self, other: Self) -> Self {
        Self {
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
            most: self.most + other.most,
        }
    }

    pub fn larger(self, other: Self) -> Self {
        match other.mean > self.mean {
            true => other,
            false => self,
        }
    }
}
