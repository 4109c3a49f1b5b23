//! Counts and latencies of one operation or one kind of transaction.

use crate::Histogram;

/// Errors whose number Linux does not define are counted under this number.
// One above the largest number, `EHWPOISON`.
pub const ERRNO_OTHER: i32 = 134;

/// One slot per error number, and one for undefined numbers.
const ERRNO_SLOTS: usize = ERRNO_OTHER as usize + 1;

/// Counts, bytes and latencies of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// One sample per success, short or not; no samples for errors.
    latency: Histogram,
    bytes: u64,
    short_count: u64,
    error_latency_ns_max: u64,
    // An array, so that counting an error neither allocates nor searches.
    errnos: Box<[u64; ERRNO_SLOTS]>,
}

impl Counter {
    /// A counter at zero. Allocates all the memory it will ever use.
    #[must_use]
    pub fn new() -> Self {
        Self {
            latency: Histogram::new(),
            bytes: 0,
            short_count: 0,
            error_latency_ns_max: 0,
            errnos: Box::new([0; ERRNO_SLOTS]),
        }
    }

    /// Counts a success that moved all requested bytes.
    #[inline]
    pub fn record(&mut self, bytes: u64, latency_ns: u64) {
        // No measurement reaches an overflow, so the loop does not check for it.
        self.bytes = self.bytes.wrapping_add(bytes);
        self.latency.record(latency_ns);
    }

    /// Counts `count` successes with the same latency. They moved all requested bytes, `bytes` in
    /// total.
    #[inline]
    pub fn record_alike(&mut self, count: u64, latency_ns: u64, bytes: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.latency.record_alike(latency_ns, count);
    }

    /// Counts a success that moved fewer bytes than requested.
    #[inline]
    pub fn record_short(&mut self, bytes: u64, latency_ns: u64) {
        self.short_count = self.short_count.wrapping_add(1);
        self.record(bytes, latency_ns);
    }

    /// Counts a failure by its error number, which may be negated.
    #[inline]
    pub fn record_error(&mut self, errno: i32, latency_ns: u64) {
        // `abs` would overflow for the smallest number.
        let index = (errno.unsigned_abs() as usize).min(ERRNO_SLOTS - 1);
        self.errnos[index] = self.errnos[index].wrapping_add(1);
        self.error_latency_ns_max = self.error_latency_ns_max.max(latency_ns);
    }

    /// Adds the counts of another counter.
    pub fn merge(&mut self, other: &Self) {
        self.latency.merge(&other.latency);
        // Merging is outside of the hot path, so sums saturate here instead of wrapping.
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.short_count = self.short_count.saturating_add(other.short_count);
        self.error_latency_ns_max = self.error_latency_ns_max.max(other.error_latency_ns_max);
        for (mine, others) in self.errnos.iter_mut().zip(other.errnos.iter()) {
            *mine = mine.saturating_add(*others);
        }
    }

    /// Resets to zero and keeps the memory.
    pub fn clear(&mut self) {
        self.latency.clear();
        (self.bytes, self.short_count, self.error_latency_ns_max) = (0, 0, 0);
        self.errnos.fill(0);
    }

    /// `true` if nothing was counted, not even an error.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.latency.is_empty() && self.errors() == 0
    }

    /// Number of successful operations, including short ones.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    /// Number of failed operations.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errnos
            .iter()
            .fold(0, |total, count| total.saturating_add(*count))
    }

    /// Number of operations that moved fewer bytes than requested; they are part of `count`.
    #[must_use]
    pub fn short_count(&self) -> u64 {
        self.short_count
    }

    /// Number of bytes moved.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The latencies of the successes.
    #[must_use]
    pub fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// Latency of the slowest failure in nanoseconds; 0 without failures.
    #[must_use]
    pub fn error_latency_ns_max(&self) -> u64 {
        self.error_latency_ns_max
    }

    /// Error numbers that occurred and their counts, ascending. [`ERRNO_OTHER`] stands for all
    /// numbers that Linux does not define.
    pub fn errnos(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let counts = self.errnos.iter().copied();
        (0..).zip(counts).filter(|(_, count)| *count > 0)
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
