//! The clock of a run: four readings and the intervals between them.

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// The four readings of the clock, in microseconds since any full second.
///
/// Versions with a clock of seconds see only the second in which each reading fell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Before the first file was created.
    pub start_us: i64,
    /// Before the first transaction.
    pub transactions_start_us: i64,
    /// After the last transaction.
    pub transactions_end_us: i64,
    /// After the last file was deleted.
    pub end_us: i64,
}

/// The intervals of a run, in one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Intervals<T> {
    pub(super) total: T,
    pub(super) creation: T,
    pub(super) transactions: T,
    pub(super) deletion: T,
}

impl Times {
    /// Readings in whole seconds: start, start and end of the transactions, end.
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

    /// Whole seconds; an interval within one second counts as one.
    pub(super) fn seconds(&self) -> Intervals<i64> {
        self.intervals(|from_us, to_us| {
            let seconds = to_us.div_euclid(SECOND_US) - from_us.div_euclid(SECOND_US);
            if seconds == 0 { 1 } else { seconds }
        })
    }

    /// Seconds as 1.54 has them: seconds and microseconds apart, joined in 32 bits.
    pub(super) fn fractions(&self) -> Intervals<f32> {
        self.intervals(|from_us, to_us| {
            let seconds = to_us.div_euclid(SECOND_US) - from_us.div_euclid(SECOND_US);
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
