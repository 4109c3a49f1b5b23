//! What is finished of a measurement, in order: finely for the record, merged to about a second
//! for whoever looks on.

use results::{IntervalRecord, Names};
use stats::{Counter, Histogram, Interval};

use crate::figures::operation_names;
use crate::sample::Sample;
use crate::shares::Shares;
use crate::times::{PARTS, Steps};

/// One interval over all lanes.
#[derive(Clone, Default)]
pub(crate) struct Slice {
    pub counted: Interval,
    /// What the parts of the cell did of it.
    shares: Shares,
    /// Whether its ends are those of samples that last about an interval and came in time. One
    /// that a lane's stall made longer counts, but says nothing of when the others counted.
    is_regular: bool,
}

/// The finished intervals of a cell.
pub(crate) struct Timeline {
    steps: Steps,
    /// So many of those that were handed over are one of the record.
    together: i64,
    /// The newest of the record with the index that each begins with; of all where they may still
    /// be merged.
    open: Vec<(i64, Slice)>,
    /// Those before them.
    intervals: Vec<IntervalRecord>,
    indexes: Vec<i64>,
    /// What makes up the next that is told, and which one that is.
    telling: Option<(i64, Slice)>,
    /// What came too late for the one that was told.
    owed: Slice,
    told: Vec<IntervalRecord>,
    /// The newest that was told, or of the ramp would have been, for live figures.
    pub latest: Option<Slice>,
    /// When the last finished one ended, in nanoseconds of the clock.
    finished_ns: u64,
    measure_ns: u64,
}

impl Timeline {
    /// Nothing yet.
    pub fn new(steps: Steps) -> Self {
        Self {
            steps,
            together: 1,
            open: Vec::new(),
            intervals: Vec::new(),
            indexes: Vec::new(),
            telling: None,
            owed: Slice::default(),
            told: Vec::new(),
            latest: None,
            finished_ns: 0,
            measure_ns: 0,
        }
    }

    /// Tells when the measurement begins, in nanoseconds of the clock.
    pub fn set_measure_start(&mut self, measure_ns: u64) {
        self.measure_ns = measure_ns;
    }

    /// Takes the slice of this index, above all before it; those of the ramp are below 0.
    pub fn finish(&mut self, index: i64, mut slice: Slice) {
        if index >= 0 {
            let counted = &mut slice.counted;
            let end_ns = counted.end_ns();
            if end_ns <= self.finished_ns {
                self.count(&slice);
                return;
            }
            let at_ns = counted.at_ns.max(self.finished_ns);
            (counted.at_ns, counted.length_ns) = (at_ns, end_ns - at_ns);
            self.finished_ns = end_ns;
            self.keep(index, slice.clone());
        }
        self.tell(index, slice);
    }

    /// What was not told yet of the measurement: about a second each.
    pub fn take_told(&mut self) -> Vec<IntervalRecord> {
        std::mem::take(&mut self.told)
    }

    /// The intervals of the record, each beginning where the one before it ends, or later, and
    /// which of those handed over each begins with, ascending.
    pub fn take(&mut self) -> (Vec<IntervalRecord>, Vec<i64>) {
        for (index, slice) in std::mem::take(&mut self.open) {
            self.close(index, &slice);
        }
        let intervals = std::mem::take(&mut self.intervals);
        (intervals, std::mem::take(&mut self.indexes))
    }

    /// Counts what has no time of its own left in the last finished interval.
    fn count(&mut self, slice: &Slice) {
        if let Some((_, last)) = self.open.last_mut() {
            last.absorb(slice);
            match &mut self.telling {
                Some((_, telling)) => telling.absorb(slice),
                None => self.owed.absorb(slice),
            }
        }
    }

    fn keep(&mut self, index: i64, slice: Slice) {
        self.add(index, slice);
        if self.together == self.steps.together_max {
            // The last may still get counts.
            let end = self.open.len() - 1;
            for (index, slice) in self.open.drain(..end).collect::<Vec<_>>() {
                self.close(index, &slice);
            }
            return;
        }
        // Twice as many as there are to be, so that half of them are enough.
        while self.open.len() as u64 > 2 * PARTS && self.together < self.steps.together_max {
            self.together *= 2;
            for (index, slice) in std::mem::take(&mut self.open) {
                self.add(index, slice);
            }
        }
    }

    /// Adds to the interval of the record that this index belongs to.
    fn add(&mut self, index: i64, slice: Slice) {
        let first = index - index.rem_euclid(self.together);
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
        let count = self.steps.to_a_second();
        let number = index.div_euclid(count);
        let gap_ns = self.steps.length_ns / 2;
        match &mut self.telling {
            // Time that was left out is in no interval.
            Some((last, telling))
                if *last == number && slice.counted.at_ns <= telling.counted.end_ns() + gap_ns =>
            {
                telling.extend(&slice);
            }
            _ => {
                self.tell_at_hand();
                self.telling = Some((number, slice));
            }
        }
        if index.rem_euclid(count) == count - 1 {
            self.tell_at_hand();
        }
    }

    fn tell_at_hand(&mut self) {
        let Some((number, mut slice)) = self.telling.take() else {
            return;
        };
        if number >= 0 {
            slice.absorb(&std::mem::take(&mut self.owed));
            self.told.push(self.record(&slice));
        }
        self.latest = Some(slice);
    }

    fn record(&self, slice: &Slice) -> IntervalRecord {
        let operations = operation_names();
        let names = Names {
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

    /// Adds one that follows.
    fn extend(&mut self, next: &Self) {
        self.counted.merge(&next.counted);
        self.shares.merge(&next.shares);
    }

    /// Adds the counters of one that has no time of its own.
    fn absorb(&mut self, late: &Self) {
        self.merge(&late.counted);
        self.shares.merge(&late.shares);
    }

    /// Adds the counters, which do not change its ends.
    fn merge(&mut self, counted: &Interval) {
        let ends = (self.counted.at_ns, self.counted.length_ns);
        self.counted.merge(counted);
        (self.counted.at_ns, self.counted.length_ns) = ends;
    }

    /// What displays show of it.
    pub fn live(&self, by_transaction: bool) -> Live {
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
        Live {
            per_second: rate(total.count()),
            bytes_per_second: rate(bytes),
            p50_ns: latency.percentile(50.0),
            p99_ns: latency.percentile(99.0),
            octaves: octaves(latency),
            errors,
        }
    }
}

/// Figures of about a second, for whoever looks on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    /// Operations, or transactions where those are counted, each second.
    pub per_second: f64,
    pub bytes_per_second: f64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    /// As those of [`RunEvent::Progress`](results::RunEvent::Progress).
    pub octaves: Vec<u64>,
    pub errors: u64,
}

impl Live {
    /// Before there is anything to show: a rate of 0 would be one that nobody measured.
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

/// How many latencies lie in each octave of nanoseconds, the shortest first.
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
