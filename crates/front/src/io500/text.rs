//! Output of IO500: a line for each phase, and the score.

use results::RunRecord;

use super::judge::{JudgedPhase, JudgedRun};
use super::options::Io500Options;
use super::score::ScoreUnit;
use crate::text::ParsedArguments;

/// The version that is followed.
pub(super) const VERSION: &str = "io500-isc26";

/// The output at the end of a run.
pub(super) fn page(parsed: &ParsedArguments<Io500Options>, record: &RunRecord) -> String {
    let text = summary(&JudgedRun::of(&parsed.options, record), record);
    match parsed.options.result_path(record.started_at) {
        Some(path) => {
            format!("{text}\nThe result files are stored in the directory: {path}\n")
        }
        None => text,
    }
}

/// A line for each phase, and the score.
pub(super) fn summary(run: &JudgedRun, record: &RunRecord) -> String {
    let mut text = format!(
        "IO500 version {VERSION} (standard)\n\
         measured by pgmeter {}, not by the original; `--differences` lists what is otherwise\n",
        record.pgmeter.version
    );
    text.extend(run.phases.iter().map(line));
    let (bandwidth, rate, total) = (run.score.bandwidth, run.score.rate, run.score.total);
    let mark = mark(run.is_valid);
    text + &format!(
        "[SCORE ] Bandwidth {bandwidth:.6} GiB/s : IOPS {rate:.6} kiops : TOTAL {total:.6}{mark}\n"
    )
}

fn line(phase: &JudgedPhase) -> String {
    let kind = match phase.is_scored() {
        true => "RESULT",
        false => "      ",
    };
    let unit = match phase.unit {
        ScoreUnit::Bandwidth => "GiB/s",
        ScoreUnit::Rate => "kIOPS",
    };
    let (name, value, seconds) = (phase.name, phase.result.value, phase.result.seconds);
    let mark = mark(phase.is_valid);
    format!("[{kind}] {name:>20} {value:15.6} {unit} : time {seconds:.3} seconds{mark}\n")
}

/// Text after the numbers of a run or a phase that breaks the rules.
pub(super) const fn mark(is_valid: bool) -> &'static str {
    if is_valid { "" } else { " [INVALID]" }
}
