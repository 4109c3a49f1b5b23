//! The monitor's side: what the workers hand over, added up by lane and by interval.

use std::collections::BTreeMap;

use results::{IntervalRecord, Names};
use stats::{Counter, Interval};

use crate::figures::operation_names;
use crate::recorder::{Inbox, Outcome, Sample};
use crate::rounds::Rounds;

/// Everything that the workers of a cell have counted so far.
pub(crate) struct Collection {
    inboxes: Vec<Inbox>,
    /// Totals of the measurement: by lane, then by the lane's span.
    pub lanes: Vec<Vec<Interval>>,
    pending: BTreeMap<i64, Slice>,
    /// Finished intervals, in order.
    pub intervals: Vec<IntervalRecord>,
    /// The newest finished slice of the ramp or the measurement, for live figures.
    pub latest: Option<Slice>,
    /// Transactions so far, failed ones included.
    pub transactions: u64,
    /// Where the cell is measured until it is steady.
    pub rounds: Option<Rounds>,
    /// Index of the last interval that was finished.
    finished_index: i64,
    interval_ns: u64,
    measure_ns: u64,
}

/// One interval over all lanes.
#[derive(Clone)]
pub(crate) struct Slice {
    pub counted: Interval,
    lane_count: usize,
    ramp: bool,
}

impl Collection {
    /// `shapes` has one empty sample for each lane; the measurement begins at about `measure_ns`.
    pub fn new(inboxes: Vec<Inbox>, shapes: Vec<Sample>, interval_ns: u64) -> Self {
        Self {
            inboxes,
            lanes: shapes.into_iter().map(|shape| shape.spans).collect(),
            pending: BTreeMap::new(),
            intervals: Vec::new(),
            latest: None,
            transactions: 0,
            rounds: None,
            finished_index: -1,
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
        if outcome.measured_ns > 0 {
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
        if !sample.ramp {
            for (total, counted) in self.lanes[lane_index].iter_mut().zip(&sample.spans) {
                total.merge(counted);
                let kinds = counted.transactions().iter();
                self.transactions += kinds.map(|kind| kind.count() + kind.errors()).sum::<u64>();
            }
        }
        let middle_ns = (sample.at_ns + sample.length_ns / 2) as i64;
        let index = (middle_ns - self.measure_ns as i64).div_euclid(self.interval_ns as i64);
        if let Some(rounds) = self.rounds.as_mut().filter(|_| !sample.ramp) {
            rounds.add(lane_index, index, sample);
        }
        let slice = self.pending.entry(index).or_insert_with(|| Slice {
            counted: Interval::default(),
            lane_count: 0,
            ramp: sample.ramp,
        });
        slice.lane_count += 1;
        slice.ramp &= sample.ramp;
        for counted in &sample.spans {
            slice.counted.merge(counted);
        }
        let end_ns = (sample.at_ns + sample.length_ns).max(slice.counted.end_ns());
        let at_ns = match slice.lane_count {
            1 => sample.at_ns,
            _ => slice.counted.at_ns.min(sample.at_ns),
        };
        slice.counted.at_ns = at_ns;
        slice.counted.length_ns = end_ns - at_ns;
    }

    /// Finishes every interval to which all lanes have given, or that is two behind the newest.
    fn finish_complete(&mut self) {
        let lane_count = self.inboxes.len();
        let Some(newest) = self.pending.keys().next_back().copied() else {
            return;
        };
        while let Some(first) = self.pending.first_entry() {
            if first.get().lane_count < lane_count && *first.key() > newest - 2 {
                break;
            }
            let (index, slice) = first.remove_entry();
            self.finish(index, slice);
        }
    }

    fn finish(&mut self, index: i64, slice: Slice) {
        if !slice.ramp {
            self.finished_index = self.finished_index.max(index);
            let operations = operation_names();
            let names = Names {
                operations: &operations,
                transactions: &[],
            };
            let mut record = IntervalRecord::of(&slice.counted, names);
            record.at_ns = record.at_ns.saturating_sub(self.measure_ns);
            self.intervals.push(record);
        }
        self.latest = Some(slice);
    }
}

impl Slice {
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
