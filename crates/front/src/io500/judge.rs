//! Results of the phases, and whether they obey the rules.

use jiff::Timestamp;
use results::{RunRecord, Status, WorkerWindow};

use super::options::Io500Options;
use super::program::FIND_COMMON;
use super::score::{Score, ScoreUnit, score};
use crate::windows::{WorkerSum, phase, rounds, window_ns, windows_of};

const GIB: f64 = (1_u64 << 30) as f64;

/// A line of the output: the phase, its unit, and its role in the score.
type Row = (&'static str, ScoreUnit, LineRole);

/// Role of a line in the score.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineRole {
    /// Part of the score.
    Scored,
    /// Part of the score if the phase lasts long enough.
    ScoredIfLong,
    /// Measured, but not part of the score.
    Unscored,
    /// A point in time between two phases, without any work.
    Timestamp,
}

const ROWS: [Row; 14] = [
    (
        "ior-easy-write",
        ScoreUnit::Bandwidth,
        LineRole::ScoredIfLong,
    ),
    ("mdtest-easy-write", ScoreUnit::Rate, LineRole::ScoredIfLong),
    ("timestamp", ScoreUnit::Rate, LineRole::Timestamp),
    (
        "ior-hard-write",
        ScoreUnit::Bandwidth,
        LineRole::ScoredIfLong,
    ),
    ("mdtest-hard-write", ScoreUnit::Rate, LineRole::ScoredIfLong),
    ("find", ScoreUnit::Rate, LineRole::Scored),
    ("ior-easy-read", ScoreUnit::Bandwidth, LineRole::Scored),
    ("mdtest-easy-stat", ScoreUnit::Rate, LineRole::Scored),
    ("ior-hard-read", ScoreUnit::Bandwidth, LineRole::Scored),
    ("mdtest-hard-stat", ScoreUnit::Rate, LineRole::Scored),
    ("mdtest-easy-delete", ScoreUnit::Rate, LineRole::Scored),
    ("mdtest-hard-read", ScoreUnit::Rate, LineRole::Scored),
    ("mdtest-hard-delete", ScoreUnit::Rate, LineRole::Scored),
    (
        "ior-rnd4K-easy-read",
        ScoreUnit::Bandwidth,
        LineRole::Unscored,
    ),
];

/// Names and units of the phases that are part of the score.
pub(super) fn scored_phases() -> impl Iterator<Item = (&'static str, ScoreUnit)> {
    let scored = ROWS.iter().filter(|(.., role)| role.is_scored());
    scored.map(|(name, unit, _)| (*name, *unit))
}

/// All phases of a run, and its score.
pub(super) struct JudgedRun {
    pub phases: Vec<JudgedPhase>,
    pub score: Score,
    pub is_valid: bool,
}

/// A phase with its result.
pub(super) struct JudgedPhase {
    pub name: &'static str,
    pub unit: ScoreUnit,
    role: LineRole,
    pub result: ScoredPhase,
    pub is_valid: bool,
    /// `None` if the phase did not run.
    pub started_at: Option<Timestamp>,
}

impl LineRole {
    const fn is_scored(self) -> bool {
        matches!(self, Self::Scored | Self::ScoredIfLong)
    }
}

impl JudgedPhase {
    fn of(options: &Io500Options, record: &RunRecord, row: Row) -> Self {
        let (name, unit, role) = row;
        let result = ScoredPhase::of(record, row, options);
        Self {
            name,
            unit,
            role,
            is_valid: result.is_valid(role, options.write_seconds()),
            result,
            started_at: phase(record, name).and_then(|it| it.started_at),
        }
    }

    /// `true` if the result is part of the score.
    pub(super) const fn is_scored(&self) -> bool {
        self.role.is_scored()
    }

    /// `true` if the phase measures something.
    pub(super) fn is_measured(&self) -> bool {
        self.role != LineRole::Timestamp
    }
}

impl JudgedRun {
    pub(super) fn of(options: &Io500Options, record: &RunRecord) -> Self {
        let phases = ROWS.map(|row| JudgedPhase::of(options, record, row));
        let scored = phases.iter().filter(|it| it.is_scored());
        let figures: Vec<_> = scored.map(|it| (it.unit, it.result.value)).collect();
        // By the rules, a shorter time limit or a pause between phases makes the whole run invalid.
        let obeys = options.stonewall_seconds >= options.write_seconds()
            && options.pause_directory.is_none();
        Self {
            is_valid: obeys && phases.iter().all(|it| it.is_valid),
            score: score(&figures),
            phases: phases.into(),
        }
    }
}

/// Result of a phase.
pub(super) struct ScoredPhase {
    pub value: f64,
    pub seconds: f64,
}

impl ScoredPhase {
    fn of(record: &RunRecord, (name, unit, _): Row, options: &Io500Options) -> Self {
        let windows = windows(record, name);
        let seconds = window_ns(&windows) as f64 / 1e9;
        match (unit, name) {
            (ScoreUnit::Bandwidth, _) => {
                let bytes = WorkerSum::of_windows(&windows).bytes;
                Self::new(bytes as f64 / GIB, seconds)
            }
            (ScoreUnit::Rate, "find") => {
                let common = window_ns(&self::windows(record, FIND_COMMON));
                let files = ["mdtest-easy-write", "mdtest-hard-write"];
                let files: f64 = files.into_iter().map(|it| files_of(record, it)).sum();
                // Plus each rank's own data file and the common data file. An interrupted search
                // has not seen all of them.
                let is_whole =
                    phase(record, FIND_COMMON).is_some_and(|it| it.status == Status::Complete);
                let files = match is_whole {
                    true => files + f64::from(options.ranks) + 1.0,
                    false => 0.0,
                };
                Self::new(files / 1000.0, seconds + common as f64 / 1e9)
            }
            (ScoreUnit::Rate, _) => Self::new(files_of(record, name) / 1000.0, seconds),
        }
    }

    fn new(amount: f64, seconds: f64) -> Self {
        let value = if seconds > 0.0 { amount / seconds } else { 0.0 };
        Self { value, seconds }
    }

    fn is_valid(&self, kind: LineRole, least_seconds: u32) -> bool {
        match kind {
            LineRole::Timestamp => true,
            LineRole::Scored | LineRole::Unscored => self.value > 0.0,
            LineRole::ScoredIfLong => self.value > 0.0 && self.seconds >= least_seconds.into(),
        }
    }
}

fn windows(record: &RunRecord, phase: &str) -> Vec<WorkerWindow> {
    rounds(record, phase).iter().flat_map(windows_of).collect()
}

fn files_of(record: &RunRecord, phase: &str) -> f64 {
    let rounds = rounds(record, phase).iter();
    rounds.map(|round| round.file_count as f64).sum()
}
