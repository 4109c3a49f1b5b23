//! What is kept for one operation or one kind of transaction.

use crate::Histogram;

/// The error number under which errors are counted whose number Linux does not have.
pub const ERRNO_OTHER: i32 = 134;

/// One count for each error number, and one for those that do not exist.
const ERRNO_SLOTS: usize = ERRNO_OTHER as usize + 1;

/// Counts, bytes and latencies of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// One sample for each success, short or not; none for errors.
    latency: Histogram,
    bytes: u64,
    short_count: u64,
    error_latency_ns_max: u64,
    errnos: Box<[u64; ERRNO_SLOTS]>,
}

impl Counter {
    /// A counter at zero; takes all the memory it will ever use.
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

    /// Counts a success that moved all the bytes asked for.
    #[inline]
    pub fn record(&mut self, bytes: u64, latency_ns: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.latency.record(latency_ns);
    }

    /// Counts so many successes that took the same time and moved all the bytes asked for, so many
    /// together.
    #[inline]
    pub fn record_alike(&mut self, count: u64, latency_ns: u64, bytes: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.latency.record_alike(latency_ns, count);
    }

    /// Counts a success that moved fewer bytes than asked for.
    #[inline]
    pub fn record_short(&mut self, bytes: u64, latency_ns: u64) {
        self.short_count = self.short_count.wrapping_add(1);
        self.record(bytes, latency_ns);
    }

    /// Counts a failure by its error number, negated or not.
    #[inline]
    pub fn record_error(&mut self, errno: i32, latency_ns: u64) {
        let index = (errno.unsigned_abs() as usize).min(ERRNO_SLOTS - 1);
        self.errnos[index] = self.errnos[index].wrapping_add(1);
        self.error_latency_ns_max = self.error_latency_ns_max.max(latency_ns);
    }

    /// Adds what another counter holds.
    pub fn merge(&mut self, other: &Self) {
        self.latency.merge(&other.latency);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.short_count = self.short_count.saturating_add(other.short_count);
        self.error_latency_ns_max = self.error_latency_ns_max.max(other.error_latency_ns_max);
        for (mine, others) in self.errnos.iter_mut().zip(other.errnos.iter()) {
            *mine = mine.saturating_add(*others);
        }
    }

    /// Goes back to zero and keeps the memory.
    pub fn clear(&mut self) {
        self.latency.clear();
        (self.bytes, self.short_count, self.error_latency_ns_max) = (0, 0, 0);
        self.errnos.fill(0);
    }

    /// Whether nothing was counted, errors included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.latency.is_empty() && self.errors() == 0
    }

    /// How many operations succeeded, short ones included.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    /// How many operations failed.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errnos
            .iter()
            .fold(0, |total, count| total.saturating_add(*count))
    }

    /// How many operations moved fewer bytes than requested; they are part of `count`.
    #[must_use]
    pub fn short_count(&self) -> u64 {
        self.short_count
    }

    /// How many bytes were moved.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The latencies of the successes.
    #[must_use]
    pub fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// The longest that a failure took, 0 without failures.
    #[must_use]
    pub fn error_latency_ns_max(&self) -> u64 {
        self.error_latency_ns_max
    }

    /// Error numbers that occurred and how often, ascending; [`ERRNO_OTHER`] is every number that
    /// Linux does not have.
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
