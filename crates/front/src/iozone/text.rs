//! The tables of IOzone: by size, for spreadsheets, of several at once.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use results::{CellRecord, RunRecord, WorkerWindow};

use super::options::{Durable, Options, Unit};
use super::tests_of_file::THROUGHPUT;
use super::{Sizes, matrix};
use crate::windows::{by_workload, windows};
use crate::{ClassicText, FrontOrigin};

const HEAD: &str = concat!(
    "                                                              random    random",
    "     bkwd    record    stride                                    "
);
const COLUMNS: &str = concat!(
    "              kB  reclen    write  rewrite    read    reread    read     write",
    "     read   rewrite      read   fwrite frewrite    fread  freread"
);

/// A column: its phase, its width, and what its table for spreadsheets is called.
const TABLE: [(&str, usize, &str); 17] = [
    ("write", 9, "Writer"),
    ("rewrite", 9, "Re-writer"),
    ("read", 9, "Reader"),
    ("reread", 9, "Re-Reader"),
    ("random read", 9, "Random read"),
    ("random write", 9, "Random write"),
    ("backward read", 9, "Backward read"),
    ("record rewrite", 10, "Record rewrite"),
    ("stride read", 10, "Stride read"),
    ("fwrite", 9, "Fwrite"),
    ("frewrite", 9, "Re-Fwrite"),
    ("fread", 9, "Fread"),
    ("freread", 9, "Re-Fread"),
    ("pwrite", 9, "Pwrite"),
    ("repwrite", 9, "Re-Pwrite"),
    ("pread", 9, "Pread"),
    ("repread", 9, "Re-Pread"),
];
/// Columns without the tests of `-E`.
const USUAL_COLUMNS: usize = 13;

/// The text of a run.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(Text {
        arguments: origin.arguments.clone(),
    })
}

struct Text {
    arguments: Vec<String>,
}

/// What was measured of one size.
struct Measured<'a> {
    sizes: Sizes,
    phases: Vec<&'a CellRecord>,
}

impl ClassicText for Text {
    fn end(&mut self, record: &RunRecord) -> String {
        let Ok(options) = Options::read(&self.arguments) else {
            return String::new();
        };
        let sizes = matrix(&options);
        let found = by_workload(record).into_iter().filter_map(|phases| {
            let is_own = |it: &&Sizes| it.name() == phases[0].workload;
            let sizes = *sizes.iter().find(is_own)?;
            Some(Measured { sizes, phases })
        });
        let found: Vec<Measured<'_>> = found.collect();
        let body = match options.children {
            Some(_) => throughput(&options, &found),
            None => single(&options, &found),
        };
        banner(&options, &self.arguments) + &body
    }
}

fn banner(options: &Options, arguments: &[String]) -> String {
    let mut lines = vec![
        "Iozone: Performance Test of File I/O".to_owned(),
        "        In the place of Version $Revision: 3.489 $".to_owned(),
        String::new(),
    ];
    let mut say = |is_so: bool, line: String| {
        if is_so {
            lines.push(line);
        }
    };
    say(
        options.is_excel,
        "Excel chart generation enabled".to_owned(),
    );
    say(options.is_auto, "Auto Mode".to_owned());
    match (options.is_auto, options.files_kib.last()) {
        (true, Some(kib)) => say(true, format!("Using maximum file size of {kib} kilobytes.")),
        (false, Some(kib)) => say(true, format!("File size set to {kib} kB")),
        (_, None) => {}
    }
    if let Some(kib) = options.record_kib {
        say(true, format!("Record Size {kib} kB"));
    }
    say(options.flushes, "Include fsync in write timing".to_owned());
    say(options.closes, "Include close in write timing".to_owned());
    say(options.is_direct, "O_DIRECT feature enabled".to_owned());
    say(options.sync == Durable::All, "SYNC Mode.".to_owned());
    let command = [&["iozone".to_owned()], arguments].concat().join(" ");
    say(
        true,
        format!("Command line used: {}", workload::printable(&command)),
    );
    say(
        true,
        match options.unit {
            Unit::Kib => "Output is in kBytes/sec".to_owned(),
            Unit::Operations => "Output is in operations/sec".to_owned(),
            Unit::Microseconds => "Output is in microseconds per operation".to_owned(),
        },
    );
    say(true, "Time Resolution = 0.000001 seconds.".to_owned());
    let (cache, line) = (options.cache_kib, options.line_bytes);
    say(true, format!("Processor cache size set to {cache} kBytes."));
    say(
        true,
        format!("Processor cache line size set to {line} bytes."),
    );
    let stride = options.stride;
    say(
        true,
        format!("File stride size set to {stride} * record size."),
    );
    lines
        .iter()
        .map(|line| match line.as_str() {
            "" => "\n".to_owned(),
            line => format!("\t{line}\n"),
        })
        .collect()
}

/// So much in that time, in the unit that was asked for.
fn rate(unit: Unit, bytes: u64, record_kib: u64, span_ns: u64) -> f64 {
    let seconds = span_ns.max(1) as f64 / 1e9;
    let kib = bytes as f64 / 1024.0;
    let operations = kib / record_kib as f64;
    match unit {
        Unit::Kib => kib / seconds,
        Unit::Operations => operations / seconds,
        Unit::Microseconds => seconds * 1e6 / operations.max(1.0),
    }
}

/// The rate of a phase of one worker; none where there was no such phase.
fn of_phase(unit: Unit, measured: &Measured<'_>, name: &str) -> Option<u64> {
    let phases = measured.phases.iter();
    let cell = phases.copied().find(|cell| cell.phase.name() == name)?;
    let window = windows(cell).into_iter().next()?;
    let bytes = window.read_bytes + window.written_bytes;
    let span_ns = window.end_ns.saturating_sub(window.begin_ns);
    // The cast cuts off, as the original's does.
    Some(rate(unit, bytes, measured.sizes.record_kib, span_ns) as u64)
}

fn single(options: &Options, found: &[Measured<'_>]) -> String {
    let columns = match options.has_extensions {
        true => TABLE.len(),
        false => USUAL_COLUMNS,
    };
    let more = match options.has_extensions {
        true => "   pwrite repwrite    pread  repread",
        false => "",
    };
    let mut text = format!("{HEAD}\n{COLUMNS}{more}\n");
    for measured in found {
        let Sizes {
            file_kib,
            record_kib,
            ..
        } = measured.sizes;
        let _ = write!(text, "{file_kib:16}{record_kib:8}");
        for (name, width, _) in &TABLE[..columns] {
            match of_phase(options.unit, measured, name) {
                Some(rate) => {
                    let _ = write!(text, "{rate:width$}");
                }
                None => text += &" ".repeat(*width),
            }
        }
        text.push('\n');
    }
    text += "\niozone test complete.\n";
    if options.is_excel {
        text += &spreadsheet(options, found);
    }
    text
}

/// Rates by size of file and of record, test by test.
fn spreadsheet(options: &Options, found: &[Measured<'_>]) -> String {
    let mut text = "Excel output is below:\n".to_owned();
    let sizes = || found.iter().map(|it| it.sizes);
    let files: BTreeSet<u64> = sizes().map(|it| it.file_kib).collect();
    // All records of the automatic mode stand in the heading, whether a file holds them or not.
    let mut records: BTreeSet<u64> = sizes().map(|it| it.record_kib).collect();
    if options.record_kib.is_none() {
        let doubled = std::iter::successors(Some(options.record_min_kib), |it| Some(it * 2));
        records.extend(doubled.take_while(|it| *it <= options.record_max_kib));
    }
    for (name, _, title) in TABLE {
        let of = |file: u64, record: u64| {
            let is_it =
                |it: &&Measured<'_>| (it.sizes.file_kib, it.sizes.record_kib) == (file, record);
            found
                .iter()
                .find(is_it)
                .and_then(|it| of_phase(options.unit, it, name))
        };
        if found
            .iter()
            .all(|it| of_phase(options.unit, it, name).is_none())
        {
            continue;
        }
        let heading: Vec<String> = records.iter().map(|kib| format!("\"{kib}\"")).collect();
        let _ = write!(
            text,
            "\n\"{title} report\"\n        {}\n",
            heading.join("  ")
        );
        for file in &files {
            let _ = write!(text, "\"{file}\"   ");
            for record in records.iter().filter(|record| *record <= file) {
                let _ = write!(text, "{} ", of(*file, *record).unwrap_or(0));
            }
            text.push('\n');
        }
    }
    text
}

/// What a child did until it counted no more.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Child {
    bytes: u64,
    span_ns: u64,
}

impl Child {
    fn of(window: &WorkerWindow) -> Self {
        match window.wall {
            Some(wall) => Self {
                bytes: wall.read_bytes + wall.written_bytes,
                span_ns: wall.at_ns.saturating_sub(window.begin_ns),
            },
            None => Self {
                bytes: window.read_bytes + window.written_bytes,
                span_ns: window.end_ns.saturating_sub(window.begin_ns),
            },
        }
    }
}

fn throughput(options: &Options, found: &[Measured<'_>]) -> String {
    let mut text = String::new();
    let mut rows: Vec<(&str, Vec<f64>)> = Vec::new();
    for measured in found {
        let Sizes {
            file_kib,
            record_kib,
            children,
        } = measured.sizes;
        let _ = write!(
            text,
            "\tThroughput test with {children} processes\n\
             \tEach process writes a {file_kib} kByte file in {record_kib} kByte records\n"
        );
        for (phase, title) in THROUGHPUT.iter().flat_map(|test| test.passes) {
            let mut phases = measured.phases.iter();
            let Some(cell) = phases.find(|cell| cell.phase.name() == *phase) else {
                continue;
            };
            let sum = one_test(&mut text, options, (measured.sizes, title), &windows(cell));
            let title = title.trim();
            match rows.iter_mut().find(|(known, _)| *known == title) {
                Some((_, sums)) => sums.push(sum),
                None => rows.push((title, vec![sum])),
            }
        }
    }
    if options.is_excel {
        text += &throughput_spreadsheet(options, found, &rows);
    }
    text + "\n\n\niozone test complete.\n"
}

/// Adds the lines of a test, and says what all children reached.
fn one_test(
    text: &mut String,
    options: &Options,
    (sizes, title): (Sizes, &str),
    windows: &[WorkerWindow],
) -> f64 {
    let unit = match options.unit {
        Unit::Kib => "kB/sec",
        Unit::Operations => "ops/sec",
        Unit::Microseconds => "usec/op",
    };
    let children: Vec<Child> = windows.iter().map(Child::of).collect();
    let rate_of = |it: &Child| rate(options.unit, it.bytes, sizes.record_kib, it.span_ns);
    let rates: Vec<f64> = children.iter().map(rate_of).collect();
    let sum: f64 = rates.iter().sum();
    let begin_ns = windows.iter().map(|it| it.begin_ns).min().unwrap_or(0);
    let end_ns = windows.iter().map(|it| it.end_ns).max().unwrap_or(0);
    let all = windows
        .iter()
        .map(|it| it.read_bytes + it.written_bytes)
        .sum();
    let parent = rate(options.unit, all, sizes.record_kib, end_ns - begin_ns);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let average = sum / rates.len().max(1) as f64;
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let least_kib = kib(children.iter().map(|it| it.bytes).min().unwrap_or(0));
    // The longer names of the originals have fewer tabs behind them.
    let (wide, title) = match title.strip_prefix(' ') {
        Some(title) => (" ", title),
        None => ("", title),
    };
    let tabs = if title.len() < 8 { "\t\t" } else { "\t" };
    let count = format!("{wide}{} {title} {tabs}", sizes.children);
    let _ = write!(
        text,
        "\n\tChildren see throughput for {count}= {sum:10.2} {unit}\n\
         \tParent sees throughput for {count}= {parent:10.2} {unit}\n\
         \tMin throughput per process \t\t\t= {least:10.2} {unit} \n\
         \tMax throughput per process \t\t\t= {most:10.2} {unit}\n\
         \tAvg throughput per process \t\t\t= {average:10.2} {unit}\n\
         \tMin xfer \t\t\t\t\t= {least_kib:10.2} kB\n"
    );
    if options.tells_children {
        for (index, (child, rate)) in children.iter().zip(&rates).enumerate() {
            let moved = kib(child.bytes);
            let _ = writeln!(
                text,
                "\tChild[{index}] xfer count = {moved:10.2} kB, Throughput = {rate:10.2} {unit}"
            );
        }
    }
    sum
}

fn throughput_spreadsheet(
    options: &Options,
    found: &[Measured<'_>],
    rows: &[(&str, Vec<f64>)],
) -> String {
    let record_kib = found.first().map_or(0, |it| it.sizes.record_kib);
    let unit = match options.unit {
        Unit::Kib => "kBytes/sec",
        Unit::Operations => "ops/sec",
        Unit::Microseconds => "microseconds/op",
    };
    let mut text = format!(
        "\n\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\
         \"Record size = {record_kib} kBytes \"\n\"Output is in {unit}\"\n\n"
    );
    for (title, sums) in rows {
        let title = format!("\"{title:>15} \"");
        let sums: String = sums.iter().map(|sum| format!(" {sum:10.2} ")).collect();
        let _ = write!(text, "{title}{sums}\n\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Options {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&words).unwrap()
    }

    fn window(bytes: u64, begin_ns: u64, end_ns: u64) -> WorkerWindow {
        WorkerWindow {
            begin_ns,
            end_ns,
            read_bytes: bytes,
            ..WorkerWindow::default()
        }
    }

    #[test]
    fn a_test_of_several_is_told_as_by_the_original() {
        let options = options("-t 2 -s 8m -r 128k -C");
        let sizes = matrix(&options)[0];
        let early = WorkerWindow {
            wall: Some(results::WorkerAtWall {
                at_ns: 1_000_000_000,
                read_bytes: 2 << 20,
                ..results::WorkerAtWall::default()
            }),
            ..window(8 << 20, 0, 4_000_000_000)
        };
        let windows = [early, window(8 << 20, 0, 2_000_000_000)];
        let mut text = String::new();
        let sum = one_test(&mut text, &options, (sizes, " readers"), &windows);
        assert_eq!(sum, 6144.0);
        assert_eq!(
            text,
            "\n\tChildren see throughput for  2 readers \t\t=    6144.00 kB/sec\n\
             \tParent sees throughput for  2 readers \t\t=    4096.00 kB/sec\n\
             \tMin throughput per process \t\t\t=    2048.00 kB/sec \n\
             \tMax throughput per process \t\t\t=    4096.00 kB/sec\n\
             \tAvg throughput per process \t\t\t=    3072.00 kB/sec\n\
             \tMin xfer \t\t\t\t\t=    2048.00 kB\n\
             \tChild[0] xfer count =    2048.00 kB, Throughput =    2048.00 kB/sec\n\
             \tChild[1] xfer count =    8192.00 kB, Throughput =    4096.00 kB/sec\n"
        );
    }

    #[test]
    fn rates_are_told_in_the_unit_that_was_asked_for() {
        let of = |unit| rate(unit, 1 << 20, 4, 500_000_000);
        assert_eq!(of(Unit::Kib), 2048.0);
        assert_eq!(of(Unit::Operations), 512.0);
        assert_eq!(of(Unit::Microseconds), 500_000.0 / 256.0);
    }

    #[test]
    fn headings_are_as_wide_as_their_columns() {
        let width: usize = TABLE[..USUAL_COLUMNS]
            .iter()
            .map(|(_, width, _)| width)
            .sum();
        assert_eq!(COLUMNS.len(), 24 + width);
        assert_eq!(HEAD.len(), COLUMNS.len());
    }
}
