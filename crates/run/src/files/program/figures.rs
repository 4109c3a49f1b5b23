//! Results of phases, round by round, for the records.

use std::collections::{BTreeMap, VecDeque};

use engine::Operation;
use generate::program::{Interpreter, StepCounter};
use plan::program::{PhaseFiles, Program, ProgramPhase, RoundsEnd};
use results::{
    CallTimes, FilesetFigures, FreeSpace, LabelFigures, PhaseFigures, ReportedRound, RoundFigures,
    RoundRule, SteadyRecord, StepFigures, WorkerAtStonewall, WorkerTimes, WorkerWindow,
};

use crate::file_requests::FileRequests;
use crate::files::stages::{StageOutcome, call_times};
use crate::measured::MeasuredLane;

/// Maximum number of rounds per phase in a record. Later rounds count only in the sums.
const ROUNDS_MAX: usize = 10_000;

/// The round that represents all rounds, with its number of files.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepresentativeRound {
    pub round: ReportedRound,
    pub file_count: u32,
}

impl RepresentativeRound {
    /// The shorter of two rounds, with the sum of both round counts.
    fn better(self, other: Self) -> Self {
        let round_count = self.round.round_count + other.round.round_count;
        let best = match other.round.time_ns < self.round.time_ns {
            true => other,
            false => self,
        };
        let round = ReportedRound {
            round_count,
            ..best.round
        };
        Self { round, ..best }
    }
}

/// Rounds that are judged together.
struct Period {
    /// Counters by label.
    counters: Vec<StepCounter>,
    /// The round that represents all rounds.
    representative: Option<RepresentativeRound>,
}

impl Period {
    fn new(label_count: usize) -> Self {
        Self {
            counters: vec![StepCounter::default(); label_count],
            representative: None,
        }
    }
}

/// Results of a phase in all of its rounds.
pub(super) struct PhaseSum {
    pub name: String,
    /// Last periods, with the current one at the back; a single period unless rounds continue until
    /// they are steady.
    periods: VecDeque<Period>,
    rounds: Vec<RoundFigures>,
    /// Work timed as a whole, and the baseline measured with it.
    steps: Vec<StepFigures>,
    /// `true` if rounds are left out of the record.
    omits_rounds: bool,
    /// Steadiness of its periods; `None` unless they are judged.
    pub steady: Option<SteadyRecord>,
    /// Time of the last round, if the best round represents all.
    last_ns: Option<u64>,
    /// Workers that ran out of files before their time was up.
    pub dry_workers: u32,
}

impl PhaseSum {
    pub(super) fn new(name: &str, program: &Program) -> Self {
        Self {
            name: name.to_owned(),
            periods: VecDeque::from([Period::new(program.labels.len())]),
            rounds: Vec::new(),
            steps: Vec::new(),
            omits_rounds: false,
            steady: None,
            last_ns: None,
            dry_workers: 0,
        }
    }

    /// Adds a round.
    pub(super) fn add(
        &mut self,
        program: &Program,
        phase: &ProgramPhase,
        rounds_end: Option<RoundsEnd>,
        done: &StageOutcome<'_>,
    ) {
        let label = phase.transaction().map(|label| program.label(label));
        if let Some(times) = done.programs {
            let figures = times.figures(label.unwrap_or_default());
            (self.steps, self.rounds) = (figures.steps, figures.rounds);
            return;
        }
        let interpreters = done.requests.iter().map(|requests| match requests {
            FileRequests::Program(interpreter) => Some(&**interpreter),
            _ => None,
        });
        let interpreters: Vec<Option<&Interpreter>> = interpreters.collect();
        for requests in &done.requests {
            let counted = match requests {
                FileRequests::Program(interpreter) => interpreter.steps(),
                FileRequests::Trace(player) => player.steps(),
                FileRequests::Pool(_) => continue,
            };
            let counters = self.last().counters.iter_mut().zip(counted);
            counters.for_each(|(sum, more)| sum.merge(more));
        }
        // Without a time, running out of files is the planned end.
        if phase.time_ns.is_some() {
            let dry = interpreters.iter().flatten();
            self.dry_workers += dry.filter(|it| it.has_run_dry()).count() as u32;
        }
        // Repeated work is recorded round by round, not as a step.
        if let (Some(label), None) = (label, rounds_end) {
            self.steps = vec![step(label, done)];
        }
        if let (Some(RoundsEnd::Spent { .. }), false) = (rounds_end, done.is_cut) {
            self.last_ns = Some(done.time_ns);
        }
        // If one round represents many, the others are not recorded.
        if self.rounds.len() < ROUNDS_MAX && !rounds_end.is_some_and(RoundsEnd::reports_one_round) {
            self.rounds
                .push(round(phase, (program, done), &interpreters));
        } else {
            self.omits_rounds = true;
        }
    }

    /// Ends the last added round with the free space left; `None` if that round is not recorded.
    pub(super) fn end_round(&mut self, space: Option<FreeSpace>) -> Option<RoundFigures> {
        let last = self.rounds.last_mut().filter(|_| !self.omits_rounds)?;
        last.space = space;
        Some(last.clone())
    }

    /// Makes the shortest complete round represent all. A round that was cut short would always
    /// win.
    pub(super) fn keep_best_round(&mut self, files: Option<&PhaseFiles>) {
        let (Some(files), Some(last_ns)) = (files, self.last_ns.take()) else {
            return;
        };
        let last = RepresentativeRound {
            round: ReportedRound {
                rule: RoundRule::Best,
                time_ns: last_ns,
                round_count: 1,
            },
            file_count: files.count,
        };
        let best = self.last().representative;
        self.tell(best.map_or(last, |known| known.better(last)));
    }

    /// Sets the round that represents all.
    pub(super) fn tell(&mut self, round: RepresentativeRound) {
        self.last().representative = Some(round);
    }

    /// Starts another period, and drops all but the last `kept`.
    pub(super) fn begin_period(&mut self, kept: usize) {
        let next = Period::new(self.last().counters.len());
        self.periods.push_back(next);
        while self.periods.len() > kept {
            self.periods.pop_front();
        }
    }

    fn last(&mut self) -> &mut Period {
        self.periods
            .back_mut()
            .expect("a phase has at least one period")
    }

    /// Results for the record. `files` is set if all files are from one set and have one size.
    pub(super) fn figures(&self, program: &Program, files: Option<&PhaseFiles>) -> PhaseFigures {
        let mut counters = vec![StepCounter::default(); program.labels.len()];
        for period in &self.periods {
            let counted = counters.iter_mut().zip(&period.counters);
            counted.for_each(|(sum, more)| sum.merge(more));
        }
        let rounds = self
            .periods
            .iter()
            .filter_map(|period| period.representative);
        let best = rounds.reduce(RepresentativeRound::better);
        let counted = program.labels.iter().zip(&counters);
        let counted = counted.filter(|(_, counter)| counter.count > 0);
        PhaseFigures {
            labels: counted.map(|(name, it)| label(name, it)).collect(),
            rounds: self.rounds.clone(),
            steps: self.steps.clone(),
            reported_round: best.map(|it| it.round),
            filesets: files
                .map(|files| FilesetFigures {
                    file_count: best.map_or(files.count, |it| it.file_count).into(),
                    file_bytes: files.bytes,
                })
                .into_iter()
                .collect(),
            ..PhaseFigures::default()
        }
    }
}

/// Result of the phase, timed as a whole.
fn step(label: &str, done: &StageOutcome<'_>) -> StepFigures {
    StepFigures {
        label: label.to_owned(),
        count: done.effort.count,
        errors: done.effort.errors,
        time_ns: done.time_ns,
        user_ns: done.effort.user_ns,
        system_ns: done.effort.system_ns,
    }
}

fn round(
    phase: &ProgramPhase,
    (program, done): (&Program, &StageOutcome<'_>),
    interpreters: &[Option<&Interpreter>],
) -> RoundFigures {
    let windows = done.lanes.iter().map(MeasuredLane::begin_ns);
    // The round starts with the first window. If other processes have workers too, it starts at the
    // agreed start of all.
    let first_ns = windows.min().unwrap_or(0);
    let begin_ns = done.agreed_start_ns.map_or(first_ns, |it| it.min(first_ns));
    let mut workers = Vec::with_capacity(done.lanes.len());
    for (index, lane) in done.lanes.iter().enumerate() {
        let interpreter = interpreters.get(index).copied().flatten();
        let mut window = window(lane, interpreter, begin_ns);
        window.group = group_of(phase, done.lanes.len(), index);
        if let Some(cpu) = done.cpu.get(index) {
            (window.user_ns, window.system_ns) = *cpu;
        }
        workers.push(WorkerTimes {
            time_ns: window.end_ns - window.begin_ns,
            calls: calls(program, lane, done.requests.get(index)),
            window: Some(window),
        });
    }
    let ends = workers.iter().filter_map(|worker| worker.window.as_ref());
    RoundFigures {
        file_count: done.effort.count,
        time_ns: ends.map(|window| window.end_ns).max().unwrap_or(0),
        workers,
        ..RoundFigures::default()
    }
}

/// Times of a worker's calls by kind. A label with the name of a kind replaces that kind. A trace
/// also has its labels, which are the operations of its recording.
fn calls(
    program: &Program,
    lane: &MeasuredLane,
    requests: Option<&FileRequests>,
) -> BTreeMap<String, CallTimes> {
    let mut calls: BTreeMap<String, CallTimes> = lane.spans.iter().flat_map(call_times).collect();
    let (steps, is_trace) = match requests {
        Some(FileRequests::Program(interpreter)) => (interpreter.steps(), false),
        Some(FileRequests::Trace(player)) => (player.steps(), true),
        Some(FileRequests::Pool(_)) | None => return calls,
    };
    for (label, counter) in program.labels.iter().zip(steps) {
        let is_kind = Operation::ALL.iter().any(|it| it.name() == label);
        if (is_kind || is_trace) && counter.count > 0 {
            let times = CallTimes {
                count: counter.count,
                sum_ns: counter.sum_ns,
                min_ns: counter.min_ns,
                max_ns: counter.max_ns,
            };
            calls.insert(label.clone(), times);
        }
    }
    calls
}

fn window(lane: &MeasuredLane, interpreter: Option<&Interpreter>, since_ns: u64) -> WorkerWindow {
    let begin_ns = lane.begin_ns();
    let end_ns = lane.outcome.finish_ns;
    let stamps = interpreter.map(Interpreter::stamps).unwrap_or_default();
    let amounts = interpreter.map(Interpreter::amounts).unwrap_or_default();
    let within = |at_ns: u64, otherwise_ns: u64| {
        // 0 means that the worker did not get to this point.
        let at_ns = if at_ns > 0 { at_ns } else { otherwise_ns };
        at_ns.clamp(begin_ns, end_ns) - since_ns
    };
    let wall = stamps.stonewall.map(|mark| WorkerAtStonewall {
        at_ns: within(mark.at_ns, begin_ns),
        rounds: mark.amounts.rounds,
        calls: mark.amounts.calls,
        read_bytes: mark.amounts.read_bytes,
        written_bytes: mark.amounts.written_bytes,
    });
    let mut window = WorkerWindow {
        begin_ns: begin_ns - since_ns,
        body_ns: within(stamps.body_start_ns, begin_ns),
        body_end_ns: within(stamps.body_end_ns, end_ns),
        end_ns: end_ns - since_ns,
        rounds: amounts.rounds,
        wall,
        ..WorkerWindow::default()
    };
    for (index, counter) in lane.spans.iter().flat_map(|span| span.operations()) {
        window.calls += counter.count() + counter.errors();
        match engine::Operation::ALL.get(index) {
            Some(engine::Operation::Read) => window.read_bytes += counter.bytes(),
            Some(engine::Operation::Write) => window.written_bytes += counter.bytes(),
            _ => {}
        }
    }
    window
}

/// Group of a lane; workers are in the order of their groups.
fn group_of(phase: &ProgramPhase, lane_count: usize, index: usize) -> u8 {
    let mut end = 0;
    let group = phase.groups.iter().position(|group| {
        end += group.workers.map_or(lane_count, |workers| workers as usize);
        index < end
    });
    // Phases have only a few groups, so the index fits.
    group.unwrap_or(0) as u8
}

/// Results of a label for the record.
fn label(name: &str, counter: &StepCounter) -> LabelFigures {
    LabelFigures {
        label: name.to_owned(),
        count: counter.count,
        errors: counter.errors,
        bytes: counter.bytes,
        sum_ns: counter.sum_ns,
        min_ns: counter.min_ns,
        max_ns: counter.max_ns,
        p50_ns: counter.percentile(50.0),
        p99_ns: counter.percentile(99.0),
    }
}
