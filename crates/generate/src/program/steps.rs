//! Counters of everything that has a label.

/// Number of buckets per octave, and number of octaves.
const BUCKETS_PER_OCTAVE: u32 = 8;
const OCTAVES: u32 = 40;
const BUCKETS: usize = (BUCKETS_PER_OCTAVE * OCTAVES) as usize;

/// Number and duration of a step. Times are counted in buckets an eighth of an octave wide, so
/// percentiles are at most an eighth too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCounter {
    /// Number of executions, including failures.
    pub count: u64,
    /// Number of executions in which a call failed.
    pub errors: u64,
    /// Number of bytes read and written.
    pub bytes: u64,
    /// Total duration, in nanoseconds.
    pub sum_ns: u64,
    /// Shortest duration, in nanoseconds; `u64::MAX` if there is none.
    pub min_ns: u64,
    /// Longest duration, in nanoseconds.
    pub max_ns: u64,
    buckets: Box<[u32; BUCKETS]>,
}

impl Default for StepCounter {
    fn default() -> Self {
        Self {
            count: 0,
            errors: 0,
            bytes: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            buckets: Box::new([0; BUCKETS]),
        }
    }
}

impl StepCounter {
    #[inline]
    pub(crate) fn record(&mut self, span_ns: u64, bytes: u64, has_failed: bool) {
        self.errors += u64::from(has_failed);
        self.bytes += bytes;
        self.record_time(span_ns);
    }

    /// Counts an execution that did not fail. Its bytes are [set](Self::set_bytes_per_execution)
    /// later.
    #[inline]
    pub(super) fn record_time(&mut self, span_ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(span_ns);
        // A branch that is rarely taken costs less than two stores per execution.
        if span_ns < self.min_ns || span_ns > self.max_ns {
            self.widen(span_ns);
        }
        let bucket = &mut self.buckets[bucket(span_ns)];
        *bucket = bucket.saturating_add(1);
    }

    /// Sets the bytes that each counted execution moved.
    pub(super) fn set_bytes_per_execution(&mut self, bytes: u64) {
        self.bytes = self.count * bytes;
    }

    /// Records a new minimum or maximum, which becomes ever rarer: hence not inlined.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, span_ns: u64) {
        self.min_ns = self.min_ns.min(span_ns);
        self.max_ns = self.max_ns.max(span_ns);
    }

    /// Adds the counts of another counter.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        for (bucket, more) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *bucket = bucket.saturating_add(*more);
        }
    }

    /// The time within which `percent` of the executions ended, in nanoseconds: the upper end of
    /// the bucket, but at most the longest duration. `None` without executions.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let wanted = (percent / 100.0 * self.count as f64).ceil().max(1.0) as u64;
        let mut total = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            total += u64::from(*count);
            if total >= wanted {
                return Some(end_ns(index).min(self.max_ns));
            }
        }
        None
    }
}

/// Bucket of a time: the octave, and the three bits after its first.
#[inline]
fn bucket(span_ns: u64) -> usize {
    // Below 8 ns an octave has fewer than 8 values, so shorter times share the first bucket.
    let span_ns = span_ns.max(u64::from(BUCKETS_PER_OCTAVE));
    let octave = span_ns.ilog2();
    let eighth = (span_ns >> (octave - 3)) as u32 & (BUCKETS_PER_OCTAVE - 1);
    let index = (octave - 3) * BUCKETS_PER_OCTAVE + eighth;
    (index as usize).min(BUCKETS - 1)
}

/// Upper end of a bucket, inclusive.
fn end_ns(index: usize) -> u64 {
    let (octave, eighth) = (index as u32 / BUCKETS_PER_OCTAVE, index as u64 % 8);
    ((9 + eighth) << octave) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bucket_ends_at_most_an_eighth_above_its_values(span_ns in 8_u64..(1 << 42)) {
            let end_ns = end_ns(bucket(span_ns));
            prop_assert!(end_ns >= span_ns);
            prop_assert!(end_ns - span_ns <= span_ns / 8);
        }
    }

    #[test]
    fn counters_add_up() {
        let mut one = StepCounter::default();
        one.record(1000, 10, false);
        let mut both = StepCounter::default();
        both.record(3000, 0, true);
        both.merge(&one);
        assert_eq!((both.count, both.errors, both.bytes), (2, 1, 10));
        assert_eq!((both.sum_ns, both.min_ns, both.max_ns), (4000, 1000, 3000));
        assert_eq!(both.percentile(50.0), Some(1023));
        assert_eq!(both.percentile(100.0), Some(3000));
        assert_eq!(StepCounter::default().percentile(99.0), None);
    }
}
