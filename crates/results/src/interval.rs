//! Results over an interval of measured time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Counter, Histogram, Interval};

use crate::CounterNames;
use crate::zero::is_zero;

/// Maximum number of workers or targets that intervals list separately.
// Each interval has such a list, so a record grows with intervals times workers.
const PARTS_MAX: usize = 64;

/// Results over an interval of measured time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntervalRecord {
    /// Start of the interval, in nanoseconds from the start of the measurement.
    pub at_ns: u64,
    /// Length of the interval, in nanoseconds.
    pub length_ns: u64,
    /// Time that the workers' threads were runnable but waited for a CPU, added up, in nanoseconds;
    /// none if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Time in which at least one task of the machine waited for a CPU, in nanoseconds; none if
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure_ns: Option<u64>,
    /// Time that the workers' threads ran, added up, in nanoseconds; none if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_ns: Option<u64>,
    /// I/O of the block devices under the targets; none if there is no such device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<IntervalDevice>,
    /// Results per operation.
    pub operations: BTreeMap<String, IntervalFigures>,
    /// Results per worker, in the order of the plan. Empty for a single worker, for more than 64
    /// workers, and in older records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<PartFigures>,
    /// Results per target, in the order of the plan. Empty under the same conditions as `workers`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<PartFigures>,
    /// Latency distribution per operation; absent if it was not kept.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, LatencyCounts>,
}

/// I/O of block devices in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntervalDevice {
    /// Read requests completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

/// Latency distribution, in four steps per power of two: step i counts latencies from 2^(i/4)
/// nanoseconds to below 2^((i+1)/4).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LatencyCounts {
    /// Step of the first element of `counts`.
    pub first_step: u32,
    /// Operations in each step, up to the highest step that has any.
    pub counts: Vec<u64>,
}

/// Number of steps per power of two.
// Coarser than the histogram of a cell, because every interval stores one per operation.
const STEPS_PER_OCTAVE: f64 = 4.0;
/// Number of steps that cover all 64-bit values.
const STEPS_MAX: usize = 256;

impl LatencyCounts {
    /// Distribution of a histogram; each bucket counts at its middle.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        let mut it = Self::default();
        for bucket in histogram.buckets() {
            let middle_ns = bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2;
            // At least 1 ns, because 0 has no logarithm.
            let step = (middle_ns.max(1) as f64).log2() * STEPS_PER_OCTAVE;
            // A 64-bit value has fewer than 256 steps.
            let step = step as u32;
            if it.counts.is_empty() {
                it.first_step = step;
            }
            let index = step.saturating_sub(it.first_step) as usize;
            it.counts.resize(it.counts.len().max(index + 1), 0);
            it.counts[index] += bucket.count;
        }
        it
    }
}

impl LatencyCounts {
    /// Adds the counts of another distribution. Invalid ones, with steps beyond 64-bit values, are
    /// ignored.
    pub fn merge(&mut self, other: &Self) {
        let is_within = |it: &Self| {
            let steps = (it.first_step as usize).saturating_add(it.counts.len());
            !it.counts.is_empty() && steps <= STEPS_MAX
        };
        // Counts come from other processes: an invalid step must not decide how much memory is
        // allocated.
        if !is_within(other) {
            return;
        }
        if !is_within(self) {
            self.clone_from(other);
            return;
        }
        let first = self.first_step.min(other.first_step);
        let before = (self.first_step - first) as usize;
        self.counts.splice(0..0, std::iter::repeat_n(0, before));
        self.first_step = first;
        let offset = (other.first_step - first) as usize;
        let length = self.counts.len().max(offset + other.counts.len());
        self.counts.resize(length, 0);
        for (sum, count) in self.counts[offset..].iter_mut().zip(&other.counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    /// Latency percentile in nanoseconds: the middle of its step, at most 10 % off. `None` if
    /// nothing was counted.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let all = self.counts.iter().copied().fold(0, u64::saturating_add);
        if all == 0 {
            return None;
        }
        // The rank as for exact histograms: ceil(p/100 x n).
        let rank = (percent * all as f64 / 100.0).ceil().clamp(1.0, all as f64) as u64;
        let mut below = 0_u64;
        let index = self.counts.iter().position(|count| {
            below = below.saturating_add(*count);
            below >= rank
        });
        let step = f64::from(self.first_step) + index? as f64 + 0.5;
        Some((step / STEPS_PER_OCTAVE).exp2() as u64)
    }
}

impl IntervalRecord {
    /// `true` if intervals list this number of workers or targets separately: from 2 to 64.
    #[must_use]
    pub const fn lists_separately(count: usize) -> bool {
        count >= 2 && count <= PARTS_MAX
    }

    /// Adds the latency distributions of the interval.
    #[must_use]
    pub fn with_latencies(mut self, interval: &Interval, names: CounterNames) -> Self {
        let operations = interval.operations();
        let measured = operations.filter(|(_, counter)| !counter.latency().is_empty());
        let counts = |(index, counter): (usize, &Counter)| {
            let counts = LatencyCounts::of(counter.latency());
            (CounterNames::of(names.operations, index), counts)
        };
        self.latencies = measured.map(counts).collect();
        self
    }

    /// Results of an interval, without latency distributions.
    #[must_use]
    pub fn of(interval: &Interval, names: CounterNames) -> Self {
        let operations = interval
            .operations()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(index, counter)| {
                let latency = counter.latency();
                let figures = IntervalFigures {
                    count: counter.count(),
                    bytes: counter.bytes(),
                    errors: counter.errors(),
                    p50_ns: latency.percentile(50.0),
                    p99_ns: latency.percentile(99.0),
                    max_ns: latency.max_ns(),
                };
                (CounterNames::of(names.operations, index), figures)
            })
            .collect();
        Self {
            at_ns: interval.at_ns,
            length_ns: interval.length_ns,
            operations,
            ..Self::default()
        }
    }
}

/// Results of one worker, or on one target, in an interval: all operations together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PartFigures {
    /// Operations that succeeded.
    pub count: u64,
    /// Bytes moved.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// Operations that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Largest latency, in nanoseconds; 0 if none was measured.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_ns: u64,
}

impl PartFigures {
    /// Results from the counters of an interval.
    #[must_use]
    pub fn of(interval: &Interval) -> Self {
        let mut it = Self::default();
        for (_, counter) in interval.operations() {
            it.merge(&Self {
                count: counter.count(),
                bytes: counter.bytes(),
                errors: counter.errors(),
                max_ns: counter.latency().max_ns().unwrap_or(0),
            });
        }
        it
    }

    /// Adds results of another worker or of a later time.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors = self.errors.saturating_add(other.errors);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// Results of one operation in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntervalFigures {
    /// Operations that succeeded.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Median latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Largest latency, in nanoseconds.
    pub max_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_counts_have_four_steps_per_octave() {
        let mut histogram = Histogram::new();
        assert_eq!(LatencyCounts::of(&histogram), LatencyCounts::default());
        // 2^10 and its neighbors: 1024 ns begins step 40, 1218 ns step 41, 2048 ns step 44.
        for (ns, count) in [(1030, 3), (1300, 2), (2070, 7)] {
            histogram.record_n(ns, count);
        }
        let counts = LatencyCounts::of(&histogram);
        assert_eq!(
            (counts.first_step, counts.counts),
            (40, vec![3, 2, 0, 0, 7])
        );
        histogram.record_n(0, 1);
        histogram.record_n(u64::MAX, 1);
        let counts = LatencyCounts::of(&histogram);
        assert_eq!(counts.first_step, 0);
        assert_eq!(counts.counts.iter().sum::<u64>(), histogram.count());
    }
}
