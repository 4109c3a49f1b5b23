//! A value in a column of a table.

use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

/// A value in a column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredValue {
    /// Mean over the repetitions.
    pub mean: f64,
    /// Number of repetitions, as far as it is known; 0 for a published figure.
    pub n: u64,
    /// Ends of the 95 % confidence interval of the mean; none without repetitions.
    pub interval: Option<[f64; 2]>,
    /// Value with the digits of the publication, or of another program's output; none for other
    /// values.
    pub printed: Option<String>,
    /// The estimate, for tests of differences.
    #[serde(skip)]
    pub estimate: Option<Estimate>,
}

impl MeasuredValue {
    /// Returns the value of several repetitions; `None` without any.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let estimate = Estimate::from_samples(samples)?;
        let interval = estimate.ci95_low.zip(estimate.ci95_high);
        Some(Self {
            mean: estimate.mean,
            n: estimate.n,
            interval: interval.map(<[f64; 2]>::from),
            printed: None,
            estimate: Some(estimate),
        })
    }

    /// Returns a published figure; `None` if it is no number.
    pub(crate) fn printed(text: &str) -> Option<Self> {
        Some(Self {
            mean: text.parse().ok()?,
            n: 0,
            interval: None,
            printed: Some(text.to_owned()),
            estimate: None,
        })
    }
}

/// Number of significant digits of a measured value.
const DIGITS: i32 = 4;

impl MeasuredValue {
    /// Returns the value as text: as printed, or with four significant digits.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.printed {
            Some(printed) => printed.clone(),
            None => significant(self.mean),
        }
    }
}

/// Formats a number with four significant digits, without an exponent.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // A finite number has at most 308 digits before the point.
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (DIGITS - 1 - magnitude).clamp(0, 9);
    format!("{value:.*}", decimals as usize)
}
