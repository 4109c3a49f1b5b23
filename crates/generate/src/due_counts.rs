//! Results of transactions, assigned to the time when they were due, not when they ended.

use stats::{Counter, Histogram};

/// A transaction counts as late if it starts more than this after its due time, in nanoseconds.
// A sleeping thread wakes up about ten microseconds late, which is no delay of the target.
pub const LATE_NS: u64 = 50_000;

/// Measurement window for due times, in nanoseconds of the worker's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueWindow {
    /// Start of the window.
    pub start_ns: u64,
    /// Length of the window; values above 292 years mean that it has no end.
    pub length_ns: u64,
}

/// Results of the transactions that were due in a window.
#[derive(Debug, Clone)]
pub struct DueCounts {
    window: DueWindow,
    /// Response times, from due to completion.
    pub responses: Counter,
    /// Number of transactions that started more than [`LATE_NS`] after they were due.
    pub late_count: u64,
    /// Longest time from due to start, in nanoseconds.
    pub lateness_ns_max: u64,
    /// Number of transactions that started only after the loop was closed.
    pub left_count: u64,
    /// Times from due to start, if they are recorded, as for traces.
    // 20 KB that only replays need, so other loops do not have it.
    pub lateness: Option<Histogram>,
}

impl DueCounts {
    pub(crate) fn new(mut window: DueWindow) -> Self {
        // Due times before the start wrap to distances that are longer than any window.
        window.length_ns = window.length_ns.min(u64::MAX / 2);
        Self {
            window,
            responses: Counter::new(),
            late_count: 0,
            lateness_ns_max: 0,
            left_count: 0,
            lateness: None,
        }
    }

    /// The measurement window.
    #[must_use]
    pub fn window(&self) -> DueWindow {
        self.window
    }

    /// `true` if transactions due at this time are measured.
    #[inline]
    #[must_use]
    pub fn has(&self, due_ns: u64) -> bool {
        due_ns.wrapping_sub(self.window.start_ns) < self.window.length_ns
    }

    /// Counts the start of a transaction.
    #[inline]
    pub(crate) fn begun(&mut self, due_ns: u64, now_ns: u64) {
        if self.has(due_ns) {
            let lateness_ns = now_ns.saturating_sub(due_ns);
            self.late_count += u64::from(lateness_ns > LATE_NS);
            self.lateness_ns_max = self.lateness_ns_max.max(lateness_ns);
        }
    }

    /// Counts the end of a transaction; a negative `result` is a negated errno.
    #[inline]
    pub(crate) fn ended(&mut self, due_ns: u64, now_ns: u64, result: i32) {
        if self.has(due_ns) {
            let response_ns = now_ns.saturating_sub(due_ns);
            match result < 0 {
                true => self.responses.record_error(-result, response_ns),
                false => self.responses.record(0, response_ns),
            }
        }
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.responses.merge(&other.responses);
        self.late_count += other.late_count;
        self.lateness_ns_max = self.lateness_ns_max.max(other.lateness_ns_max);
        self.left_count += other.left_count;
        if let Some(other) = &other.lateness {
            self.lateness
                .get_or_insert_with(Histogram::new)
                .merge(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(start_ns: u64, length_ns: u64) -> DueCounts {
        DueCounts::new(DueWindow {
            start_ns,
            length_ns,
        })
    }

    #[test]
    fn requests_due_outside_of_the_window_do_not_count() {
        let mut counts = counts(1000, 100);
        for due_ns in [0, 999, 1000, 1099, 1100, u64::MAX] {
            counts.begun(due_ns, u64::MAX);
            counts.ended(due_ns, due_ns.saturating_add(7), 0);
        }
        assert_eq!((counts.late_count, counts.responses.count()), (2, 2));
        assert_eq!(counts.responses.latency().max_ns(), Some(7));
    }

    #[test]
    fn a_window_without_an_end_still_has_a_start() {
        let counts = counts(1000, u64::MAX);
        assert!(!counts.has(0) && !counts.has(999));
        assert!(counts.has(1000) && counts.has(u64::MAX / 2));
    }
}
