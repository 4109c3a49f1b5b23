//! Output of IO500: a line for each phase, and the score.

use results::{RunRecord, Status, WorkerWindow};

use super::options::Io500Options;
use super::program::FIND_COMMON;
use super::score::{ScoreUnit, score};
use crate::text::ParsedArguments;
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

/// The output at the end of a run.
pub(super) fn page(parsed: &ParsedArguments<Io500Options>, record: &RunRecord) -> String {
    let mut text = format!(
        "IO500 version io500-isc26 (standard)\n\
         measured by pgmeter {}, not by the original; `--differences` lists what is otherwise\n",
        record.pgmeter.version
    );
    let mut figures = Vec::new();
    let least_seconds = parsed.options.write_seconds();
    let is_paused = parsed.options.pause_directory.is_some();
    // By the rules, a shorter time limit or a pause between phases makes the whole run invalid.
    let mut is_valid = parsed.options.stonewall_seconds >= least_seconds && !is_paused;
    for row in ROWS {
        let (_, unit, kind) = row;
        let phase = ScoredPhase::of(record, row, &parsed.options);
        let is_row_valid = phase.is_valid(kind, least_seconds);
        is_valid &= is_row_valid;
        text += &line(row, &phase, is_row_valid);
        if matches!(kind, LineRole::Scored | LineRole::ScoredIfLong) {
            figures.push((unit, phase.value));
        }
    }
    let score = score(&figures);
    let (bandwidth, rate, total) = (score.bandwidth, score.rate, score.total);
    let mark = mark(is_valid);
    text + &format!(
        "[SCORE ] Bandwidth {bandwidth:.6} GiB/s : IOPS {rate:.6} kiops : TOTAL {total:.6}{mark}\n"
    )
}

fn line((name, unit, kind): Row, phase: &ScoredPhase, is_valid: bool) -> String {
    let kind = match kind {
        LineRole::Scored | LineRole::ScoredIfLong => "RESULT",
        LineRole::Unscored | LineRole::Timestamp => "      ",
    };
    let unit = match unit {
        ScoreUnit::Bandwidth => "GiB/s",
        ScoreUnit::Rate => "kIOPS",
    };
    let ScoredPhase { value, seconds } = phase;
    let mark = mark(is_valid);
    format!("[{kind}] {name:>20} {value:15.6} {unit} : time {seconds:.3} seconds{mark}\n")
}

const fn mark(is_valid: bool) -> &'static str {
    if is_valid { "" } else { " [INVALID]" }
}

/// Result of a phase.
struct ScoredPhase {
    value: f64,
    seconds: f64,
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
