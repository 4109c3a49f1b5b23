//! The tables and CSV lines of Bonnie++.

use std::fmt::Write as _;

use plan::Cell;
use results::{CellRecord, RunRecord, Status};

use super::options::{BonnieOptions, FileKind, SEEKERS, SEEKS};
use super::phases::{FILE_SET, LARGE_FILE_PHASES, SMALL_FILE_PHASES};
use crate::text::ParsedArguments;
use crate::windows::{WorkerSum, by_workload, longest_ns};

/// Phases shorter than this many seconds are printed as `+++++`.
const SECONDS_MIN: f64 = 0.5;

const FILE_HEAD: &str = "\
-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
";
const FILES_HEAD: &str = " -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n";
const FILES_UNITS: &str = " /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n";
// The original's header lacks the two fields after the chunk size, and swaps the last two fields of
// the files.
const CSV_HEAD: &str = "\
format_version,bonnie_version,name,concurrency,seed,file_size,io_chunk_size,putc,putc_cpu,\
put_block,put_block_cpu,rewrite,rewrite_cpu,getc,getc_cpu,get_block,get_block_cpu,seeks,seeks_cpu,\
num_files,max_size,min_size,num_dirs,file_chunk_size,seq_create,seq_create_cpu,seq_stat,\
seq_stat_cpu,seq_del,seq_del_cpu,ran_create,ran_create_cpu,ran_stat,ran_stat_cpu,ran_del,\
ran_del_cpu,putc_latency,put_block_latency,rewrite_latency,getc_latency,get_block_latency,\
seeks_latency,seq_create_latency,seq_stat_latency,seq_del_latency,ran_create_latency,\
ran_stat_latency,ran_del_latency
";

/// Result of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PhaseFigure {
    /// KiB, seeks or files per second, depending on the phase.
    pub rate: f64,
    pub percent: f64,
    pub seconds: f64,
    pub longest_ns: u64,
}

/// The output of Bonnie++ at the end of a run.
pub(super) fn page(parsed: &ParsedArguments<BonnieOptions>, record: &RunRecord) -> String {
    let mut options = parsed.options.clone();
    // The file's size depends on the memory of the machine that ran it, so take it from the record.
    if let Some(bytes) = file_bytes(record) {
        options.file_mib = bytes >> 20;
    }
    options
        .name
        .get_or_insert_with(|| record.environment.host.clone());
    let runs = by_workload(record);
    let figures: Vec<_> = runs.iter().map(|run| figures(run, &options)).collect();
    of_runs(&options, &figures)
}

/// Planned size of the large file; `None` if the run has none.
fn file_bytes(record: &RunRecord) -> Option<u64> {
    let mut programs = record.plan.cells.iter().filter_map(Cell::program);
    let mut filesets = programs.next()?.filesets.iter();
    filesets.find(|it| it.name == FILE_SET)?.size.largest()
}

fn of_runs(options: &BonnieOptions, figures: &[[Option<PhaseFigure>; 12]]) -> String {
    let lines: String = figures.iter().map(|it| csv(options, it)).collect();
    match (options.runs, figures.first()) {
        // With `-q`, the original prints the tables on standard error.
        (None, Some(_)) if options.is_quiet => lines,
        (None, Some(figures)) => {
            // The original prints the line break of the files' latency even without files.
            let gap = if options.files.thousands > 0 {
                ""
            } else {
                "\n"
            };
            tables(options, figures) + gap + &lines
        }
        // With `-x`, the original prints only CSV lines, and a header above several of them.
        (Some(1), _) => lines,
        _ => format!("{CSV_HEAD}{lines}"),
    }
}

/// Results of a run by phase; `None` for phases that did not run to their end.
fn figures(run: &[&CellRecord], options: &BonnieOptions) -> [Option<PhaseFigure>; 12] {
    // The rates count all planned work, which an interrupted phase has not done.
    let complete = run.iter().filter(|cell| cell.status == Status::Complete);
    let find = |name: &str| complete.clone().find(|cell| cell.phase.name() == name);
    let names = LARGE_FILE_PHASES
        .into_iter()
        .chain(SMALL_FILE_PHASES)
        .enumerate();
    let mut figures = [None; 12];
    for (index, name) in names {
        figures[index] = find(name).map(|cell| figure(index, cell, options));
    }
    figures
}

fn figure(index: usize, cell: &CellRecord, options: &BonnieOptions) -> PhaseFigure {
    let sum = WorkerSum::of(cell);
    let (amount, label) = match index {
        // A chunk is read and written, but counts once.
        2 => (sum.bytes as f64 / 2048.0, "chunk"),
        0..=4 => (sum.bytes as f64 / 1024.0, "chunk"),
        5 => (options.seeks as f64, "chunk"),
        _ => (f64::from(options.files.count()), "file"),
    };
    PhaseFigure {
        rate: amount / sum.seconds.max(1e-9),
        percent: sum.percent(),
        seconds: sum.seconds,
        longest_ns: longest_ns(cell, label),
    }
}

/// Rate and CPU share; empty without a phase, `+++++` and `+++` if it was too short.
fn rate_and_cpu(figure: Option<PhaseFigure>, rate: impl Fn(f64) -> String) -> (String, String) {
    match figure {
        None => (String::new(), String::new()),
        Some(it) if it.seconds < SECONDS_MIN => ("+++++".to_owned(), "+++".to_owned()),
        // The casts truncate, as in the original.
        Some(it) => (rate(it.rate), (it.percent as i64).to_string()),
    }
}

/// A rate in KiB/s, in the unit that makes it shortest.
fn bandwidth(kib: f64) -> String {
    let mib = kib / 1024.0;
    match () {
        () if kib < 10_000.0 => format!("{}k", kib as i64),
        () if mib < 100.0 => format!("{mib:.1}m"),
        () if mib < 1000.0 => format!("{mib:.0}m"),
        () => format!("{:.1}g", mib / 1024.0),
    }
}

fn seeks(rate: f64) -> String {
    match rate >= 1000.0 {
        true => format!("{rate:.0}"),
        false => format!("{rate:.1}"),
    }
}

fn truncated(rate: f64) -> String {
    (rate as i64).to_string()
}

/// The longest latency, in the unit that makes it shortest; empty if it is 0.
fn latency(figure: Option<PhaseFigure>) -> String {
    let seconds = figure.map_or(0.0, |it| it.longest_ns as f64 / 1e9);
    match () {
        () if seconds == 0.0 => String::new(),
        // With these limits of the original, milliseconds and microseconds have at most five
        // digits.
        () if seconds > 99.999_999 => format!("{}s", seconds as i64),
        () if seconds > 0.099_999 => format!("{}ms", (seconds * 1e3) as i64),
        () => format!("{}us", (seconds * 1e6) as i64),
    }
}

fn tables(options: &BonnieOptions, figures: &[Option<PhaseFigure>; 12]) -> String {
    let mut text = String::new();
    if options.file_mib > 0 {
        let head = "------Sequential Output------ --Sequential Input- --Random-";
        let _ = write!(text, "{:<20}{head}\n{:20}{FILE_HEAD}", "Version 2.00a", "");
        text += &named(options.machine(), &file_words(options));
        for (index, figure) in figures[..6].iter().enumerate() {
            let rate = if index == 5 { seeks } else { bandwidth };
            row(&mut text, rate_and_cpu(*figure, rate));
        }
        latencies(&mut text, &figures[..6]);
    }
    if options.files.thousands > 0 {
        let head = "------Sequential Create------ --------Random Create--------";
        let _ = writeln!(text, "{:<20}{head}", "Version 2.00a");
        let _ = write!(text, "{:<19}{FILES_HEAD}", options.machine());
        let words = files_words(options);
        let columns = match (words.contains(':'), options.files.min_bytes) {
            (_, 1..) => format!("{:<19}", "files:max:min"),
            (true, 0) => format!("{:<19}", "files:max"),
            (false, 0) => format!("{:>19}", "files"),
        };
        let _ = write!(text, "{columns} {FILES_UNITS}{words:>19}");
        // The original passes a double to `%5d` and prints garbage; its CSV has the right number.
        for figure in &figures[6..] {
            row(&mut text, rate_and_cpu(*figure, truncated));
        }
        latencies(&mut text, &figures[6..]);
    }
    text
}

/// The name left-aligned and the rest right-aligned in 19 columns; a longer rest widens it.
fn named(name: &str, rest: &str) -> String {
    let width = 19_usize.saturating_sub(rest.len());
    format!("{name:<width$.width$}{rest}")
}

fn row(text: &mut String, (rate, percent): (String, String)) {
    let _ = write!(text, " {rate:>5} {percent:>3}");
}

fn latencies(text: &mut String, figures: &[Option<PhaseFigure>]) {
    let _ = write!(text, "\n{:<17}", "Latency");
    for figure in figures {
        let _ = write!(text, " {:>9}", latency(*figure));
    }
    text.push('\n');
}

fn file_size(options: &BonnieOptions) -> String {
    match (options.file_mib, options.file_mib % 1024) {
        (0, _) => String::new(),
        (mib, 0) => format!("{}G", mib / 1024),
        (mib, _) => format!("{mib}M"),
    }
}

/// The size, and the parameters that differ from their defaults.
fn file_words(options: &BonnieOptions) -> String {
    let unless = |is_usual: bool, text: String| if is_usual { String::new() } else { text };
    let chunk = match options.chunk_bytes {
        bytes @ ..1024 => bytes.to_string(),
        bytes @ ..1_048_576 => format!("{}k", bytes >> 10),
        bytes => format!("{}m", bytes >> 20),
    };
    let parts = [
        file_size(options),
        unless(options.chunk_bytes == 8192, chunk),
        unless(options.concurrency == 1, options.concurrency.to_string()),
        unless(options.seeks == SEEKS, options.seeks.to_string()),
        // The original cuts off a number of one digit.
        unless(
            options.seekers == SEEKERS || options.seekers < 10,
            options.seekers.to_string(),
        ),
    ];
    parts.join(":").trim_end_matches(':').to_owned()
}

/// Number and kind of the files, split into the columns of the CSV.
fn files_parts(options: &BonnieOptions) -> [String; 4] {
    let files = &options.files;
    let [max, min] = match (files.kind, files.max_bytes) {
        (FileKind::Links, _) => ["link".to_owned(), String::new()],
        (FileKind::Symlinks, _) => ["symlink".to_owned(), String::new()],
        (FileKind::Files, 0) => [String::new(), String::new()],
        (FileKind::Files, max) => [max.to_string(), files.min_bytes.to_string()],
    };
    let directories = match files.directories {
        1 => String::new(),
        count => count.to_string(),
    };
    match files.thousands {
        0 => Default::default(),
        count => [count.to_string(), max, min, directories],
    }
}

fn files_words(options: &BonnieOptions) -> String {
    let [count, max, min, directories] = files_parts(options);
    let sizes = [count, max, min].join(":");
    let sizes = sizes.trim_end_matches(':');
    match directories.as_str() {
        "" => sizes.to_owned(),
        directories => format!("{sizes}/{directories}"),
    }
}

/// One CSV line.
fn csv(options: &BonnieOptions, figures: &[Option<PhaseFigure>; 12]) -> String {
    let has_file = options.file_mib > 0;
    let file_field = |text: String| if has_file { text } else { String::new() };
    let mut fields = vec![
        "1.98".to_owned(),
        "2.00a".to_owned(),
        // A comma or line break would shift all fields after the name.
        options.machine().replace([',', '\n'], " "),
        options.concurrency.to_string(),
        options.seed_name(),
        file_size(options),
        // The original always leaves the chunk size empty.
        String::new(),
        file_field(options.seeks.to_string()),
        file_field(options.seekers.to_string()),
    ];
    let rates = |fields: &mut Vec<String>, range: std::ops::Range<usize>| {
        for index in range {
            let rate = if index == 5 { seeks } else { truncated };
            let (rate, percent) = rate_and_cpu(figures[index], rate);
            fields.extend([rate, percent]);
        }
    };
    rates(&mut fields, 0..6);
    let [count, max, mut min, directories] = files_parts(options);
    // Only the table has a smallest size of 0.
    min.retain(|_| options.files.min_bytes > 0);
    // The original also leaves the chunk size of the files empty.
    fields.extend([count, max, min, String::new(), directories]);
    rates(&mut fields, 6..12);
    fields.extend(figures.iter().map(|figure| latency(*figure)));
    fields.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use plan::{CacheMode, EngineKind, FrontOrigin, Work};

    use super::super::draws::BonnieRandom;
    use super::super::phases::program;
    use super::*;
    use crate::tests::{record, round};

    fn options(line: &str) -> BonnieOptions {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        BonnieOptions::read(&words, 0).unwrap()
    }

    fn figure(seconds: f64, rate: f64, percent: f64, longest_us: u64) -> Option<PhaseFigure> {
        Some(PhaseFigure {
            rate,
            percent,
            seconds,
            longest_ns: longest_us * 1000,
        })
    }

    /// The third of the original's runs of which the text is kept.
    fn figures() -> [Option<PhaseFigure>; 12] {
        let short = |longest| figure(0.1, 1.0, 1.0, longest);
        [
            figure(1.0, 2273.9, 95.9, 10_717),
            short(4060),
            short(4058),
            figure(1.0, 3191.2, 96.0, 6443),
            short(25),
            short(8846),
            short(1008),
            short(66),
            short(1055),
            short(2970),
            short(84),
            short(272),
        ]
    }

    #[test]
    fn tables_and_lines_match_the_original() {
        let options = options("-r 0 -s 256m -n 4:4096:1024:4 -z 12345 -m testhost");
        assert_eq!(
            tables(&options, &figures()) + &csv(&options, &figures()),
            "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
testhost       256M 2273k  95 +++++ +++ +++++ +++ 3191k  96 +++++ +++ +++++ +++
Latency             10717us    4060us    4058us    6443us      25us    8846us
Version 2.00a       ------Sequential Create------ --------Random Create--------
testhost            -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
      4:4096:1024/4 +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++
Latency              1008us      66us    1055us    2970us      84us     272us
1.98,2.00a,testhost,1,12345,256M,,8192,5,2273,95,+++++,+++,+++++,+++,3191,96,+++++,+++,+++++,+++,\
4,4096,1024,,4,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,10717us,4060us,4058us,\
6443us,25us,8846us,1008us,66us,1055us,2970us,84us,272us
"
        );
    }

    #[test]
    fn skipped_tests_are_blank() {
        let options = options("-r 0 -s 0 -n 256 -z 1 -m testhost");
        let mut figures = figures();
        figures[..6].fill(None);
        figures[6] = figure(1.3, 196_995.2, 99.5, 805);
        let line = csv(&options, &figures);
        assert!(
            line.starts_with("1.98,2.00a,testhost,1,1,,,,,,,,,,,,,,,,,256,,,,,196995,99,+++++,")
        );
        assert!(line.contains(",+++,,,,,,,805us,66us,"), "{line}");
        let text = tables(&options, &figures);
        assert!(text.contains("\n              files  /sec %CP"), "{text}");
        assert!(text.contains("\n                256 196995  99 +++++ +++"));
    }

    #[test]
    fn numbers_are_printed_in_the_shortest_unit() {
        let bandwidths = [29.7, 9999.0, 50_000.0, 500_000.0, 3e6].map(bandwidth);
        assert_eq!(bandwidths, ["29k", "9999k", "48.8m", "488m", "2.9g"]);
        assert_eq!([999.94, 7335.2].map(seeks), ["999.9", "7335"]);
        let of = |us| latency(figure(1.0, 1.0, 1.0, us));
        assert_eq!(
            [0, 99_999, 100_000, 120_000_000].map(of),
            ["", "99999us", "100ms", "120s"]
        );
    }

    #[test]
    fn unusual_settings_follow_the_size() {
        let words = |line: &str| file_words(&options(line));
        assert_eq!(words("-r 0 -s 8m:4k"), "8M:4k");
        assert_eq!(words("-r 0 -s 4g::1000 -c 2"), "4G::2:1000");
        assert_eq!(words("-r 0 -s 2g"), "2G");
        assert_eq!(files_words(&options("-r 0 -n 2:-1")), "2:link");
    }

    /// The text of a run of `-s 8 -n 1`, whose last phase was interrupted.
    fn interrupted(phases: &[&str]) -> String {
        let origin = FrontOrigin {
            name: "bonnie++".to_owned(),
            arguments: ["-s", "8", "-n", "1", "-m", "x"].map(str::to_owned).into(),
        };
        let windows = vec![round(&[(1, 2_000_000_000)])];
        let phases: Vec<_> = phases.iter().map(|it| (*it, windows.clone())).collect();
        let mut record = record(&origin, &phases);
        record.cells.last_mut().unwrap().status = Status::Interrupted;
        page(
            &ParsedArguments {
                options: options(&origin.arguments.join(" ")),
                arguments: origin.arguments,
            },
            &record,
        )
    }

    #[test]
    fn an_interrupted_phase_is_blank() {
        let text = interrupted(&["put block", "seeks"]);
        assert!(
            text.contains("\n1.98,2.00a,x,1,1,8M,,8192,5,,,0,0,,,,,,,,,1,"),
            "{text}"
        );
        let text = interrupted(&["sequential create", "sequential stat"]);
        assert!(
            text.contains(",8M,,8192,5,,,,,,,,,,,,,1,,,,,512,0,,,"),
            "{text}"
        );
        // The file has its whole size even if not all of it was written.
        let text = interrupted(&["put block"]);
        assert!(text.contains("\nx                8M"), "{text}");
    }

    #[test]
    fn the_file_size_comes_from_the_plan() {
        let planned = |line: &str| {
            let options = options(line);
            let program = program(&options, &BonnieRandom::new(&options, Vec::new()));
            let cell = Cell::new(
                "bonnie++",
                (EngineKind::Psync, CacheMode::Buffered),
                Work::Acts(program.into()),
                Vec::new(),
            );
            let mut record = record(&FrontOrigin::default(), &[]);
            record.plan.cells = vec![cell];
            file_bytes(&record)
        };
        assert_eq!(planned("-s 8 -n 1"), Some(8 << 20));
        assert_eq!(planned("-s 0 -n 1"), None);
    }

    #[test]
    fn quiet_runs_print_only_the_csv() {
        let all = of_runs(&options("-s 256m -n 4 -m x"), &[figures()]);
        let quiet = of_runs(&options("-s 256m -n 4 -m x -q"), &[figures()]);
        assert!(all.starts_with("Version") && all.ends_with(&quiet), "{all}");
        assert!(quiet.starts_with("1.98,") && quiet.lines().count() == 1);
        assert!(!all.contains("\n\n"), "{all}");
        // As the original does without files.
        let no_files = of_runs(&options("-s 256m -n 0 -m x"), &[figures()]);
        assert!(no_files.contains("\n\n1.98,"), "{no_files}");
    }
}
