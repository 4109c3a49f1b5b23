//! A line for each phase, and the score.

use results::{RunRecord, WorkerWindow};

use super::options::Options;
use super::program::FIND_COMMON;
use super::score::{Unit, score};
use crate::text::Asked;
use crate::windows::{Sum, rounds, window_ns, windows_of};

const GIB: f64 = (1_u64 << 30) as f64;

/// A line that is printed: a phase, what it is measured in, and what it is to the score.
type Row = (&'static str, Unit, Kind);

/// What a line is to the score.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of it.
    Scored,
    /// The same, and it has to last long enough.
    Written,
    /// No part of it, but done.
    Told,
    /// A moment between two phases, at which there is nothing to do.
    Moment,
}

const ROWS: [Row; 14] = [
    ("ior-easy-write", Unit::Bandwidth, Kind::Written),
    ("mdtest-easy-write", Unit::Rate, Kind::Written),
    ("timestamp", Unit::Rate, Kind::Moment),
    ("ior-hard-write", Unit::Bandwidth, Kind::Written),
    ("mdtest-hard-write", Unit::Rate, Kind::Written),
    ("find", Unit::Rate, Kind::Scored),
    ("ior-easy-read", Unit::Bandwidth, Kind::Scored),
    ("mdtest-easy-stat", Unit::Rate, Kind::Scored),
    ("ior-hard-read", Unit::Bandwidth, Kind::Scored),
    ("mdtest-hard-stat", Unit::Rate, Kind::Scored),
    ("mdtest-easy-delete", Unit::Rate, Kind::Scored),
    ("mdtest-hard-read", Unit::Rate, Kind::Scored),
    ("mdtest-hard-delete", Unit::Rate, Kind::Scored),
    ("ior-rnd4K-easy-read", Unit::Bandwidth, Kind::Told),
];

/// What is printed at the end.
pub(super) fn page(asked: &Asked<Options>, record: &RunRecord) -> String {
    let mut text = format!(
        "IO500 version io500-isc26 (standard)\n\
         measured by pgmeter {}, not by the original; `--differences` lists what is otherwise\n",
        record.pgmeter.version
    );
    let mut figures = Vec::new();
    let least_seconds = asked.options.write_seconds();
    let is_paused = asked.options.pause_directory.is_some();
    let mut is_valid = asked.options.wall_seconds >= least_seconds && !is_paused;
    for row in ROWS {
        let (_, unit, kind) = row;
        let phase = Phase::of(record, row, &asked.options);
        let is_row_valid = phase.is_valid(kind, least_seconds);
        is_valid &= is_row_valid;
        text += &line(row, &phase, is_row_valid);
        if matches!(kind, Kind::Scored | Kind::Written) {
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

fn line((name, unit, kind): Row, phase: &Phase, is_valid: bool) -> String {
    let kind = match kind {
        Kind::Scored | Kind::Written => "RESULT",
        Kind::Told | Kind::Moment => "      ",
    };
    let unit = match unit {
        Unit::Bandwidth => "GiB/s",
        Unit::Rate => "kIOPS",
    };
    let Phase { value, seconds } = phase;
    let mark = mark(is_valid);
    format!("[{kind}] {name:>20} {value:15.6} {unit} : time {seconds:.3} seconds{mark}\n")
}

const fn mark(is_valid: bool) -> &'static str {
    if is_valid { "" } else { " [INVALID]" }
}

/// What a phase came to.
struct Phase {
    value: f64,
    seconds: f64,
}

impl Phase {
    fn of(record: &RunRecord, (name, unit, _): Row, options: &Options) -> Self {
        let windows = windows(record, name);
        let seconds = window_ns(&windows) as f64 / 1e9;
        match (unit, name) {
            (Unit::Bandwidth, _) => {
                let bytes = Sum::of_windows(&windows).bytes;
                Self::new(bytes as f64 / GIB, seconds)
            }
            (Unit::Rate, "find") => {
                let common = window_ns(&self::windows(record, FIND_COMMON));
                let files = ["mdtest-easy-write", "mdtest-hard-write"];
                let files: f64 = files.into_iter().map(|it| files_of(record, it)).sum();
                // With the file of each rank, and that of all.
                let files = files + f64::from(options.ranks) + 1.0;
                Self::new(files / 1000.0, seconds + common as f64 / 1e9)
            }
            (Unit::Rate, _) => Self::new(files_of(record, name) / 1000.0, seconds),
        }
    }

    fn new(amount: f64, seconds: f64) -> Self {
        let value = if seconds > 0.0 { amount / seconds } else { 0.0 };
        Self { value, seconds }
    }

    fn is_valid(&self, kind: Kind, least_seconds: u32) -> bool {
        match kind {
            Kind::Moment => true,
            Kind::Scored | Kind::Told => self.value > 0.0,
            Kind::Written => self.value > 0.0 && self.seconds >= least_seconds.into(),
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
