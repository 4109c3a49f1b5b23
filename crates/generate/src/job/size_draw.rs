//! Sizes of a job's requests.

use plan::job::SizeRule;

use super::number;
use crate::choice::AliasTable;
use crate::{GenerateError, Rng};

/// Number of draws that may not fit, before the smallest size is used.
const DRAWS_MAX: u32 = 16;

/// Prepared sizes of the requests in one direction.
#[derive(Debug, Clone)]
pub(super) enum SizeDraw {
    Fixed {
        bytes: u32,
    },
    Range {
        min_bytes: u32,
        unit_bytes: u32,
        /// Number of different sizes.
        count: u64,
    },
    Split {
        choice: AliasTable,
        sizes_bytes: Box<[u32]>,
        min_bytes: u32,
    },
}

impl SizeDraw {
    pub(super) fn new(rule: &SizeRule) -> Result<Self, GenerateError> {
        number("the smallest size", rule.min_bytes().into(), "above 0")?;
        Ok(match rule {
            SizeRule::Fixed { bytes } => Self::Fixed { bytes: *bytes },
            SizeRule::Range {
                min_bytes,
                max_bytes,
                unit_bytes,
            } => {
                let unit_bytes = (*unit_bytes).max(1);
                Self::Range {
                    min_bytes: *min_bytes,
                    unit_bytes,
                    count: u64::from(max_bytes.saturating_sub(*min_bytes) / unit_bytes) + 1,
                }
            }
            SizeRule::Split { shares } => {
                let weights: Vec<f64> = shares.iter().map(|share| share.percent).collect();
                check_weights(&weights)?;
                Self::Split {
                    choice: AliasTable::new(&weights),
                    sizes_bytes: shares.iter().map(|share| share.bytes).collect(),
                    min_bytes: rule.min_bytes(),
                }
            }
        })
    }

    pub(super) const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed { .. })
    }

    pub(super) const fn min_bytes(&self) -> u32 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range { min_bytes, .. } | Self::Split { min_bytes, .. } => *min_bytes,
        }
    }

    /// A common divisor of all sizes.
    pub(super) fn grain_bytes(&self) -> u32 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range {
                min_bytes,
                unit_bytes,
                ..
            } => common_divisor((*min_bytes).into(), (*unit_bytes).into()) as u32,
            Self::Split { sizes_bytes, .. } => sizes_bytes
                .iter()
                .fold(0, |grain, bytes| common_divisor(grain, (*bytes).into()))
                as u32,
        }
    }

    /// A size of at most `room_bytes`; `None` if even the smallest is too large.
    ///
    /// Sizes that are too large are drawn again, so that the end of a file does not produce a size
    /// that was not requested.
    #[inline]
    pub(super) fn fitting(&self, rng: &mut Rng, room_bytes: u64) -> Option<u32> {
        if let Self::Fixed { bytes } = self {
            // fio never uses the end of a file that is smaller than a request.
            return (u64::from(*bytes) <= room_bytes).then_some(*bytes);
        }
        self.drawn(rng, room_bytes)
    }

    fn drawn(&self, rng: &mut Rng, room_bytes: u64) -> Option<u32> {
        let least_bytes = self.min_bytes();
        if u64::from(least_bytes) > room_bytes {
            return None;
        }
        for _ in 0..DRAWS_MAX {
            let bytes = match self {
                Self::Fixed { bytes } => *bytes,
                Self::Range {
                    min_bytes,
                    unit_bytes,
                    count,
                } => min_bytes + rng.below(*count) as u32 * unit_bytes,
                Self::Split {
                    choice,
                    sizes_bytes,
                    ..
                } => sizes_bytes[choice.pick(rng.next_u64())],
            };
            if u64::from(bytes) <= room_bytes {
                return Some(bytes);
            }
        }
        Some(least_bytes)
    }
}

/// Checks that weights are not negative and that their sum is positive and finite.
pub(super) fn check_weights(weights: &[f64]) -> Result<(), GenerateError> {
    let sum: f64 = weights.iter().sum();
    let is_wrong = weights.iter().any(|weight| *weight < 0.0);
    // A NaN is not below 0, but it makes the sum NaN.
    if is_wrong || !sum.is_finite() || sum <= 0.0 {
        return Err(GenerateError::Percent {
            what: "the sum of the shares",
            percent: sum,
        });
    }
    Ok(())
}

/// Greatest common divisor; if one number is 0, the other number.
pub(super) const fn common_divisor(first: u64, second: u64) -> u64 {
    let (mut larger, mut smaller) = (first, second);
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}
