//! Units of times, and guesses at them.

use crate::number::{self, NS_PER_MS, NS_PER_S, NS_PER_US};

/// Unit of the times of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceTimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Units of 100 ns since 1601, as Windows counts.
    WindowsTicks,
}

/// Nanoseconds from 1601 to 1970.
const WINDOWS_EPOCH_NS: i128 = 11_644_473_600 * NS_PER_S;

impl TraceTimeUnit {
    /// Name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
            Self::WindowsTicks => "units of 100 ns since 1601",
        }
    }

    fn unit_ns(self) -> i128 {
        match self {
            Self::Seconds => NS_PER_S,
            Self::Milliseconds => NS_PER_MS,
            Self::Microseconds => NS_PER_US,
            Self::Nanoseconds => 1,
            Self::WindowsTicks => 100,
        }
    }

    /// Length of a span of time.
    pub(super) fn span_ns(self, text: &[u8]) -> Option<i128> {
        number::nanoseconds(text, self.unit_ns())
    }

    /// A point in time.
    pub(super) fn nanoseconds(self, text: &[u8]) -> Option<i128> {
        let ns = self.span_ns(text)?;
        Some(match self {
            Self::WindowsTicks => ns - WINDOWS_EPOCH_NS,
            _ => ns,
        })
    }

    /// A guess from the times of the first rows: by their size if they are dates, otherwise by
    /// fractions and gaps.
    pub(super) fn guess(times: &[&[u8]]) -> Self {
        let values: Vec<u64> = times
            .iter()
            .filter_map(|text| number::whole(text))
            .collect();
        if values.len() * 2 < times.len() {
            // Fractions.
            return Self::Seconds;
        }
        match values.first().copied().unwrap_or(0) {
            // Dates from 1973 to 2128 in each unit.
            100_000_000_000_000_000..200_000_000_000_000_000 => return Self::WindowsTicks,
            200_000_000_000_000_000.. => return Self::Nanoseconds,
            100_000_000_000_000.. => return Self::Microseconds,
            100_000_000_000..5_000_000_000_000 => return Self::Milliseconds,
            1_000_000_000..5_000_000_000 if median_gap(&values) <= 2 => return Self::Seconds,
            _ => {}
        }
        match median_gap(&values) {
            0 => Self::Seconds,
            1..10_000 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }
}

/// Median distance of consecutive times.
pub(super) fn median_gap(values: &[u64]) -> u64 {
    let mut gaps: Vec<u64> = values
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied().unwrap_or(0)
}
