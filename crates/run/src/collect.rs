//! Monitor side of the sample exchange: sums the workers' samples by lane and by interval.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use results::{CounterNames, IntervalRecord};
use stats::Interval;

use crate::agreement::PeerAgreement;
use crate::figures::operation_names;
use crate::goals::GoalWatch;
use crate::outcome::WorkerOutcome;
use crate::rounds::Rounds;
use crate::sample::{Inbox, Sample};
use crate::shares::LaneParts;
use crate::standstill::StandstillSpan;
use crate::timeline::{Slice, Timeline};
use crate::times::IntervalSteps;
use crate::waits::WaitSeries;

/// All that the workers of a cell have counted so far.
pub(crate) struct CollectedCounts {
    inboxes: Vec<Inbox>,
    /// Totals of the measurement, by lane and then by span of the lane.
    pub lanes: Vec<Vec<Interval>>,
    pending: BTreeMap<i64, Slice>,
    /// Finished intervals.
    pub timeline: Timeline,
    /// Transactions so far, failed ones included.
    pub transactions: u64,
    /// Rounds; `None` unless the cell is measured until it is steady.
    pub rounds: Option<Rounds>,
    /// Time that the lanes' threads waited for a CPU.
    pub waits: WaitSeries,
    /// Standstills of the whole process.
    pub standstills: Vec<StandstillSpan>,
    /// `true` if samples that touch a standstill are left out.
    pub excludes_standstills: bool,
    /// Time left out of each lane's measurement, in nanoseconds.
    pub excluded_ns: Vec<u64>,
    /// Goals of the lanes' jobs.
    pub goals: GoalWatch,
    /// Worker and targets that each lane counts for.
    pub lane_parts: LaneParts,
    /// Intervals of each lane; empty unless they are kept.
    pub series: Vec<Vec<IntervalRecord>>,
    /// End of each lane's newest sample, in nanoseconds of the clock.
    lane_ends_ns: Vec<u64>,
    /// Time for which each lane has been measured, in nanoseconds.
    measured_ns: Vec<u64>,
    /// Index of the last finished slice; slices of the ramp have negative indexes.
    finished_index: i64,
    interval_ns: u64,
    measure_ns: u64,
}

impl CollectedCounts {
    /// `shapes` has one empty sample per lane; the measurement starts at about `measure_ns`.
    pub fn new(inboxes: Vec<Inbox>, shapes: Vec<Sample>, steps: IntervalSteps) -> Self {
        Self {
            waits: WaitSeries::default(),
            standstills: Vec::new(),
            excludes_standstills: false,
            excluded_ns: vec![0; inboxes.len()],
            goals: GoalWatch::default(),
            lane_parts: LaneParts::default(),
            series: Vec::new(),
            lane_ends_ns: vec![0; inboxes.len()],
            measured_ns: vec![0; inboxes.len()],
            inboxes,
            lanes: shapes.into_iter().map(|shape| shape.spans).collect(),
            pending: BTreeMap::new(),
            timeline: Timeline::new(steps),
            transactions: 0,
            rounds: None,
            finished_index: i64::MIN,
            interval_ns: steps.length_ns,
            measure_ns: 0,
        }
    }

    /// Keeps the intervals of each lane in addition to the merged ones.
    pub fn keep_series(&mut self) {
        self.series = vec![Vec::new(); self.lanes.len()];
    }

    /// Sets the start of the measurement, in nanoseconds of the clock.
    pub fn set_measure_start(&mut self, measure_ns: u64) {
        self.measure_ns = measure_ns;
        self.timeline.set_measure_start(measure_ns);
    }

    /// Takes the samples that were handed over, and returns them to the workers after use.
    pub fn collect(&mut self) {
        for lane_index in 0..self.inboxes.len() {
            while let Ok(sample) = self.inboxes[lane_index].full.pop() {
                self.add(lane_index, &sample);
                // A lane has two samples, and the queue has room for two.
                let _ = self.inboxes[lane_index].empty.push(sample);
            }
        }
        self.finish_complete();
    }

    /// `true` if every working lane has handed over the interval that ended around `time_ns`, in
    /// nanoseconds of the clock. A lane that has handed over nothing has not started.
    pub fn reaches(&self, time_ns: u64) -> bool {
        let mut lanes = self.lane_ends_ns.iter().zip(&self.inboxes);
        lanes.all(|(end_ns, inbox)| {
            // Workers end their intervals at a clock reading close to the planned time.
            let is_near = end_ns.saturating_add(self.interval_ns / 2) >= time_ns;
            *end_ns == 0 || is_near || inbox.full.is_abandoned()
        })
    }

    /// Outcome of a lane as if it had ended with its newest sample.
    pub fn outcome_so_far(&self, lane_index: usize) -> WorkerOutcome {
        WorkerOutcome {
            measured_ns: self.measured_ns[lane_index],
            finish_ns: self.lane_ends_ns[lane_index],
            ..WorkerOutcome::default()
        }
    }

    /// Judges the complete rounds, of all processes if several share the run. Returns the number of
    /// rounds judged.
    pub fn judge(&mut self, meeting: Option<&dyn PeerAgreement>) -> usize {
        let rounds = self.rounds.as_mut();
        rounds.map_or(0, |rounds| rounds.judge(self.finished_index, meeting))
    }

    /// `true` if no further round is needed.
    pub fn is_decided(&self) -> bool {
        self.rounds.as_ref().is_some_and(Rounds::is_decided)
    }

    /// Adds the sample that a lane had not handed over when it ended.
    pub fn add_rest(&mut self, lane_index: usize, outcome: &WorkerOutcome) {
        let rest = &outcome.last_sample;
        let is_empty = rest.length_ns == 0 && rest.spans.iter().all(Interval::is_empty);
        if outcome.measured_ns > 0 && !is_empty {
            self.add(lane_index, &outcome.last_sample);
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
            self.excluded_ns[lane_index] += u64::from(!sample.ramp) * sample.length_ns;
            return;
        }
        if !sample.ramp {
            for (total, counted) in self.lanes[lane_index].iter_mut().zip(&sample.spans) {
                total.merge(counted);
                let kinds = counted.transactions().iter();
                self.transactions += kinds.map(|kind| kind.count() + kind.errors()).sum::<u64>();
            }
        }
        self.measured_ns[lane_index] += u64::from(!sample.ramp) * sample.length_ns;
        self.add_to_series(lane_index, sample);
        self.lane_ends_ns[lane_index] = sample.end_ns();
        let own_index = self.interval_index(sample);
        // Finished intervals were already reported and stored, so late samples count in the next
        // one.
        let index = own_index.max(self.finished_index.saturating_add(1));
        // A late sample of the ramp must not count in the measurement.
        if sample.ramp && index >= 0 {
            return;
        }
        if let Some(rounds) = self.rounds.as_mut().filter(|_| !sample.ramp) {
            rounds.add(lane_index, index, sample);
        }
        // Longer than 1.5 intervals are samples of a stall, or of a monitor that was late.
        let is_regular = index == own_index && sample.length_ns / 3 < self.interval_ns / 2;
        let shares = self.lane_parts.shares(lane_index, sample);
        match self.pending.entry(index) {
            Entry::Vacant(place) => {
                place.insert(Slice::of(sample, shares, is_regular));
            }
            Entry::Occupied(mut slice) => slice.get_mut().add(sample, &shares, is_regular),
        }
    }

    fn add_to_series(&mut self, lane_index: usize, sample: &Sample) {
        let Some(series) = self.series.get_mut(lane_index).filter(|_| !sample.ramp) else {
            return;
        };
        let mut all = Interval::default();
        sample.spans.iter().for_each(|span| all.merge(span));
        let names = CounterNames {
            operations: &operation_names(),
            transactions: &[],
        };
        series.push(IntervalRecord {
            at_ns: sample.at_ns.saturating_sub(self.measure_ns),
            length_ns: sample.length_ns,
            ..IntervalRecord::of(&all, names)
        });
    }

    /// `true` if the sample touches a standstill and is left out.
    fn is_left_out(&self, sample: &Sample) -> bool {
        let mut standstills = self.standstills.iter();
        self.excludes_standstills && standstills.any(|it| it.touches(sample.at_ns, sample.end_ns()))
    }

    /// Index of the interval that contains the middle of the sample. A sample of the ramp never
    /// counts in an interval of the measurement.
    fn interval_index(&self, sample: &Sample) -> i64 {
        // A sample ends at the first clock reading after its interval, so both of its ends may be
        // outside.
        let middle_ns = (sample.at_ns + sample.length_ns / 2) as i64;
        let index = (middle_ns - self.measure_ns as i64).div_euclid(self.interval_ns as i64);
        if sample.ramp {
            index.min(-1)
        } else {
            index.max(0)
        }
    }

    /// Finishes every interval that no lane can add to, or that is at least two older than the
    /// newest.
    fn finish_complete(&mut self) {
        let Some(newest) = self.pending.keys().next_back().copied() else {
            return;
        };
        // A lane's next sample starts where its last one ended.
        let all_until_ns = self.lane_ends_ns.iter().min().copied().unwrap_or(u64::MAX);
        let all_until_ns = all_until_ns as i64 - self.measure_ns as i64;
        let open_index = all_until_ns.div_euclid(self.interval_ns as i64);
        while let Some(first) = self.pending.first_entry() {
            // A lane that stalls must not hold back the intervals of all others.
            if *first.key() >= open_index && *first.key() > newest - 2 {
                break;
            }
            let (index, slice) = first.remove_entry();
            self.finish(index, slice);
        }
    }

    fn finish(&mut self, index: i64, slice: Slice) {
        self.finished_index = index;
        self.timeline.finish(index, slice);
    }
}

#[cfg(test)]
mod tests;
