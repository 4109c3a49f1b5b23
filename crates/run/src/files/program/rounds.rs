//! Rounds: whether there is another, and what it begins with.

use plan::program::{Calibration, Program, ProgramPart, ROUND_MARK, Until};
use results::{FreeSpace, RoundRule, RunEvent, ToldRound};
use stats::{Interval, SteadyVerdict};
use target::Tree;

use super::figures::{PhaseSum, Told};
use super::periods::Periods;
use super::stamped::RoundStamp;
use super::{Ahead, Owner, ProgramCourse};
use crate::files::course::{Done, Grounds};
use crate::rooms::Rooms;
use crate::rounds::rounds_event;

/// Rounds that go on.
#[derive(Debug, Clone)]
pub(super) struct Rounds {
    pub until: Until,
    pub done: u32,
    /// What was spent before the first of them.
    since_ns: u64,
    /// The samples so far, where there are any.
    sampling: Option<Calibration>,
    /// Where they go on until they are steady.
    periods: Option<Periods>,
    pub parts: Vec<ProgramPart>,
}

/// What phases took, in nanoseconds.
#[derive(Default)]
pub(super) struct Spent {
    /// All of them, recorded or not: from the first to the last worker.
    all_ns: u64,
    /// Recorded ones since the round began, of each worker.
    worker_ns: Vec<u64>,
    /// What recorded phases counted in the current period; `None` if periods are not judged.
    pub(super) counted: Option<Interval>,
}

impl Spent {
    pub(super) fn add(&mut self, done: &Done<'_>, is_recorded: bool) {
        self.all_ns += done.time_ns;
        if !is_recorded {
            return;
        }
        let count = done.lanes.len().max(self.worker_ns.len());
        self.worker_ns.resize(count, 0);
        for (sum_ns, lane) in self.worker_ns.iter_mut().zip(done.lanes) {
            *sum_ns += lane.outcome.measured_ns;
        }
        if let Some(counted) = &mut self.counted {
            let spans = done.lanes.iter().flat_map(|lane| &lane.spans);
            spans.for_each(|span| counted.merge(span));
        }
    }
}

impl Ahead {
    pub(super) fn of(part: &ProgramPart) -> Self {
        match part {
            ProgramPart::Phase(phase) => Self::Phase(Box::new(phase.clone())),
            ProgramPart::Rounds { until, parts } => {
                Self::Rounds(Box::new(Rounds::new(*until, parts)))
            }
        }
    }
}

impl Rounds {
    fn new(until: Until, parts: &[ProgramPart]) -> Self {
        Self {
            until,
            done: 0,
            since_ns: 0,
            sampling: match until {
                Until::Sampled {
                    samples, least_ns, ..
                } => Some(Calibration::new(samples, least_ns)),
                _ => None,
            },
            periods: None,
            parts: parts.to_vec(),
        }
    }
}

/// What the phases came to that are not hidden.
fn shown<'a>(
    sums: &'a mut [PhaseSum],
    parts: &'a [ProgramPart],
) -> impl Iterator<Item = &'a mut PhaseSum> {
    sums.iter_mut().filter(|sum| {
        parts.iter().any(|part| match part {
            ProgramPart::Phase(phase) => !phase.is_hidden && phase.name == sum.name,
            ProgramPart::Rounds { .. } => false,
        })
    })
}

/// Filesets that samples say the number of files of have few at first.
pub(super) fn begin_small(program: &mut Program, parts: &[ProgramPart]) {
    for part in parts {
        let ProgramPart::Rounds { until, parts } = part else {
            continue;
        };
        if let Until::Sampled { fileset, .. } = until
            && let Some(set) = program.filesets.get_mut(usize::from(*fileset))
        {
            set.count = 1;
        }
        begin_small(program, parts);
    }
}

impl ProgramCourse {
    /// Names that tell the round are others now.
    fn forget_rounds(&mut self) {
        let sets = &self.program.filesets;
        let stays = |owner: &Owner| !sets[owner.fileset].tells(ROUND_MARK);
        self.filesets.retain(|owner, _| stays(owner));
        for (owner, states) in &self.states {
            if self.is_in_place && !stays(owner) {
                self.traces.add_round(*owner, self.round, states);
            }
        }
        self.states.retain(|owner, _| stays(owner));
    }

    /// Puts what another round has before all else, where it is not enough yet.
    pub(super) fn begin_round(&mut self, grounds: &Grounds, mut round: Rounds) {
        self.end_round(grounds, &round);
        let free_bytes = grounds.first().and_then(Tree::free_bytes).unwrap_or(0);
        match round.done {
            0 => {
                round.since_ns = self.spent.all_ns;
                round.periods = self.periods(&round);
            }
            _ => {
                let files = self.program.files_by_phase();
                for sum in shown(&mut self.sums, &round.parts) {
                    sum.tell_best(files.get(&sum.name));
                }
            }
        }
        let is_enough = match round.until {
            Until::Times(times) => round.done >= times,
            Until::Spent { ns } => match &round.periods {
                Some(_) => self.are_steady(&mut round),
                None => round.done > 0 && self.spent.all_ns - round.since_ns > ns,
            },
            // What gives back all that it took, or takes nothing, never fills anything.
            Until::Full => {
                let taken = self.free_bytes.saturating_sub(free_bytes);
                let is_filled = round.done > 0 && (taken == 0 || taken > free_bytes);
                is_filled || !self.full(grounds, self.round_bytes(&round)).is_empty()
            }
            Until::Fitting { times, bytes } => {
                times.is_some_and(|times| round.done >= times) || self.is_full(grounds, bytes)
            }
            Until::Sampled { fileset, .. } => !self.sample(&mut round, fileset.into()),
        };
        if is_enough {
            return;
        }
        self.free_bytes = free_bytes;
        self.forget_rounds();
        self.round = RoundStamp::now(round.done);
        self.spent.worker_ns.clear();
        let parts: Vec<Ahead> = round.parts.iter().rev().map(Ahead::of).collect();
        self.ahead.push(Ahead::Rounds(Box::new(Rounds {
            done: round.done + 1,
            ..round
        })));
        self.ahead.extend(parts);
    }

    /// The first period of rounds that go on until they are steady; `None` for other rounds.
    fn periods(&mut self, round: &Rounds) -> Option<Periods> {
        let is_recorded =
            |part: &ProgramPart| matches!(part, ProgramPart::Phase(phase) if !phase.is_hidden);
        let rule = self.cell.steady?;
        let Until::Spent { ns } = round.until else {
            return None;
        };
        round.parts.iter().any(is_recorded).then(|| {
            self.spent.counted = Some(Interval::default());
            Periods::new(rule, ns, self.spent.all_ns)
        })
    }

    /// Whether the rounds are steady, or as many periods were measured as there may be.
    fn are_steady(&mut self, round: &mut Rounds) -> bool {
        let (Some(periods), Some(counted)) = (&mut round.periods, &mut self.spent.counted) else {
            return false;
        };
        let Some(verdict) = periods.judge(self.spent.all_ns, counted) else {
            return false;
        };
        *counted = Interval::default();
        let told = periods.told();
        self.tidings.push(rounds_event(self.cell.index, &told));
        let is_enough = verdict != SteadyVerdict::NotYet;
        for sum in shown(&mut self.sums, &round.parts) {
            sum.steady = Some(told.clone());
            if !is_enough {
                sum.begin_period(told.rule.window_count);
            }
        }
        self.period_index += u64::from(!is_enough);
        is_enough
    }

    /// Takes note of the space that the last round left, and tells of it.
    fn end_round(&mut self, grounds: &Grounds, round: &Rounds) {
        if round.done == 0 {
            return;
        }
        if let Err(error) = self.leave_round(grounds) {
            self.failure = Some(error);
        }
        let space = grounds.first().and_then(|tree| {
            Some(FreeSpace {
                free_bytes: tree.free_bytes()?,
                total_bytes: tree.total_bytes()?,
            })
        });
        for part in &round.parts {
            let ProgramPart::Phase(phase) = part else {
                continue;
            };
            let sum = self.sums.iter_mut().find(|sum| sum.name == phase.name);
            if let Some(last) = sum.and_then(|sum| sum.end_round(space)) {
                self.tidings.push(RunEvent::RoundDone {
                    cell: self.cell.index,
                    phase: phase.name.clone(),
                    figures: Box::new(last),
                });
            }
        }
    }

    /// What a worker takes in a round, in bytes.
    fn round_bytes(&self, round: &Rounds) -> u64 {
        let workers = self.cell.workers.len().max(1) as u64;
        let part = Program {
            parts: round.parts.clone(),
            ..self.program.clone()
        };
        part.space_needed().bytes.div_ceil(workers)
    }

    /// Whether another round would not fit, of which is told.
    fn is_full(&mut self, grounds: &Grounds, bytes: u64) -> bool {
        let targets = self.full(grounds, bytes);
        let is_full = !targets.is_empty();
        if is_full {
            let cell = self.cell.index;
            self.tidings.push(RunEvent::Full { cell, targets });
        }
        is_full
    }

    /// The targets of the workers for whose next files there is no room.
    fn full(&self, grounds: &Grounds, bytes: u64) -> Vec<String> {
        let mut rooms = Rooms::default();
        let trees = self.cell.workers.iter().filter_map(|it| grounds.of(it));
        let full = trees.filter(|tree| match (tree.device(), tree.free_bytes()) {
            (Ok(device), Some(free_bytes)) => !rooms.take(device, free_bytes, bytes),
            _ => false,
        });
        full.map(|tree| tree.path().display().to_string()).collect()
    }

    /// Takes the last round as a sample; whether there is another, of the fileset with as many
    /// files as that is to have.
    fn sample(&mut self, round: &mut Rounds, fileset: usize) -> bool {
        let Some(sampling) = &mut round.sampling else {
            return false;
        };
        if round.done > 0 {
            sampling.add(&self.spent.worker_ns);
        }
        if let Some(median) = sampling.median() {
            let told = Told {
                round: ToldRound {
                    rule: RoundRule::Median,
                    time_ns: median.time_ns,
                    round_count: sampling.samples().len() as u64,
                },
                file_count: median.file_count,
            };
            for sum in shown(&mut self.sums, &round.parts) {
                sum.tell(told);
            }
        }
        let Some(count) = sampling.next_count() else {
            return false;
        };
        let set = &mut self.program.filesets[fileset];
        if std::mem::replace(&mut set.count, count) != count {
            self.filesets.retain(|owner, _| owner.fileset != fileset);
            self.states.retain(|owner, _| owner.fileset != fileset);
        }
        true
    }

    /// When the rounds are enough that a phase was done in.
    pub(super) fn rounds_around(&self) -> Option<Until> {
        // Those that have not begun come later.
        let mut around = self.ahead.iter().rev();
        around.find_map(|ahead| match ahead {
            Ahead::Rounds(rounds) if rounds.done > 0 => Some(rounds.until),
            _ => None,
        })
    }
}
