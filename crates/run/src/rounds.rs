//! Rounds of a cell that is measured until it is steady.
//!
//! Rounds are parts of one continuous measurement. Each ends with an interval, so its counters are
//! sums of whole intervals.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use plan::Cell;
use results::{CounterNames, Latency, RoundRecord, RunEvent, SteadyRecord, per_second};
use stats::{Counter, Interval, SteadyState, SteadyVerdict};

use crate::agreement::PeerAgreement;
use crate::figures::operation_names;
use crate::measured::{MeasuredCell, MeasuredRounds};
use crate::sample::Sample;
use crate::times::{intervals_per_round, round_ns};

/// Interval at which other processes' rounds are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Rounds of a cell so far.
pub(crate) struct Rounds {
    state: SteadyState,
    intervals_per_round: i64,
    round_ns: u64,
    /// Counters of the last rounds that a window needs, and of later ones.
    kept: VecDeque<Round>,
    records: Vec<RoundRecord>,
    /// Number of judged records. Others wait until all processes have reported their rounds.
    judged_count: usize,
    shape: Vec<Vec<Interval>>,
}

/// Counters of a round.
struct Round {
    index: i64,
    /// Counters by lane, and then by span of the lane.
    lanes: Vec<Vec<Interval>>,
    /// Measured time of each lane in the round, in nanoseconds.
    lengths_ns: Vec<u64>,
}

/// Counters of the window, from which the cell's results are calculated.
struct WindowCounts {
    /// Counters by lane, and then by span of the lane.
    lanes: Vec<Vec<Interval>>,
    /// Measured time of each lane in the window, in nanoseconds.
    lengths_ns: Vec<u64>,
    /// Rounds of the window, as 0-based indexes.
    rounds: Range<u64>,
}

impl Rounds {
    /// Creates the state without rounds; `shapes` has an empty sample per lane. `None` if the cell
    /// has no rounds.
    pub fn new(cell: &Cell, shapes: &[Sample]) -> Option<Self> {
        let rule = cell.steady?;
        Some(Self {
            state: SteadyState::new(rule),
            intervals_per_round: intervals_per_round(cell, &rule) as i64,
            round_ns: round_ns(cell)?,
            kept: VecDeque::new(),
            records: Vec::new(),
            judged_count: 0,
            shape: shapes.iter().map(|lane| lane.spans.clone()).collect(),
        })
    }

    /// Adds a lane's counters of an interval to its round.
    pub fn add(&mut self, lane_index: usize, interval_index: i64, sample: &Sample) {
        let index = interval_index.max(0) / self.intervals_per_round;
        // No window can contain this round any more.
        if index < self.oldest() || self.is_decided() {
            return;
        }
        // Lanes hand over at different times, so an older round can appear after a newer one.
        let position = match self.kept.iter().position(|round| round.index >= index) {
            Some(place) if self.kept[place].index == index => place,
            place => {
                let position = place.unwrap_or(self.kept.len());
                let lengths_ns = vec![0; self.shape.len()];
                let lanes = self.shape.clone();
                let round = Round {
                    index,
                    lanes,
                    lengths_ns,
                };
                self.kept.insert(position, round);
                position
            }
        };
        let round = &mut self.kept[position];
        round.lengths_ns[lane_index] += sample.length_ns;
        for (total, counted) in round.lanes[lane_index].iter_mut().zip(&sample.spans) {
            total.merge(counted);
        }
    }

    /// Judges the rounds whose intervals up to this index are complete, by the sums over all
    /// processes if several share the run. Returns the number of rounds judged.
    pub fn judge(&mut self, interval_index: i64, meeting: Option<&dyn PeerAgreement>) -> usize {
        let before = self.judged_count;
        while !self.is_decided() {
            let next = self.records.len() as i64;
            if interval_index < (next + 1) * self.intervals_per_round - 1 {
                break;
            }
            let record = self.record(next);
            self.records.push(record);
            match meeting {
                Some(meeting) => meeting.round(record.per_second),
                None => self.push(record.per_second),
            }
        }
        if let Some(meeting) = meeting {
            self.judge_common_rounds(meeting);
        }
        self.judged_count - before
    }

    /// Judges the rounds that all processes have reported. All processes receive the same sums, so
    /// all reach the same verdict at the same round.
    fn judge_common_rounds(&mut self, meeting: &dyn PeerAgreement) {
        while self.judged_count < self.records.len() && !self.is_decided() {
            match meeting.round_of_all(self.judged_count) {
                Some(per_second) => self.push(per_second),
                None => break,
            }
        }
    }

    /// Waits for the other processes' results of the rounds measured here.
    pub fn wait_for_remote_results(
        &mut self,
        meeting: &dyn PeerAgreement,
        is_cut: &dyn Fn() -> bool,
    ) {
        // All processes must judge the same rounds, so that their windows are the same.
        self.judge_common_rounds(meeting);
        while self.judged_count < self.records.len() && !self.is_decided() && !is_cut() {
            std::thread::sleep(POLL_INTERVAL);
            self.judge_common_rounds(meeting);
        }
    }

    fn push(&mut self, per_second: f64) {
        self.state.push(per_second);
        self.judged_count += 1;
        let oldest = self.oldest();
        self.kept.retain(|round| round.index >= oldest);
    }

    /// First round of the window that ends with the last judged round.
    fn oldest(&self) -> i64 {
        self.judged_count as i64 - self.state.rule().window_count as i64
    }

    /// `true` if no further round is needed.
    pub fn is_decided(&self) -> bool {
        self.state.verdict() != SteadyVerdict::NotYet
    }

    fn record(&self, index: i64) -> RoundRecord {
        let at_ns = index as u64 * self.round_ns;
        // A stall of all lanes can leave a round without any sample.
        let Some(round) = self.kept.iter().find(|round| round.index == index) else {
            return RoundRecord {
                at_ns,
                length_ns: self.round_ns,
                ..RoundRecord::default()
            };
        };
        let mut totals = Interval::default();
        round.lanes.iter().flatten().for_each(|it| totals.merge(it));
        // Lanes without a sample in the round must not lower the mean.
        let lanes = round.lengths_ns.iter().filter(|ns| **ns > 0);
        let length_ns = round.lengths_ns.iter().sum::<u64>() / (lanes.count() as u64).max(1);
        let operations = operation_names();
        let names = CounterNames {
            operations: &operations,
            transactions: &[],
        };
        let errors = totals.total().errors();
        round_record((at_ns, length_ns), &names.headline(&totals), errors)
    }

    /// Reduces the results to the window's rounds, unless no round was complete. `indexes` has the
    /// index of each interval; `stopped` is `true` if the run was stopped.
    pub fn narrow(self, measured: &mut MeasuredCell, indexes: &[i64], stopped: bool) {
        // The monitor ends the threads by the same flag when the rounds are decided.
        let stopped = stopped && !self.is_decided();
        for lane in &mut measured.lanes {
            lane.outcome.stopped = stopped;
        }
        measured.steady = Some(MeasuredRounds {
            record: self.steady_record(),
            window: self.window(),
        });
        let Some(window) = self.window_counts() else {
            return;
        };
        let start_ns = window.rounds.start * self.round_ns;
        let end_ns = window.rounds.end * self.round_ns;
        let counts = window.lanes.into_iter().zip(window.lengths_ns);
        for (lane, (spans, length_ns)) in measured.lanes.iter_mut().zip(counts) {
            lane.spans = spans;
            lane.outcome.measured_ns = length_ns;
            // Work after the last round, until the threads notice the end, does not count.
            lane.outcome.finish_ns = measured.measure_ns + end_ns;
        }
        // `retain` visits the intervals in order, so both iterators advance together.
        let mut rounds = indexes.iter().map(|index| index / self.intervals_per_round);
        let window = window.rounds.start as i64..window.rounds.end as i64;
        measured
            .intervals
            .retain(|_| rounds.next().is_some_and(|round| window.contains(&round)));
        // Moved last, because the ends above count from the old start.
        measured.measure_ns += start_ns;
    }

    /// Record of the rounds.
    pub fn steady_record(&self) -> SteadyRecord {
        SteadyRecord {
            rule: *self.state.rule(),
            verdict: self.state.verdict(),
            rounds: self.records[..self.judged_count].to_vec(),
            window: self.state.window(),
        }
    }

    /// Half-open range of the last complete rounds, at most a window of them; `None` if there are
    /// none.
    fn window(&self) -> Option<(u64, u64)> {
        let end = self.judged_count as u64;
        let start = end.saturating_sub(self.state.rule().window_count as u64);
        (end > 0).then_some((start, end))
    }

    /// Counters of the window's rounds; `None` if there are none.
    fn window_counts(&self) -> Option<WindowCounts> {
        let (start, end) = self.window()?;
        let mut lanes = self.shape.clone();
        let mut lengths_ns = vec![0; lanes.len()];
        let is_inside = |round: &&Round| (start as i64..end as i64).contains(&round.index);
        for round in self.kept.iter().filter(is_inside) {
            for (sum, length_ns) in lengths_ns.iter_mut().zip(&round.lengths_ns) {
                *sum += length_ns;
            }
            let counted = round.lanes.iter().flatten();
            for (total, counted) in lanes.iter_mut().flatten().zip(counted) {
                total.merge(counted);
            }
        }
        Some(WindowCounts {
            lanes,
            lengths_ns,
            rounds: start..end,
        })
    }
}

/// Record of a round that started `at_ns` after the first one and took `length_ns`.
pub(crate) fn round_record(
    (at_ns, length_ns): (u64, u64),
    counted: &Counter,
    errors: u64,
) -> RoundRecord {
    let latency = Latency::of(counted.latency());
    RoundRecord {
        at_ns,
        length_ns,
        count: counted.count(),
        errors,
        per_second: per_second(counted.count(), length_ns),
        bytes_per_second: per_second(counted.bytes(), length_ns),
        latency_mean_ns: latency.mean_ns,
        latency_p99_ns: latency.percentiles_ns.p99,
    }
}

/// Event with the number of rounds and their steadiness.
pub(crate) fn rounds_event(cell: u32, record: &SteadyRecord) -> RunEvent {
    let shares = record.shares();
    RunEvent::Round {
        cell,
        done: record.rounds.len() as u32,
        rounds_max: record.rule.rounds_max as u32,
        verdict: record.verdict,
        range_share: shares.map(|it| it.0),
        excursion_share: shares.map(|it| it.1),
    }
}
