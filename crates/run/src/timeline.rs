//! Finished intervals of a measurement, in order: fine ones for the record, and merged ones of
//! about a second for live displays.

use results::{CounterNames, IntervalRecord};
use stats::{Counter, Histogram, Interval};

use crate::figures::operation_names;
use crate::sample::Sample;
use crate::shares::Shares;
use crate::times::{INTERVAL_COUNT, IntervalSteps};

/// One interval over all lanes.
#[derive(Clone, Default)]
pub(crate) struct Slice {
    pub counted: Interval,
    /// Results of the interval by worker and by target.
    shares: Shares,
    /// `true` if its ends come from samples of about the interval's length that were in time. A
    /// sample lengthened by a stall counts too, but its ends do not show when the other lanes
    /// counted.
    is_regular: bool,
}

/// Finished intervals of a cell.
pub(crate) struct Timeline {
    steps: IntervalSteps,
    /// Number of handed-over intervals per interval of the record.
    merged_count: i64,
    /// Newest intervals of the record, with the index of their first slice. While merging is still
    /// possible, these are all intervals.
    open: Vec<(i64, Slice)>,
    /// Earlier intervals of the record.
    intervals: Vec<IntervalRecord>,
    indexes: Vec<i64>,
    /// Next interval to report and its number, still being added to.
    next_report: Option<(i64, Slice)>,
    /// Counts that came too late for the last reported interval.
    late: Slice,
    reported: Vec<IntervalRecord>,
    /// Last interval that was reported, or that ended in the ramp, for live results.
    pub latest: Option<Slice>,
    /// End of the last finished interval, in nanoseconds of the clock.
    finished_ns: u64,
    measure_ns: u64,
}

impl Timeline {
    /// Creates an empty timeline.
    pub fn new(steps: IntervalSteps) -> Self {
        Self {
            steps,
            merged_count: 1,
            open: Vec::new(),
            intervals: Vec::new(),
            indexes: Vec::new(),
            next_report: None,
            late: Slice::default(),
            reported: Vec::new(),
            latest: None,
            finished_ns: 0,
            measure_ns: 0,
        }
    }

    /// Sets the start of the measurement, in nanoseconds of the clock.
    pub fn set_measure_start(&mut self, measure_ns: u64) {
        self.measure_ns = measure_ns;
    }

    /// Adds the next slice; `index` is above all earlier ones, and negative in the ramp.
    pub fn finish(&mut self, index: i64, mut slice: Slice) {
        if index >= 0 {
            let counted = &mut slice.counted;
            let end_ns = counted.end_ns();
            // All of the slice's time belongs to intervals that are finished.
            if end_ns <= self.finished_ns {
                self.count(&slice);
                return;
            }
            // Intervals of the record must not overlap.
            let at_ns = counted.at_ns.max(self.finished_ns);
            (counted.at_ns, counted.length_ns) = (at_ns, end_ns - at_ns);
            self.finished_ns = end_ns;
            self.keep(index, slice.clone());
        }
        self.tell(index, slice);
    }

    /// Takes the unreported intervals of the measurement, of about a second each.
    pub fn take_unreported(&mut self) -> Vec<IntervalRecord> {
        std::mem::take(&mut self.reported)
    }

    /// Takes the intervals of the record, which do not overlap, and the index of the first slice of
    /// each, in ascending order.
    pub fn take(&mut self) -> (Vec<IntervalRecord>, Vec<i64>) {
        for (index, slice) in std::mem::take(&mut self.open) {
            self.close(index, &slice);
        }
        let intervals = std::mem::take(&mut self.intervals);
        (intervals, std::mem::take(&mut self.indexes))
    }

    /// Counts a slice without any time left in the last finished interval.
    fn count(&mut self, slice: &Slice) {
        if let Some((_, last)) = self.open.last_mut() {
            last.absorb(slice);
            match &mut self.next_report {
                Some((_, telling)) => telling.absorb(slice),
                None => self.late.absorb(slice),
            }
        }
    }

    fn keep(&mut self, index: i64, slice: Slice) {
        self.add(index, slice);
        if self.merged_count == self.steps.merged_count_max {
            // The last interval may still get counts.
            let end = self.open.len() - 1;
            for (index, slice) in self.open.drain(..end).collect::<Vec<_>>() {
                self.close(index, &slice);
            }
            return;
        }
        // Merges at twice the planned number, so that half of them are enough.
        while self.open.len() as u64 > 2 * INTERVAL_COUNT
            && self.merged_count < self.steps.merged_count_max
        {
            self.merged_count *= 2;
            for (index, slice) in std::mem::take(&mut self.open) {
                self.add(index, slice);
            }
        }
    }

    /// Adds a slice to its interval of the record.
    fn add(&mut self, index: i64, slice: Slice) {
        // A multiple of `merged_count`, so that doubling always joins whole intervals.
        let first = index - index.rem_euclid(self.merged_count);
        match self.open.last_mut() {
            Some((last, open)) if *last == first => open.extend(&slice),
            _ => self.open.push((first, slice)),
        }
    }

    fn close(&mut self, index: i64, slice: &Slice) {
        self.indexes.push(index);
        self.intervals.push(self.record(slice));
    }

    fn tell(&mut self, index: i64, slice: Slice) {
        let count = self.steps.count_per_second();
        // Euclidean, because indexes are negative in the ramp.
        let number = index.div_euclid(count);
        // Slices end at clock readings, so neighbors may be slightly apart.
        let gap_ns = self.steps.length_ns / 2;
        match &mut self.next_report {
            // Time that was left out must not become part of an interval.
            Some((last, telling))
                if *last == number && slice.counted.at_ns <= telling.counted.end_ns() + gap_ns =>
            {
                telling.extend(&slice);
            }
            _ => {
                self.report_open_slice();
                self.next_report = Some((number, slice));
            }
        }
        if index.rem_euclid(count) == count - 1 {
            self.report_open_slice();
        }
    }

    fn report_open_slice(&mut self) {
        let Some((number, mut slice)) = self.next_report.take() else {
            return;
        };
        if number >= 0 {
            slice.absorb(&std::mem::take(&mut self.late));
            self.reported.push(self.record(&slice));
        }
        self.latest = Some(slice);
    }

    fn record(&self, slice: &Slice) -> IntervalRecord {
        let operations = operation_names();
        let names = CounterNames {
            operations: &operations,
            transactions: &[],
        };
        let counted = &slice.counted;
        let mut record = IntervalRecord::of(counted, names).with_latencies(counted, names);
        record.at_ns = record.at_ns.saturating_sub(self.measure_ns);
        slice.shares.put_into(&mut record);
        record
    }
}

impl Slice {
    pub fn of(sample: &Sample, shares: Shares, is_regular: bool) -> Self {
        let mut slice = Self {
            counted: Interval::default(),
            shares,
            is_regular,
        };
        slice.counted.at_ns = sample.at_ns;
        slice.counted.length_ns = sample.length_ns;
        sample.spans.iter().for_each(|span| slice.merge(span));
        slice
    }

    pub fn add(&mut self, sample: &Sample, shares: &Shares, is_regular: bool) {
        sample.spans.iter().for_each(|span| self.merge(span));
        self.shares.merge(shares);
        if self.is_regular && !is_regular {
            return;
        }
        let (mut at_ns, mut end_ns) = (sample.at_ns, sample.end_ns());
        if self.is_regular == is_regular {
            at_ns = at_ns.min(self.counted.at_ns);
            end_ns = end_ns.max(self.counted.end_ns());
        }
        self.is_regular = is_regular;
        (self.counted.at_ns, self.counted.length_ns) = (at_ns, end_ns - at_ns);
    }

    /// Adds the next slice.
    fn extend(&mut self, next: &Self) {
        self.counted.merge(&next.counted);
        self.shares.merge(&next.shares);
    }

    /// Adds the counters of a slice without time.
    fn absorb(&mut self, late: &Self) {
        self.merge(&late.counted);
        self.shares.merge(&late.shares);
    }

    /// Adds the counters and keeps the ends.
    fn merge(&mut self, counted: &Interval) {
        let ends = (self.counted.at_ns, self.counted.length_ns);
        self.counted.merge(counted);
        (self.counted.at_ns, self.counted.length_ns) = ends;
    }

    /// Results for live displays.
    pub fn live(&self, by_transaction: bool) -> LiveRates {
        let mut total = self.counted.total();
        let (bytes, errors) = (total.bytes(), total.errors());
        if by_transaction {
            total = Counter::new();
            self.counted
                .transactions()
                .iter()
                .for_each(|it| total.merge(it));
        }
        let seconds = self.counted.length_ns.max(1) as f64 / 1e9;
        let rate = |amount: u64| amount as f64 / seconds;
        let latency = total.latency();
        LiveRates {
            per_second: rate(total.count()),
            bytes_per_second: rate(bytes),
            p50_ns: latency.percentile(50.0),
            p99_ns: latency.percentile(99.0),
            octaves: octaves(latency),
            errors,
        }
    }
}

/// Live results over about a second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LiveRates {
    /// Operations per second, or transactions per second in phases that count those.
    pub per_second: f64,
    pub bytes_per_second: f64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    /// As in [`RunEvent::Progress`](results::RunEvent::Progress).
    pub octaves: Vec<u64>,
    pub errors: u64,
}

impl LiveRates {
    /// Results before the first interval. The rates are NaN, because 0 would look like a measured
    /// rate.
    pub fn unknown() -> Self {
        Self {
            per_second: f64::NAN,
            bytes_per_second: f64::NAN,
            p50_ns: None,
            p99_ns: None,
            octaves: Vec::new(),
            errors: 0,
        }
    }
}

/// Number of latencies in each octave of nanoseconds, the shortest first.
fn octaves(latency: &Histogram) -> Vec<u64> {
    let mut octaves = Vec::new();
    for bucket in latency.buckets() {
        let octave = bucket.low_ns.max(1).ilog2() as usize;
        octaves.resize(octaves.len().max(octave + 1), 0);
        octaves[octave] += bucket.count;
    }
    octaves
}

#[cfg(test)]
mod tests;
