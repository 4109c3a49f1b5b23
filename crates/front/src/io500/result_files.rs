//! The files that IO500 leaves in its result directory.

use std::fmt::Display;
use std::time::Duration;

use jiff::Timestamp;
use results::RunRecord;

use super::check_sum::CheckSum;
use super::config;
use super::judge::{JudgedPhase, JudgedRun};
use super::options::Io500Options;
use super::score::Score;
use super::text::{VERSION, mark, summary};
use crate::text::ParsedArguments;

/// The result files of a run, if it has a result directory.
pub(super) fn documents(
    parsed: &ParsedArguments<Io500Options>,
    record: &RunRecord,
) -> Vec<(String, String)> {
    let options = &parsed.options;
    let Some(path) = options.result_path(record.started_at) else {
        return Vec::new();
    };
    let run = JudgedRun::of(options, record);
    let results = head(options, &path, record) + &results(&run, record);
    let mut files = vec![
        (format!("{path}/result_summary.txt"), summary(&run, record)),
        (format!("{path}/result.txt"), results),
    ];
    // In a directory that is not the run's own, the name may be that of the user's settings.
    if !options.has_common_results {
        files.push((format!("{path}/config.ini"), config::used(options)));
    }
    files
}

fn head(options: &Io500Options, path: &str, record: &RunRecord) -> String {
    let mut text = "[run]\n".to_owned();
    text += &pair("procs", options.ranks);
    text += &pair("version", VERSION);
    // A configuration sum would let the original accept these files as its own.
    text += &pair("measured-by", format!("pgmeter {}", record.pgmeter.version));
    text += &pair("result-dir", path);
    text += &pair("mode", "standard");
    text + &format!("; START {}\n", stamp(record.started_at))
}

/// The sections of the phases and of the score.
fn results(run: &JudgedRun, record: &RunRecord) -> String {
    let Score {
        bandwidth,
        rate,
        total,
    } = run.score;
    let mut text: String = run.phases.iter().map(section).collect();
    text += "\n[SCORE]\n";
    text += &pair("MD", figure(rate));
    text += &pair("BW", figure(bandwidth));
    text += &pair("SCORE", figure(total) + mark(run.is_valid));
    text += &pair("hash", check_sum(run));
    let end = record.finished_at.unwrap_or(record.started_at);
    text + &format!("; END {}\n", stamp(end))
}

fn section(phase: &JudgedPhase) -> String {
    let mut text = format!("\n[{}]\n", phase.name);
    text.extend(phase.started_at.map(|at| pair("t_start", stamp(at))));
    if phase.is_measured() {
        text += &pair("score", figure(phase.result.value));
    }
    let Some(start) = phase.started_at else {
        return text;
    };
    let seconds = phase.result.seconds;
    text += &pair("t_delta", format!("{seconds:.4}"));
    let end = start.checked_add(Duration::from_secs_f64(seconds));
    text + &pair("t_end", stamp(end.unwrap_or(start)))
}

fn check_sum(run: &JudgedRun) -> CheckSum {
    let mut sum = CheckSum::default();
    sum.add("version", VERSION);
    for phase in run.phases.iter().filter(|it| it.is_scored()) {
        sum.add(phase.name, &figure(phase.result.value));
    }
    sum.add("MD", &figure(run.score.rate));
    sum.add("BW", &figure(run.score.bandwidth));
    sum.add("SCORE", &figure(run.score.total));
    if !run.is_valid {
        sum.add_invalid();
    }
    sum
}

fn pair(key: &str, value: impl Display) -> String {
    format!("{key:<15} = {value}\n")
}

fn figure(value: f64) -> String {
    format!("{value:.6}")
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}
