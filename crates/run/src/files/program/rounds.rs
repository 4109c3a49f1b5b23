//! Rounds: decides whether another round follows, and starts it.

use plan::program::{Calibration, Program, ProgramPart, ROUND_MARK, RoundsEnd};
use results::{FreeSpace, ReportedRound, RoundRule, RunEvent};
use stats::{Interval, SteadyVerdict};
use storage::Tree;

use super::figures::{PhaseSum, RepresentativeRound};
use super::files::FileOwner;
use super::periods::Periods;
use super::stamped::RoundNameSource;
use super::{NextProgramStep, ProgramRun};
use crate::files::stages::{CellTrees, StageOutcome};
use crate::free_space::UnreservedSpace;
use crate::rounds::rounds_event;

/// Rounds in progress.
#[derive(Debug, Clone)]
pub(super) struct ProgramRounds {
    pub end: RoundsEnd,
    pub done_count: u32,
    /// Time spent in phases before the first round, in nanoseconds.
    since_ns: u64,
    /// Samples so far, if the rounds are samples.
    sampling: Option<Calibration>,
    /// Periods, if the rounds continue until they are steady.
    periods: Option<Periods>,
    pub parts: Vec<ProgramPart>,
}

/// Time spent in phases, in nanoseconds.
#[derive(Default)]
pub(super) struct PhaseTime {
    /// All phases, recorded or not, each from the first to the last worker.
    total_ns: u64,
    /// Recorded phases since the start of the round, by worker.
    worker_ns: Vec<u64>,
    /// Counters of recorded phases in the current period; `None` if periods are not judged.
    pub(super) counted: Option<Interval>,
}

impl PhaseTime {
    pub(super) fn add(&mut self, done: &StageOutcome<'_>, is_recorded: bool) {
        self.total_ns += done.time_ns;
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

impl NextProgramStep {
    pub(super) fn of(part: &ProgramPart) -> Self {
        match part {
            ProgramPart::Phase(phase) => Self::Phase(Box::new(phase.clone())),
            ProgramPart::Rounds { until, parts } => {
                Self::Rounds(Box::new(ProgramRounds::new(*until, parts)))
            }
        }
    }
}

impl ProgramRounds {
    fn new(until: RoundsEnd, parts: &[ProgramPart]) -> Self {
        Self {
            end: until,
            done_count: 0,
            since_ns: 0,
            sampling: match until {
                RoundsEnd::Sampled {
                    samples, least_ns, ..
                } => Some(Calibration::new(samples, least_ns)),
                _ => None,
            },
            periods: None,
            parts: parts.to_vec(),
        }
    }
}

/// Results of the phases that are not hidden.
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

/// Sets the initial number of files to 1 in filesets whose number of files is found by sampling.
pub(super) fn set_initial_counts(program: &mut Program, parts: &[ProgramPart]) {
    for part in parts {
        let ProgramPart::Rounds { until, parts } = part else {
            continue;
        };
        if let RoundsEnd::Sampled { fileset, .. } = until
            && let Some(set) = program.filesets.get_mut(usize::from(*fileset))
        {
            set.count = 1;
        }
        set_initial_counts(program, parts);
    }
}

impl ProgramRun {
    /// Closes files whose names contain the round, because the next round has other names.
    fn close_round_files(&mut self) {
        let sets = &self.program.filesets;
        let is_kept = |owner: &FileOwner| !sets[owner.fileset].tells(ROUND_MARK);
        self.filesets.retain(|owner, _| is_kept(owner));
        for (owner, states) in &self.states {
            if self.is_in_place && !is_kept(owner) {
                // The next round has other names, under which these files could not be removed.
                self.in_place_files.add_round(*owner, self.round, states);
            }
        }
        self.states.retain(|owner, _| is_kept(owner));
    }

    /// Puts the parts of another round before the other steps, unless there were enough rounds.
    pub(super) fn begin_round(&mut self, cell_trees: &CellTrees, mut round: ProgramRounds) {
        self.end_round(cell_trees, &round);
        let free_bytes = cell_trees.first().and_then(Tree::free_bytes).unwrap_or(0);
        match round.done_count {
            0 => {
                round.since_ns = self.spent.total_ns;
                round.periods = self.periods(&round);
            }
            _ => {
                let files = self.program.files_by_phase();
                for sum in shown(&mut self.sums, &round.parts) {
                    sum.keep_best_round(files.get(&sum.name));
                }
            }
        }
        let is_enough = match round.end {
            RoundsEnd::Times(times) => round.done_count >= times,
            RoundsEnd::Spent { ns } => match &round.periods {
                Some(_) => self.are_steady(&mut round),
                None => round.done_count > 0 && self.spent.total_ns - round.since_ns > ns,
            },
            // Rounds that free all space that they used, or use none, never fill the file system.
            RoundsEnd::Full => {
                let taken = self.free_bytes.saturating_sub(free_bytes);
                // Another round would take as much as the last one.
                let is_filled = round.done_count > 0 && (taken == 0 || taken > free_bytes);
                is_filled || !self.full(cell_trees, self.round_bytes(&round)).is_empty()
            }
            RoundsEnd::Fitting { times, bytes } => {
                times.is_some_and(|times| round.done_count >= times)
                    || self.is_full(cell_trees, bytes)
            }
            RoundsEnd::Sampled { fileset, .. } => !self.sample(&mut round, fileset.into()),
        };
        if is_enough {
            return;
        }
        self.free_bytes = free_bytes;
        self.close_round_files();
        self.round = RoundNameSource::now(round.done_count);
        self.spent.worker_ns.clear();
        let parts: Vec<NextProgramStep> =
            round.parts.iter().rev().map(NextProgramStep::of).collect();
        // The last step of `ahead` is next, so the parts of this round come before the next round.
        self.pending_steps
            .push(NextProgramStep::Rounds(Box::new(ProgramRounds {
                done_count: round.done_count + 1,
                ..round
            })));
        self.pending_steps.extend(parts);
    }

    /// First period of rounds that continue until they are steady; `None` for other rounds.
    fn periods(&mut self, round: &ProgramRounds) -> Option<Periods> {
        let is_recorded =
            |part: &ProgramPart| matches!(part, ProgramPart::Phase(phase) if !phase.is_hidden);
        let rule = self.cell.steady?;
        let RoundsEnd::Spent { ns } = round.end else {
            return None;
        };
        round.parts.iter().any(is_recorded).then(|| {
            self.spent.counted = Some(Interval::default());
            Periods::new(rule, ns, self.spent.total_ns)
        })
    }

    /// `true` if the rounds are steady, or the maximum number of periods was measured.
    fn are_steady(&mut self, round: &mut ProgramRounds) -> bool {
        let (Some(periods), Some(counted)) = (&mut round.periods, &mut self.spent.counted) else {
            return false;
        };
        let Some(verdict) = periods.judge(self.spent.total_ns, counted) else {
            return false;
        };
        *counted = Interval::default();
        let record = periods.steady_record();
        self.unreported_events
            .push(rounds_event(self.cell.index, &record));
        let is_enough = verdict != SteadyVerdict::NotYet;
        for sum in shown(&mut self.sums, &round.parts) {
            sum.steady = Some(record.clone());
            if !is_enough {
                sum.begin_period(record.rule.window_count);
            }
        }
        self.period_index += u64::from(!is_enough);
        is_enough
    }

    /// Records the free space after the last round, and reports it.
    fn end_round(&mut self, cell_trees: &CellTrees, round: &ProgramRounds) {
        if round.done_count == 0 {
            return;
        }
        if let Err(error) = self.remove_round(cell_trees) {
            self.failure = Some(error);
        }
        let space = cell_trees.first().and_then(|tree| {
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
                self.unreported_events.push(RunEvent::RoundDone {
                    cell: self.cell.index,
                    phase: phase.name.clone(),
                    figures: Box::new(last),
                });
            }
        }
    }

    /// Space that a worker needs in a round, in bytes.
    fn round_bytes(&self, round: &ProgramRounds) -> u64 {
        let workers = self.cell.workers.len().max(1) as u64;
        let part = Program {
            parts: round.parts.clone(),
            ..self.program.clone()
        };
        part.space_needed().bytes.div_ceil(workers)
    }

    /// `true` if another round would not fit, which is also reported.
    fn is_full(&mut self, cell_trees: &CellTrees, bytes: u64) -> bool {
        let targets = self.full(cell_trees, bytes);
        let is_full = !targets.is_empty();
        if is_full {
            let cell = self.cell.index;
            self.unreported_events
                .push(RunEvent::Full { cell, targets });
        }
        is_full
    }

    /// Targets without room for the workers' next files.
    fn full(&self, cell_trees: &CellTrees, bytes: u64) -> Vec<String> {
        let mut rooms = UnreservedSpace::default();
        let trees = self.cell.workers.iter().filter_map(|it| cell_trees.of(it));
        let full = trees.filter(|tree| match (tree.device(), tree.free_bytes()) {
            (Ok(device), Some(free_bytes)) => !rooms.take(device, free_bytes, bytes),
            _ => false,
        });
        full.map(|tree| tree.path().display().to_string()).collect()
    }

    /// Adds the last round as a sample. Returns `true` if there is another sample, for which it
    /// sets the fileset's number of files.
    fn sample(&mut self, round: &mut ProgramRounds, fileset: usize) -> bool {
        let Some(sampling) = &mut round.sampling else {
            return false;
        };
        if round.done_count > 0 {
            // The time of each worker is a sample, as in the original program.
            sampling.add(&self.spent.worker_ns);
        }
        if let Some(median) = sampling.median() {
            let representative = RepresentativeRound {
                round: ReportedRound {
                    rule: RoundRule::Median,
                    time_ns: median.time_ns,
                    round_count: sampling.samples().len() as u64,
                },
                file_count: median.file_count,
            };
            for sum in shown(&mut self.sums, &round.parts) {
                sum.tell(representative);
            }
        }
        let Some(count) = sampling.next_count() else {
            return false;
        };
        let set = &mut self.program.filesets[fileset];
        // Open files and states belong to the previous number of files.
        if std::mem::replace(&mut set.count, count) != count {
            self.filesets.retain(|owner, _| owner.fileset != fileset);
            self.states.retain(|owner, _| owner.fileset != fileset);
        }
        true
    }

    /// End condition of the rounds around the current phase.
    pub(super) fn enclosing_until(&self) -> Option<RoundsEnd> {
        // Rounds that have not started come later.
        let mut around = self.pending_steps.iter().rev();
        around.find_map(|ahead| match ahead {
            NextProgramStep::Rounds(rounds) if rounds.done_count > 0 => Some(rounds.end),
            _ => None,
        })
    }
}
