//! Watches the goals of a cell's jobs from the monitor. Ends jobs whose results are steady, and
//! reports how each goal ended.

use std::collections::VecDeque;
use std::sync::Arc;

use generate::job::{GoalCounts, GoalProgress, MissKind, MissedRequest};
use plan::Cell;
use plan::job::{GoalMeasure, JobGoals, SteadyGoal};
use results::{
    FoundDepth, GoalFigures, GoalKind, LateRequest, MissedGoal, SteadyReading, SteadyReadings,
    Warning, WarningCode,
};

use crate::measured::{MeasuredCell, MeasuredLane};
use crate::worker::{LaneWork, Task};

/// Goals of a cell's lanes; empty if no lane has any.
#[derive(Default)]
pub(crate) struct GoalWatch {
    /// Goals and board of each lane.
    lanes: Vec<Option<(JobGoals, Arc<GoalProgress>)>>,
    steady: Vec<SteadyWatch>,
}

impl GoalWatch {
    pub fn of(parts: &[LaneWork]) -> Self {
        let board = |part: &LaneWork| match &part.task {
            Task::Job(task) => {
                let goals = part.lane.plan.job.as_deref()?.goals.clone();
                Some((goals, Arc::clone(task.progress.as_ref()?)))
            }
            Task::Spans(_) | Task::Files(_) => None,
        };
        Self::of_lanes(parts.iter().map(board).collect())
    }

    fn of_lanes(lanes: Vec<Option<(JobGoals, Arc<GoalProgress>)>>) -> Self {
        let mut steady: Vec<SteadyWatch> = Vec::new();
        for (lane_index, lane) in lanes.iter().enumerate() {
            let Some((goals, board)) = lane else { continue };
            let Some(goal) = goals.steady else { continue };
            let same = |it: &&mut SteadyWatch| {
                goal.group_index.is_some() && it.goal.group_index == goal.group_index
            };
            match steady.iter_mut().find(same) {
                Some(watch) => watch.join(lane_index, board),
                None => steady.push(SteadyWatch::new(goal, lane_index, board)),
            }
        }
        Self { lanes, steady }
    }

    /// Checks the jobs at this time of their clock.
    pub fn look(&mut self, now_ns: u64) {
        self.steady.iter_mut().for_each(|it| it.look(now_ns));
    }

    /// Time of the next check; `u64::MAX` if it is not known.
    pub fn next_ns(&self) -> u64 {
        let next = self.steady.iter().map(|it| it.next_ns);
        next.min().unwrap_or(u64::MAX)
    }

    /// Outcome of a lane's goals.
    pub fn figures(&self, lane_index: usize) -> Option<GoalFigures> {
        let (goals, board) = self.lanes.get(lane_index)?.as_ref()?;
        // A flow alone has no outcome to report.
        if goals.are_silent() {
            return None;
        }
        let depth = board.depth();
        let mut steady = self.steady.iter();
        let steady = steady.find(|it| it.last_lane_index == lane_index);
        Some(GoalFigures {
            missed: board.missed().map(missed_goal),
            depth: goals.depth_target.map(|_| FoundDepth {
                iodepth: depth.depth,
                kept: depth.kept,
            }),
            steady: steady.map(SteadyWatch::readings),
        })
    }
}

fn missed_goal(missed: &MissedRequest) -> MissedGoal {
    let goal = match missed.kind {
        MissKind::Bandwidth => GoalKind::Bandwidth,
        MissKind::Iops => GoalKind::Iops,
        MissKind::Latency => GoalKind::Latency,
        MissKind::DepthLatency => GoalKind::DepthLatency,
    };
    let request = &missed.request;
    let is_single = matches!(goal, GoalKind::Latency | GoalKind::DepthLatency);
    MissedGoal {
        goal,
        operation: request.operation.name().to_owned(),
        wanted: missed.wanted,
        seen: missed.seen,
        at_ns: missed.at_ns,
        request: is_single.then_some(LateRequest {
            file_index: request.file_index,
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
        }),
    }
}

/// Warnings for goals that were missed.
pub(crate) fn missed_goal_warnings(cell: &Cell, measured: &MeasuredCell) -> Vec<Warning> {
    let lanes = measured.lanes.iter();
    let lane_warning = |lane: &MeasuredLane| {
        let (goals, name) = (lane.goals.as_ref()?, &lane.lane.plan.name);
        if let Some(missed) = &goals.missed {
            let message = missed.sentence(name);
            return Some(Warning::of_cell(
                WarningCode::GoalMissed,
                cell.index,
                message,
            ));
        }
        let is_lost = goals.depth.is_some_and(|it| it.has_no_valid_depth());
        is_lost.then(|| {
            let message = format!(
                "the job `{}` met its latency target at no queue depth, not even at 1",
                units::printable(name)
            );
            Warning::of_cell(WarningCode::DepthNotFound, cell.index, message)
        })
    };
    lanes.filter_map(lane_warning).collect()
}

/// Jobs that must become steady together.
struct SteadyWatch {
    goal: SteadyGoal,
    progress: Vec<Arc<GoalProgress>>,
    last_lane_index: usize,
    /// Time of the last reading, and the counts of all jobs up to then.
    last: Option<(u64, GoalCounts)>,
    next_ns: u64,
    readings: VecDeque<SteadyReading>,
    verdict: SteadyJudgment,
}

/// Judgment of the readings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct SteadyJudgment {
    is_reached: bool,
    criterion: f64,
    deviation: f64,
    slope: f64,
}

impl SteadyWatch {
    fn new(goal: SteadyGoal, lane_index: usize, board: &Arc<GoalProgress>) -> Self {
        Self {
            goal,
            progress: vec![Arc::clone(board)],
            last_lane_index: lane_index,
            last: None,
            next_ns: u64::MAX,
            readings: VecDeque::new(),
            verdict: SteadyJudgment::default(),
        }
    }

    fn join(&mut self, lane_index: usize, board: &Arc<GoalProgress>) {
        self.progress.push(Arc::clone(board));
        self.last_lane_index = lane_index;
    }

    fn look(&mut self, now_ns: u64) {
        if self.verdict.is_reached || self.progress.iter().all(|it| it.has_left()) {
            self.next_ns = u64::MAX;
            return;
        }
        let Some((last_ns, before)) = self.last else {
            self.begin(now_ns);
            return;
        };
        if now_ns < self.next_ns {
            return;
        }
        let counts = self.counts();
        self.last = Some((now_ns, counts));
        // Missed readings are left out, and this reading covers their time.
        while self.next_ns <= now_ns {
            self.next_ns = self.next_ns.saturating_add(self.goal.interval_ns.max(1));
        }
        let reading = reading(&before, &counts, now_ns - last_ns);
        let wanted_count = self.goal.reading_count();
        if self.readings.len() == wanted_count {
            self.readings.pop_front();
        }
        self.readings.push_back(reading);
        if self.readings.len() < wanted_count {
            return;
        }
        self.verdict = judge(&self.goal, &self.readings);
        if self.verdict.is_reached {
            self.next_ns = u64::MAX;
            self.progress.iter().for_each(|it| it.end());
        }
    }

    /// Starts the readings when the ramp of the first job is over.
    fn begin(&mut self, now_ns: u64) {
        let begins = self.progress.iter().filter_map(|it| it.begin_ns());
        let Some(first_ns) = begins.min() else {
            return;
        };
        let begin_ns = first_ns.saturating_add(self.goal.ramp_ns);
        if now_ns < begin_ns {
            self.next_ns = begin_ns;
            return;
        }
        self.last = Some(match self.goal.ramp_ns {
            // No request was done at that time.
            0 => (begin_ns, GoalCounts::default()),
            _ => (now_ns, self.counts()),
        });
        let interval_ns = self.goal.interval_ns.max(1);
        self.next_ns = begin_ns.saturating_add(interval_ns);
        while self.next_ns <= now_ns {
            self.next_ns = self.next_ns.saturating_add(interval_ns);
        }
    }

    fn counts(&self) -> GoalCounts {
        let counts = self.progress.iter().map(|it| it.counts());
        counts.fold(GoalCounts::default(), |sum, one| GoalCounts {
            requests: sum.requests + one.requests,
            bytes: sum.bytes + one.bytes,
            latency_ns: sum.latency_ns.wrapping_add(one.latency_ns),
        })
    }

    fn readings(&self) -> SteadyReadings {
        SteadyReadings {
            goal: self.goal,
            is_reached: self.verdict.is_reached,
            criterion: self.verdict.criterion,
            deviation: self.verdict.deviation,
            slope: self.verdict.slope,
            readings: self.readings.iter().copied().collect(),
        }
    }
}

fn reading(before: &GoalCounts, after: &GoalCounts, length_ns: u64) -> SteadyReading {
    let requests = after.requests - before.requests;
    let per_second = |count: u64| {
        // With 64 bits, the product would overflow from 18 GB on.
        let all = u128::from(count) * 1_000_000_000 / u128::from(length_ns.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    };
    SteadyReading {
        iops: per_second(requests),
        bytes_per_second: per_second(after.bytes - before.bytes),
        // The sum of latencies may wrap around; the difference is still correct.
        latency_ns: after.latency_ns.wrapping_sub(before.latency_ns) / requests.max(1),
    }
}

/// Judges a full set of readings. Readings that are all 0 are never steady.
fn judge(goal: &SteadyGoal, readings: &VecDeque<SteadyReading>) -> SteadyJudgment {
    let value = |it: &SteadyReading| match goal.measure {
        GoalMeasure::Iops => it.iops as f64,
        GoalMeasure::Bandwidth => it.bytes_per_second as f64,
        GoalMeasure::Latency => it.latency_ns as f64,
    };
    let values: Vec<f64> = readings.iter().map(value).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let mut judgment = SteadyJudgment::default();
    let observed = match goal.is_slope {
        true => {
            judgment.slope = slope(&values, mean);
            judgment.slope
        }
        false => {
            let distances = values.iter().map(|value| (value - mean).abs());
            judgment.deviation = distances.fold(0.0, f64::max);
            judgment.deviation
        }
    };
    if mean <= 0.0 {
        return judgment;
    }
    judgment.criterion = match goal.is_percent {
        true => 100.0 * observed / mean,
        false => observed,
    };
    // A falling slope is as far from steady as a rising one.
    judgment.is_reached = judgment.criterion.abs() < goal.limit;
    judgment
}

/// Slope of the least-squares line per reading; 0 for a single value.
fn slope(values: &[f64], mean: f64) -> f64 {
    // Distances from the middle add up to 0, which removes a term of the formula.
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let numbered = values.iter().enumerate();
    let (products, squares) = numbered.fold((0.0, 0.0), |(products, squares), (index, value)| {
        let distance = index as f64 - middle;
        (
            products + distance * (value - mean),
            squares + distance * distance,
        )
    });
    match squares > 0.0 {
        true => products / squares,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests;
