//! The monitor's side: what the workers hand over, added up by lane and by interval.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use results::{IntervalRecord, Names};
use stats::{Counter, Interval};

use crate::figures::operation_names;
use crate::recorder::{Inbox, Outcome, Sample};
use crate::rounds::Rounds;
use crate::standstill::Still;
use crate::waits::WaitSeries;

/// Everything that the workers of a cell have counted so far.
pub(crate) struct Collection {
    inboxes: Vec<Inbox>,
    /// Totals of the measurement: by lane, then by the lane's span.
    pub lanes: Vec<Vec<Interval>>,
    pending: BTreeMap<i64, Slice>,
    /// Finished intervals, in order: each begins where the one before it ends, or later.
    pub intervals: Vec<IntervalRecord>,
    /// Which intervals of the measurement they are, ascending.
    pub indexes: Vec<i64>,
    /// The newest finished slice of the ramp or the measurement, for live figures.
    pub latest: Option<Slice>,
    /// Transactions so far, failed ones included.
    pub transactions: u64,
    /// Where the cell is measured until it is steady.
    pub rounds: Option<Rounds>,
    /// How long the lanes' threads waited for a processor.
    pub waits: WaitSeries,
    /// When everything stood still.
    pub stills: Vec<Still>,
    /// Whether what such a time touches is left out.
    pub leaves_out: bool,
    /// How much was left out of each lane's measurement, in nanoseconds.
    pub left_out_ns: Vec<u64>,
    /// When the newest sample of each lane ended, in nanoseconds of the clock.
    lane_ends_ns: Vec<u64>,
    /// Index of the last slice that was finished; those of the ramp are below 0.
    finished_index: i64,
    /// When the last finished interval ended, in nanoseconds of the clock.
    finished_ns: u64,
    interval_ns: u64,
    measure_ns: u64,
}

/// One interval over all lanes.
#[derive(Clone)]
pub(crate) struct Slice {
    pub counted: Interval,
    /// Whether its ends are those of samples that last about an interval and came in time. One
    /// that a lane's stall made longer counts, but says nothing of when the others counted.
    is_regular: bool,
}

impl Collection {
    /// `shapes` has one empty sample for each lane; the measurement begins at about `measure_ns`.
    pub fn new(inboxes: Vec<Inbox>, shapes: Vec<Sample>, interval_ns: u64) -> Self {
        Self {
            waits: WaitSeries::default(),
            stills: Vec::new(),
            leaves_out: false,
            left_out_ns: vec![0; inboxes.len()],
            lane_ends_ns: vec![0; inboxes.len()],
            inboxes,
            lanes: shapes.into_iter().map(|shape| shape.spans).collect(),
            pending: BTreeMap::new(),
            intervals: Vec::new(),
            indexes: Vec::new(),
            latest: None,
            transactions: 0,
            rounds: None,
            finished_index: i64::MIN,
            finished_ns: 0,
            interval_ns,
            measure_ns: 0,
        }
    }

    /// Tells when the measurement begins, in nanoseconds of the clock.
    pub fn set_measure_start(&mut self, measure_ns: u64) {
        self.measure_ns = measure_ns;
    }

    /// Takes what has been handed over, gives the samples back, and returns how many intervals
    /// were finished by it.
    pub fn collect(&mut self) -> usize {
        let before = self.intervals.len();
        for lane_index in 0..self.inboxes.len() {
            while let Ok(sample) = self.inboxes[lane_index].full.pop() {
                self.add(lane_index, &sample);
                // There are two samples and two places.
                let _ = self.inboxes[lane_index].empty.push(sample);
            }
        }
        self.finish_complete();
        self.intervals.len() - before
    }

    /// Judges the rounds that are complete; returns how many were judged by it.
    pub fn judge(&mut self) -> usize {
        let rounds = self.rounds.as_mut();
        rounds.map_or(0, |rounds| rounds.judge(self.finished_index))
    }

    /// Whether no further round is needed.
    pub fn is_decided(&self) -> bool {
        self.rounds.as_ref().is_some_and(Rounds::is_decided)
    }

    /// Takes what a lane had not handed over when it ended.
    pub fn add_rest(&mut self, lane_index: usize, outcome: &Outcome) {
        let rest = &outcome.rest;
        let is_empty = rest.length_ns == 0 && rest.spans.iter().all(Interval::is_empty);
        if outcome.measured_ns > 0 && !is_empty {
            self.add(lane_index, &outcome.rest);
        }
    }

    /// Finishes all intervals.
    pub fn close(&mut self) {
        while let Some((index, slice)) = self.pending.pop_first() {
            self.finish(index, slice);
        }
    }

    fn add(&mut self, lane_index: usize, sample: &Sample) {
        if self.is_left_out(sample) {
            self.lane_ends_ns[lane_index] = sample.end_ns();
            self.left_out_ns[lane_index] += u64::from(!sample.ramp) * sample.length_ns;
            return;
        }
        if !sample.ramp {
            for (total, counted) in self.lanes[lane_index].iter_mut().zip(&sample.spans) {
                total.merge(counted);
                let kinds = counted.transactions().iter();
                self.transactions += kinds.map(|kind| kind.count() + kind.errors()).sum::<u64>();
            }
        }
        self.lane_ends_ns[lane_index] = sample.end_ns();
        let own_index = self.own_index(sample);
        // What is finished was told and stored, so what comes later counts in the next one.
        let index = own_index.max(self.finished_index.saturating_add(1));
        if sample.ramp && index >= 0 {
            return;
        }
        if let Some(rounds) = self.rounds.as_mut().filter(|_| !sample.ramp) {
            rounds.add(lane_index, index, sample);
        }
        let is_regular = index == own_index && sample.length_ns / 3 < self.interval_ns / 2;
        match self.pending.entry(index) {
            Entry::Vacant(place) => {
                place.insert(Slice::of(sample, is_regular));
            }
            Entry::Occupied(mut slice) => slice.get_mut().add(sample, is_regular),
        }
    }

    /// Whether a standstill is in what was counted.
    fn is_left_out(&self, sample: &Sample) -> bool {
        let mut stills = self.stills.iter();
        self.leaves_out && stills.any(|still| still.touches(sample.at_ns, sample.end_ns()))
    }

    /// The interval in which the sample's middle lies; one of the ramp is never one of the
    /// measurement.
    fn own_index(&self, sample: &Sample) -> i64 {
        let middle_ns = (sample.at_ns + sample.length_ns / 2) as i64;
        let index = (middle_ns - self.measure_ns as i64).div_euclid(self.interval_ns as i64);
        if sample.ramp {
            index.min(-1)
        } else {
            index.max(0)
        }
    }

    /// Finishes every interval to which no lane can add, or that is two behind the newest.
    fn finish_complete(&mut self) {
        let Some(newest) = self.pending.keys().next_back().copied() else {
            return;
        };
        // A lane's next sample begins where its last one ended.
        let all_until_ns = self.lane_ends_ns.iter().min().copied().unwrap_or(u64::MAX);
        let all_until_ns = all_until_ns as i64 - self.measure_ns as i64;
        let open_index = all_until_ns.div_euclid(self.interval_ns as i64);
        while let Some(first) = self.pending.first_entry() {
            if *first.key() >= open_index && *first.key() > newest - 2 {
                break;
            }
            let (index, slice) = first.remove_entry();
            self.finish(index, slice);
        }
    }

    fn finish(&mut self, index: i64, mut slice: Slice) {
        self.finished_index = index;
        let counted = &mut slice.counted;
        let end_ns = counted.end_ns();
        if index < 0 {
            self.latest = Some(slice);
            return;
        }
        if end_ns <= self.finished_ns {
            self.add_to_latest(&slice);
            return;
        }
        let at_ns = counted.at_ns.max(self.finished_ns);
        (counted.at_ns, counted.length_ns) = (at_ns, end_ns - at_ns);
        self.finished_ns = end_ns;
        self.indexes.push(index);
        self.intervals.push(self.record(&slice));
        self.latest = Some(slice);
    }

    /// Counts what has no time of its own left in the last finished interval.
    fn add_to_latest(&mut self, slice: &Slice) {
        let Some(mut latest) = self.latest.take() else {
            return;
        };
        latest.merge(&slice.counted);
        let record = self.record(&latest);
        if let Some(last) = self.intervals.last_mut() {
            *last = record;
        }
        self.latest = Some(latest);
    }

    fn record(&self, slice: &Slice) -> IntervalRecord {
        let operations = operation_names();
        let names = Names {
            operations: &operations,
            transactions: &[],
        };
        let mut record = IntervalRecord::of(&slice.counted, names);
        record.at_ns = record.at_ns.saturating_sub(self.measure_ns);
        record
    }
}

impl Slice {
    fn of(sample: &Sample, is_regular: bool) -> Self {
        let mut slice = Self {
            counted: Interval::default(),
            is_regular,
        };
        slice.counted.at_ns = sample.at_ns;
        slice.counted.length_ns = sample.length_ns;
        sample.spans.iter().for_each(|span| slice.merge(span));
        slice
    }

    fn add(&mut self, sample: &Sample, is_regular: bool) {
        sample.spans.iter().for_each(|span| self.merge(span));
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

    /// Adds the counters, which do not change its ends.
    fn merge(&mut self, counted: &Interval) {
        let ends = (self.counted.at_ns, self.counted.length_ns);
        self.counted.merge(counted);
        (self.counted.at_ns, self.counted.length_ns) = ends;
    }

    /// Operations, or transactions, and bytes each second, the 99th percentile, and errors.
    pub fn live(&self, by_transaction: bool) -> (f64, f64, Option<u64>, u64) {
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
        (
            rate(total.count()),
            rate(bytes),
            total.latency().percentile(99.0),
            errors,
        )
    }
}

#[cfg(test)]
mod tests;
