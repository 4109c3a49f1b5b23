//! Clock readings of a run, and the intervals between them.

/// Microseconds per second.
const SECOND_US: i64 = 1_000_000;

/// Clock readings in microseconds since any full second.
///
/// Versions that measure seconds only see the second of each reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionTimes {
    /// Before the first file was created.
    pub start_us: i64,
    /// Before the first transaction.
    pub transactions_start_us: i64,
    /// After the last transaction.
    pub transactions_end_us: i64,
    /// After the last file was deleted.
    pub end_us: i64,
}

/// Intervals of a run, all in the same unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Intervals<T> {
    pub(super) total: T,
    pub(super) creation: T,
    pub(super) transactions: T,
    pub(super) deletion: T,
}

impl SessionTimes {
    /// Readings in whole seconds, in the order of the fields.
    #[cfg(test)]
    pub const fn from_seconds(readings: [i64; 4]) -> Self {
        let [start, transactions_start, transactions_end, end] = readings;
        Self {
            start_us: start.saturating_mul(SECOND_US),
            transactions_start_us: transactions_start.saturating_mul(SECOND_US),
            transactions_end_us: transactions_end.saturating_mul(SECOND_US),
            end_us: end.saturating_mul(SECOND_US),
        }
    }

    /// Intervals in whole seconds; 0 counts as 1.
    pub(super) fn seconds(&self) -> Intervals<i64> {
        self.intervals(|from_us, to_us| {
            let seconds = to_us.div_euclid(SECOND_US) - from_us.div_euclid(SECOND_US);
            // Without this, the integer rates of a short run would divide by zero.
            if seconds == 0 { 1 } else { seconds }
        })
    }

    /// Intervals in seconds as in version 1.54, which adds seconds and microseconds in 32-bit
    /// floats.
    pub(super) fn fractions(&self) -> Intervals<f32> {
        self.intervals(|from_us, to_us| {
            let seconds = to_us.div_euclid(SECOND_US) - from_us.div_euclid(SECOND_US);
            // The two differences are added after rounding, so sums may differ in the last digit
            // from a 64-bit result.
            let rest_us = to_us.rem_euclid(SECOND_US) - from_us.rem_euclid(SECOND_US);
            seconds as f32 + rest_us as f32 / SECOND_US as f32
        })
    }

    fn intervals<T>(&self, between: impl Fn(i64, i64) -> T) -> Intervals<T> {
        Intervals {
            total: between(self.start_us, self.end_us),
            creation: between(self.start_us, self.transactions_start_us),
            transactions: between(self.transactions_start_us, self.transactions_end_us),
            deletion: between(self.transactions_end_us, self.end_us),
        }
    }
}
