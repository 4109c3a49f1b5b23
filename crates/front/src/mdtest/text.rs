//! Output of mdtest: tables of rates and times.

use jiff::Timestamp;
use results::{RoundFigures, RunRecord};

use super::options::{MdtestOptions, MdtestTables};
use crate::figures::Summary;
use crate::space::space_line;
use crate::text::ParsedArguments;
use crate::windows::{WorkerProgress, rounds, windows_of};

/// Rows that are printed only with directories, or only with files.
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

/// The output at the end of a run.
pub(super) fn page(parsed: &ParsedArguments<MdtestOptions>, record: &RunRecord) -> String {
    let options = &parsed.options;
    let tables: &[TableUnit] = match options.tables {
        MdtestTables::Rates => &[TableUnit::Rate],
        MdtestTables::Times => &[TableUnit::Time],
        MdtestTables::Both => &[TableUnit::Rate, TableUnit::Time],
    };
    let passes = (0..).zip(options.rank_counts());
    let passes = passes.map(|(index, ranks)| MdtestPass {
        options,
        record,
        index,
        ranks,
    });
    let pass_text = |pass: MdtestPass<'_>| {
        let tables = tables.iter().map(|unit| pass.table(*unit));
        pass.head() + &tables.collect::<String>()
    };
    let tables: String = passes.map(pass_text).collect();
    let end = stamp(record.finished_at.unwrap_or(record.started_at));
    format!(
        "{}{tables}-- finished at {end} --\n\n",
        head(parsed, record)
    )
}

/// The file of `-x` with the number of files that each rank created.
pub(super) fn documents(
    parsed: &ParsedArguments<MdtestOptions>,
    record: &RunRecord,
) -> Vec<(String, String)> {
    let Some(path) = &parsed.options.stonewall_file else {
        return Vec::new();
    };
    let last = rounds(record, "file creation").last();
    let last = last.or_else(|| rounds(record, "directory creation").last());
    let Some(file_count) = last.map(|round| round.file_count) else {
        return Vec::new();
    };
    let per_rank = file_count / u64::from(parsed.options.ranks);
    vec![(path.clone(), per_rank.to_string())]
}

fn head(parsed: &ParsedArguments<MdtestOptions>, record: &RunRecord) -> String {
    let ParsedArguments { options, arguments } = parsed;
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
    text
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%m/%d/%Y %H:%M:%S").to_string()
}

/// The values that a table contains.
#[derive(Clone, Copy)]
enum TableUnit {
    Rate,
    Time,
}

impl TableUnit {
    fn value(self, count: f64, seconds: f64) -> f64 {
        match self {
            Self::Rate => count / seconds.max(1e-9),
            // The total time, as in the original, although the title says ms/op.
            Self::Time => seconds,
        }
    }
}

/// The iterations with one number of ranks.
struct MdtestPass<'a> {
    options: &'a MdtestOptions,
    record: &'a RunRecord,
    /// Number of passes before it.
    index: usize,
    /// Number of ranks.
    ranks: u32,
}

impl MdtestPass<'_> {
    fn head(&self) -> String {
        let options = self.options;
        let noun = match (options.has_directories, options.has_files) {
            (true, true) => "files/directories",
            (false, _) => "files",
            (true, false) => "directories",
        };
        let items = u64::from(options.items) * u64::from(self.ranks);
        match options.is_shared {
            true => format!("{} tasks, 1 file\n", self.ranks),
            false => format!("{} tasks, {items} {noun}\n", self.ranks),
        }
    }

    fn table(&self, unit: TableUnit) -> String {
        let options = self.options;
        let kind = match unit {
            TableUnit::Rate => "rate (in ops/sec)",
            TableUnit::Time => "time (in ms/op)",
        };
        let mut text = format!(
            "\nSUMMARY {kind}: (of {} iterations)\n   Operation                     Max            \
             Min           Mean        Std Dev\n   ---------                     ---            \
             ---           ----        -------\n",
            options.iterations
        );
        let start = if options.has_directories { 0 } else { 4 };
        let stop = if options.has_files { 8 } else { 4 };
        let row =
            |(title, phase): &(&str, &str), count| row(title, &self.values(phase, count, unit));
        text.extend(ROWS[start..stop].iter().map(|it| row(it, None)));
        text += &self.stonewall(unit);
        let nodes = Some(options.node_count());
        text.extend(TREE_ROWS.iter().map(|it| row(it, nodes)));
        text
    }

    fn rounds(&self, phase: &str) -> &[RoundFigures] {
        let iterations = self.options.iterations as usize;
        let rounds = rounds(self.record, phase);
        // All passes add rounds to the same phase, and an interrupted run has fewer rounds.
        let from = (self.index * iterations).min(rounds.len());
        &rounds[from..(from + iterations).min(rounds.len())]
    }

    /// A value for each iteration; like the original, 0 if a phase did not run.
    fn values(&self, phase: &str, count: Option<u32>, unit: TableUnit) -> Vec<f64> {
        let value = |round: &RoundFigures| {
            let count = count.map_or(round.file_count as f64, f64::from);
            unit.value(count, round.time_ns as f64 / 1e9)
        };
        let rounds = self.rounds(phase);
        let iterations = 0..self.options.iterations as usize;
        iterations
            .map(|it| rounds.get(it).map_or(0.0, value))
            .collect()
    }

    /// The row for files created until the time limit; empty without a limit.
    fn stonewall(&self, unit: TableUnit) -> String {
        let reached = self.rounds("file creation").iter().filter_map(|round| {
            let windows = windows_of(round);
            let reached = WorkerProgress::sum(windows.iter().filter_map(WorkerProgress::at_wall));
            reached.filter(|it| it.rounds > 0)
        });
        let (count, ns) = reached.fold((0, 0), |(count, ns), it| {
            (count + it.rounds, ns + it.time_ns)
        });
        if self.options.stonewall_seconds == 0 || count == 0 {
            return String::new();
        }
        let value = unit.value(count as f64, ns as f64 / 1e9);
        let title = "File create (stonewall)";
        let none = "NA";
        format!("   {title:<22} {none:>14} {none:>14} {value:14.3} {none:>14}\n")
    }
}

fn row(title: &str, values: &[f64]) -> String {
    let figures = Summary::of(values);
    let Summary {
        max: most,
        min: least,
        mean,
        ..
    } = figures;
    let deviation = figures.sample_deviation();
    format!("   {title:<22} {most:14.3} {least:14.3} {mean:14.3} {deviation:14.3}\n")
}
