//! The tables of rates and times.

use jiff::Timestamp;
use results::{RoundFigures, RunRecord};

use super::options::{Options, Tables};
use crate::figures::Summary;
use crate::space::space_line;
use crate::text::Asked;
use crate::windows::{Reached, rounds, windows_of};

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

/// What is printed at the end.
pub(super) fn page(asked: &Asked<Options>, record: &RunRecord) -> String {
    let options = &asked.options;
    let tables: &[Unit] = match options.tables {
        Tables::Rates => &[Unit::Rate],
        Tables::Times => &[Unit::Time],
        Tables::Both => &[Unit::Rate, Unit::Time],
    };
    let tables = tables.iter().map(|unit| table(options, record, *unit));
    let tables: String = tables.collect();
    let end = stamp(record.finished_at.unwrap_or(record.started_at));
    format!("{}{tables}-- finished at {end} --\n\n", head(asked, record))
}

/// The file of `-x`: how many files each rank made.
pub(super) fn documents(asked: &Asked<Options>, record: &RunRecord) -> Vec<(String, String)> {
    let Some(path) = &asked.options.stonewall_file else {
        return Vec::new();
    };
    let last = rounds(record, "file creation").last();
    let last = last.or_else(|| rounds(record, "directory creation").last());
    let made = last.map_or(0, |round| round.file_count);
    let each = made / u64::from(asked.options.ranks);
    vec![(path.clone(), each.to_string())]
}

fn head(asked: &Asked<Options>, record: &RunRecord) -> String {
    let Asked { options, arguments } = asked;
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
    text += &format!("Nodemap: {}\n", "1".repeat(ranks));
    if let Some(target) = record.plan.targets.first() {
        let path = record.full_path(target);
        text += &format!("Path                : {}\n", path.display());
    }
    let space = record.environment.file_systems.first();
    text += &space.map_or(String::new(), space_line);
    if let Some(seed) = options.random_seed {
        text += &format!("random seed: {seed}\n");
    }
    let what = match (options.has_directories, options.has_files) {
        (true, true) => "files/directories",
        (false, _) => "files",
        (true, false) => "directories",
    };
    let items = u64::from(options.items) * u64::from(options.ranks);
    text + &format!("{ranks} tasks, {items} {what}\n")
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%m/%d/%Y %H:%M:%S").to_string()
}

/// What a table is of.
#[derive(Clone, Copy)]
enum Unit {
    Rate,
    Time,
}

impl Unit {
    fn value(self, count: f64, seconds: f64) -> f64 {
        match self {
            Self::Rate => count / seconds.max(1e-9),
            // As the original has it, whatever its title says.
            Self::Time => seconds,
        }
    }
}

fn table(options: &Options, record: &RunRecord, unit: Unit) -> String {
    let kind = match unit {
        Unit::Rate => "rate (in ops/sec)",
        Unit::Time => "time (in ms/op)",
    };
    let mut text = format!(
        "\nSUMMARY {kind}: (of {} iterations)\n   Operation                     Max            \
         Min           Mean        Std Dev\n   ---------                     ---            \
         ---           ----        -------\n",
        options.iterations
    );
    let start = if options.has_directories { 0 } else { 4 };
    let stop = if options.has_files { 8 } else { 4 };
    let row = |(title, phase): &(&str, &str), count| {
        row(title, &values(options, rounds(record, phase), count, unit))
    };
    text.extend(ROWS[start..stop].iter().map(|it| row(it, None)));
    text += &stonewall(options, record, unit);
    let nodes = Some(options.node_count());
    text.extend(TREE_ROWS.iter().map(|it| row(it, nodes)));
    text
}

/// A figure for each iteration; the original has 0 for what was not done.
fn values(options: &Options, rounds: &[RoundFigures], count: Option<u32>, unit: Unit) -> Vec<f64> {
    let value = |round: &RoundFigures| {
        let count = count.map_or(round.file_count as f64, f64::from);
        unit.value(count, round.time_ns as f64 / 1e9)
    };
    let iterations = 0..options.iterations as usize;
    iterations
        .map(|it| rounds.get(it).map_or(0.0, value))
        .collect()
}

fn row(title: &str, values: &[f64]) -> String {
    let figures = Summary::of(values);
    let Summary {
        most, least, mean, ..
    } = figures;
    let deviation = figures.sample_deviation();
    format!("   {title:<22} {most:14.3} {least:14.3} {mean:14.3} {deviation:14.3}\n")
}

/// What was made until the time was up.
fn stonewall(options: &Options, record: &RunRecord, unit: Unit) -> String {
    let rounds = rounds(record, "file creation").iter();
    let reached = rounds.filter_map(|round| {
        let windows = windows_of(round);
        let reached = Reached::together(windows.iter().filter_map(Reached::at_wall));
        reached.filter(|it| it.rounds > 0)
    });
    let (count, ns) = reached.fold((0, 0), |(count, ns), it| {
        (count + it.rounds, ns + it.time_ns)
    });
    if options.stonewall_seconds == 0 || count == 0 {
        return String::new();
    }
    let value = unit.value(count as f64, ns as f64 / 1e9);
    let title = "File create (stonewall)";
    let none = "NA";
    format!("   {title:<22} {none:>14} {none:>14} {value:14.3} {none:>14}\n")
}
