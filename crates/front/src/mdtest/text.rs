//! The tables of rates and times.

use std::fmt::Write as _;

use jiff::Timestamp;
use results::RunRecord;

use super::options::{Options, Tables};
use crate::space::space_line;
use crate::windows::rounds;
use crate::{ClassicText, FrontOrigin};

/// Rows that are left out without directories or without files.
const ROWS: [(&str, &str); 8] = [
    ("Directory creation", "directory creation"),
    ("Directory stat", "directory stat"),
    ("Directory rename", "directory rename"),
    ("Directory removal", "directory removal"),
    ("File creation", "file creation"),
    ("File stat", "file stat"),
    ("File read", "file read"),
    ("File removal", "file removal"),
];
const TREE_ROWS: [(&str, &str); 2] = [
    ("Tree creation", "tree creation"),
    ("Tree removal", "tree removal"),
];

/// The text of a run.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(Summary {
        arguments: origin.arguments.clone(),
    })
}

struct Summary {
    arguments: Vec<String>,
}

impl ClassicText for Summary {
    fn end(&mut self, record: &RunRecord) -> String {
        // The record is of a run, so its arguments were read before.
        Options::read(&self.arguments).map_or_else(
            |message| message + "\n",
            |options| page(&self.arguments, &options, record),
        )
    }
}

fn page(arguments: &[String], options: &Options, record: &RunRecord) -> String {
    let mut text = head(arguments, options, record);
    let kinds: &[bool] = match options.tables {
        Tables::Rates => &[false],
        Tables::Times => &[true],
        Tables::Both => &[false, true],
    };
    for is_time in kinds {
        text += &table(options, record, *is_time);
    }
    let end = record.finished_at.unwrap_or(record.started_at);
    // Writing to a string does not fail.
    let _ = writeln!(text, "-- finished at {} --\n", stamp(end));
    text
}

fn head(arguments: &[String], options: &Options, record: &RunRecord) -> String {
    let ranks = options.ranks as usize;
    let quoted: String = arguments.iter().map(|word| format!(" '{word}'")).collect();
    let mut text = format!(
        "-- started at {} --\n\nmdtest-4.1.0+dev was launched with {ranks} total task(s) on 1 \
         node(s)\nCommand line used: mdtest{quoted}\n",
        stamp(record.started_at)
    );
    if options.phases.read && options.read_bytes == 0 {
        text += "WARNING: Read bytes is 0, thus, a read test will actually just open/close\n";
    }
    let _ = writeln!(text, "Nodemap: {}", "1".repeat(ranks));
    if let Some(target) = record.plan.targets.first() {
        let path = record.full_path(target);
        let _ = writeln!(text, "Path                : {}", path.display());
    }
    if let Some(space) = record.environment.file_systems.first() {
        text += &space_line(space);
    }
    if let Some(seed) = options.random_seed {
        let _ = writeln!(text, "random seed: {seed}");
    }
    let what = match (options.has_directories, options.has_files) {
        (true, true) => "files/directories",
        (false, _) => "files",
        (true, false) => "directories",
    };
    let items = u64::from(options.items) * u64::from(options.ranks);
    let _ = writeln!(text, "{ranks} tasks, {items} {what}");
    text
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%m/%d/%Y %H:%M:%S").to_string()
}

fn table(options: &Options, record: &RunRecord, is_time: bool) -> String {
    let kind = match is_time {
        true => "time (in ms/op)",
        false => "rate (in ops/sec)",
    };
    let mut text = format!(
        "\nSUMMARY {kind}: (of {} iterations)\n   Operation                     Max            \
         Min           Mean        Std Dev\n   ---------                     ---            \
         ---           ----        -------\n",
        options.iterations
    );
    let start = if options.has_directories { 0 } else { 4 };
    let stop = if options.has_files { 8 } else { 4 };
    for (title, phase) in &ROWS[start..stop] {
        text += &row(title, &values(options, record, phase, None, is_time));
    }
    text += &stonewall(options, record, is_time);
    for (title, phase) in &TREE_ROWS {
        let count = Some(options.node_count());
        text += &row(title, &values(options, record, phase, count, is_time));
    }
    text
}

/// A figure for each iteration; the original has 0 for what was not done.
fn values(
    options: &Options,
    record: &RunRecord,
    phase: &str,
    count: Option<u32>,
    is_time: bool,
) -> Vec<f64> {
    let rounds = rounds(record, phase);
    let value = |iteration: usize| {
        let Some(round) = rounds.get(iteration) else {
            return 0.0;
        };
        let seconds = round.time_ns as f64 / 1e9;
        let count = count.map_or(round.file_count as f64, f64::from);
        match is_time {
            // As the original has it, whatever its title says.
            true => seconds,
            false => count / seconds.max(1e-9),
        }
    };
    (0..options.iterations as usize).map(value).collect()
}

fn row(title: &str, values: &[f64]) -> String {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = match values.len() {
        0 | 1 => 0.0,
        _ => (squares / (count - 1.0)).sqrt(),
    };
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    format!("   {title:<22} {most:14.3} {least:14.3} {mean:14.3} {deviation:14.3}\n")
}

/// What was made until the time was up.
fn stonewall(options: &Options, record: &RunRecord, is_time: bool) -> String {
    let rounds = rounds(record, "file creation").iter();
    let workers = rounds.flat_map(|round| {
        let windows = round.workers.iter().filter_map(|worker| worker.window);
        let walls = windows.filter_map(|window| Some((window.begin_ns, window.wall?)));
        let sum = |(count, most), (begin_ns, wall): (u64, results::WorkerAtWall)| {
            (
                count + wall.rounds,
                wall.at_ns.saturating_sub(begin_ns).max(most),
            )
        };
        let reached = walls.fold((0_u64, 0_u64), sum);
        (reached.0 > 0).then_some(reached)
    });
    let sum = |(count, ns), (more, more_ns): (u64, u64)| (count + more, ns + more_ns);
    let (count, ns) = workers.fold((0, 0), sum);
    if options.stonewall_seconds == 0 || count == 0 {
        return String::new();
    }
    let seconds = ns as f64 / 1e9;
    let value = match is_time {
        true => seconds,
        false => count as f64 / seconds.max(1e-9),
    };
    let title = "File create (stonewall)";
    format!(
        "   {title:<22} {:>14} {:>14} {value:14.3} {:>14}\n",
        "NA", "NA", "NA"
    )
}
