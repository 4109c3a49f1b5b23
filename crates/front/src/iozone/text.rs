//! Output of IOzone: the table by size, the spreadsheet, and the report of several children.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use results::{CellRecord, RunRecord, WorkerWindow};

use super::TestSizes;
use super::banner::banner;
use super::options::{IozoneOptions, RateUnit};
use super::tests_of_file::{Test, tests};
use crate::figures::Summary;
use crate::text::ParsedArguments;
use crate::windows::{WorkerProgress, by_workload, window_ns, windows};

const HEAD: &str = concat!(
    "                                                              random    random",
    "     bkwd    record    stride                                    "
);
const COLUMNS: &str = concat!(
    "              kB  reclen    write  rewrite    read    reread    read     write",
    "     read   rewrite      read   fwrite frewrite    fread  freread"
);

/// Number of columns without the tests of `-E`.
const DEFAULT_COLUMNS: usize = 13;

/// Number of columns of `-A`, and of `-B`, which lacks the tests of streams.
const SHORT_COLUMNS: usize = 4;
const MAPPED_COLUMNS: usize = 9;
/// Number of characters in the columns of the sizes.
const SIZE_CHARACTERS: usize = 24;

/// Date format of C's `ctime`.
const CTIME: &str = "%a %b %e %H:%M:%S %Y";

/// Results for one combination of sizes.
pub(super) struct MeasuredSizes<'a> {
    pub sizes: TestSizes,
    phases: Vec<&'a CellRecord>,
}

impl MeasuredSizes<'_> {
    /// The phase with this name; `None` if it did not run.
    pub(super) fn phase(&self, name: &str) -> Option<&CellRecord> {
        let mut phases = self.phases.iter();
        phases.find(|cell| cell.phase.name() == name).copied()
    }

    /// Rate of a phase with one worker; `None` if the phase did not run.
    pub(super) fn rate(&self, options: &IozoneOptions, name: &str) -> Option<u64> {
        let figures = self.phase(name)?.phase_figures.as_ref()?;
        let worker = figures.rounds.first()?.workers.first()?;
        let progress = WorkerProgress::at_end(&worker.window?);
        let WorkerProgress { bytes, time_ns, .. } = moved_records(options, self.sizes, progress);
        let time_ns = match options.counts_only_calls() {
            // As in the original, which subtracts the time that it computes or sleeps.
            true => worker.calls.values().map(|call| call.sum_ns).sum(),
            false => time_ns,
        };
        // The cast truncates, as in the original.
        Some(rate(options.unit, bytes, self.sizes.record_kib, time_ns) as u64)
    }
}

/// The results of a record, by size.
pub(super) fn measured(record: &RunRecord) -> Vec<MeasuredSizes<'_>> {
    let results = by_workload(record).into_iter().filter_map(|phases| {
        let sizes = TestSizes::of_name(&phases[0].workload)?;
        Some(MeasuredSizes { sizes, phases })
    });
    results.collect()
}

/// The output at the end of a run.
pub(super) fn page(parsed: &ParsedArguments<IozoneOptions>, record: &RunRecord) -> String {
    let options = &parsed.options;
    let results = measured(record);
    let body = match options.is_together() {
        true => throughput(options, &results),
        false => single(options, &results),
    };
    let began = record.started_at.to_zoned(TimeZone::system());
    let began = began.strftime(CTIME).to_string();
    banner(options, &parsed.arguments, &began) + &body
}

/// Leaves out the bytes that a worker reads when it jumps (`-K`).
fn moved_records(
    options: &IozoneOptions,
    sizes: TestSizes,
    progress: WorkerProgress,
) -> WorkerProgress {
    if !options.has_jitter {
        return progress;
    }
    let record_bytes = sizes.record_kib << 10;
    // Each round moves a record, but the last one may not be done.
    let records = progress.rounds.min(progress.bytes / record_bytes);
    WorkerProgress {
        bytes: records * record_bytes,
        ..progress
    }
}

/// Converts bytes in a time to the unit of the output.
fn rate(unit: RateUnit, bytes: u64, record_kib: u64, span_ns: u64) -> f64 {
    let seconds = span_ns.max(1) as f64 / 1e9;
    let kib = bytes as f64 / 1024.0;
    let operations = kib / record_kib as f64;
    match unit {
        RateUnit::Kib => kib / seconds,
        RateUnit::Operations => operations / seconds,
        // The stonewall may stop a child before its first record, and the result would be infinite.
        RateUnit::Microseconds => seconds * 1e6 / operations.max(1.0),
    }
}

fn single(options: &IozoneOptions, results: &[MeasuredSizes<'_>]) -> String {
    let all = tests(false);
    let (count, more) = match options {
        it if it.is_short => (SHORT_COLUMNS, ""),
        it if it.mapped.is_some() => (MAPPED_COLUMNS, ""),
        it if it.has_extensions => (all.len(), "   pwrite repwrite    pread  repread"),
        _ => (DEFAULT_COLUMNS, ""),
    };
    let columns = &all[..count];
    let width: usize = columns.iter().map(|it| it.width).sum();
    let width = COLUMNS.len().min(SIZE_CHARACTERS + width);
    let head = if options.is_short { "" } else { &HEAD[..width] };
    let mut text = format!("{head:width$}\n{}{more}\n", &COLUMNS[..width]);
    for measured in results {
        let (file, record) = (measured.sizes.file_kib, measured.sizes.record_kib);
        let column = |Test {
                          name,
                          width,
                          number,
                          ..
                      }: &Test| {
            // As in the original, a second pass that `-+n` leaves out has the rate 0.
            let is_left_out = !options.retests && is_second_pass(name);
            let rate = match measured.rate(options, name) {
                None if is_left_out && options.has(*number) => Some(0),
                rate => rate,
            };
            let rate = rate.map_or(String::new(), |it| it.to_string());
            format!("{rate:>width$}")
        };
        let columns: String = columns.iter().map(column).collect();
        text += &format!("{file:16}{record:8}{columns}\n");
    }
    text += "\niozone test complete.\n";
    if options.is_excel {
        text += "Excel output is below:\n";
        text += &spreadsheet(options, results);
    }
    text
}

/// `true` if the test repeats the one before it.
fn is_second_pass(name: &str) -> bool {
    matches!(
        name,
        "rewrite" | "reread" | "frewrite" | "freread" | "repwrite" | "repread"
    )
}

/// Values of a test by file size and record size.
pub(super) struct SizeTable {
    pub title: &'static str,
    pub records_kib: Vec<u64>,
    /// Size of the file in KiB, and a value for each record size that fits into it.
    pub rows: Vec<(u64, Vec<f64>)>,
}

/// Tables of the tests that ran, with the values that `value` returns for the name of a phase.
pub(super) fn tables(
    options: &IozoneOptions,
    results: &[MeasuredSizes<'_>],
    value: &dyn Fn(&MeasuredSizes<'_>, &str) -> Option<f64>,
) -> Vec<SizeTable> {
    let sizes = || results.iter().map(|it| it.sizes);
    let files: BTreeSet<u64> = sizes().map(|it| it.file_kib).collect();
    // The original lists all record sizes of the automatic mode, even larger ones than any file.
    let mut records: BTreeSet<u64> = sizes().map(|it| it.record_kib).collect();
    if options.records_kib.is_empty() {
        let (least, most) = (options.record_min_kib, options.record_max_kib);
        records.extend(options.growing_sizes(least, most));
    }
    let table = |Test { name, title, .. }: Test| {
        let values = results.iter().filter_map(|it| {
            let value = value(it, name)?;
            Some(((it.sizes.file_kib, it.sizes.record_kib), value))
        });
        let values: BTreeMap<(u64, u64), f64> = values.collect();
        let row = |file: &u64| {
            let records = records.iter().filter(|record| *record <= file);
            // The original prints 0 for the combinations that it skips.
            let value = |record: &u64| values.get(&(*file, *record)).copied().unwrap_or(0.0);
            (*file, records.map(value).collect())
        };
        (!values.is_empty()).then(|| SizeTable {
            title,
            records_kib: records.iter().copied().collect(),
            rows: files.iter().map(row).collect(),
        })
    };
    tests(false).into_iter().filter_map(table).collect()
}

/// Rates by file size and record size, with a table per test.
fn spreadsheet(options: &IozoneOptions, results: &[MeasuredSizes<'_>]) -> String {
    let rate = |it: &MeasuredSizes<'_>, name: &str| it.rate(options, name).map(|it| it as f64);
    let mut text = String::new();
    for table in tables(options, results, &rate) {
        let heading = table.records_kib.iter().map(|kib| format!("\"{kib}\""));
        let heading = heading.collect::<Vec<String>>().join("  ");
        text += &format!("\n\"{} report\"\n        {heading}\n", table.title);
        for (file, rates) in &table.rows {
            let row: String = rates.iter().map(|it| format!("{it:.0} ")).collect();
            text += &format!("\"{file}\"   {row}\n");
        }
    }
    text
}

fn throughput(options: &IozoneOptions, results: &[MeasuredSizes<'_>]) -> String {
    let (mut text, rows) = children_reports(options, results);
    if options.is_excel {
        let record_kib = results.first().map_or(0, |it| it.sizes.record_kib);
        text += &throughput_spreadsheet(options.unit, record_kib, &rows);
    }
    if options.has_threads {
        text = text
            .replace("processes", "threads")
            .replace("process", "thread");
    }
    text + "\n\n\niozone test complete.\n"
}

/// The reports of all tests, and the sums of the children's rates by test and number of children.
pub(super) fn children_reports(
    options: &IozoneOptions,
    results: &[MeasuredSizes<'_>],
) -> (String, Vec<(Test, Vec<f64>)>) {
    let mut text = String::new();
    let tests = tests(true).into_iter();
    let mut rows: Vec<(Test, Vec<f64>)> = tests.map(|test| (test, Vec::new())).collect();
    for measured in results {
        let sizes = measured.sizes;
        let TestSizes {
            file_kib,
            record_kib,
            children,
        } = sizes;
        let plural = if children == 1 { "" } else { "es" };
        text += &format!(
            "\tThroughput test with {children} process{plural}\n\
             \tEach process writes a {file_kib} kByte file in {record_kib} kByte records\n"
        );
        for (Test { name, report, .. }, sums) in &mut rows {
            if let Some(cell) = measured.phase(name) {
                let sizes = (sizes, *report);
                sums.push(one_test(&mut text, options, sizes, &windows(cell)));
            }
        }
    }
    rows.retain(|(_, sums)| !sums.is_empty());
    (text, rows)
}

/// Appends the lines of a test, and returns the sum of the children's rates.
fn one_test(
    text: &mut String,
    options: &IozoneOptions,
    (sizes, title): (TestSizes, &str),
    windows: &[WorkerWindow],
) -> f64 {
    let unit = options.unit.names()[1];
    // The original counts a child only up to the stonewall, even if it continued after it.
    let progress = |it| moved_records(options, sizes, it);
    let end = |it| progress(WorkerProgress::at_end(it));
    let child = |it| WorkerProgress::at_wall(it).map_or_else(|| end(it), progress);
    let children: Vec<WorkerProgress> = windows.iter().map(child).collect();
    let rate_of = |bytes, time_ns| rate(options.unit, bytes, sizes.record_kib, time_ns);
    let rates = children.iter().map(|it| rate_of(it.bytes, it.time_ns));
    let rates: Vec<f64> = rates.collect();
    let all = Summary::of(&rates);
    let Summary {
        sum,
        mean,
        min: least,
        ..
    } = all;
    let most = all.max.max(0.0);
    // The parent also counts the bytes that children moved after the stonewall.
    let bytes = windows.iter().map(|it| end(it).bytes).sum();
    let parent = rate_of(bytes, window_ns(windows));
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let least_kib = kib(children.iter().map(|it| it.bytes).min().unwrap_or(0));
    // The original has fewer tabs after longer names.
    let (wide, title) = match title.strip_prefix('_') {
        Some(title) => (" ", title),
        None => ("", title),
    };
    let tabs = if title.len() < 8 { "\t\t" } else { "\t" };
    let count = format!("{wide}{} {title} {tabs}", sizes.children);
    *text += &format!(
        "\n\tChildren see throughput for {count}= {sum:10.2} {unit}\n\
         \tParent sees throughput for {count}= {parent:10.2} {unit}\n\
         \tMin throughput per process \t\t\t= {least:10.2} {unit} \n\
         \tMax throughput per process \t\t\t= {most:10.2} {unit}\n\
         \tAvg throughput per process \t\t\t= {mean:10.2} {unit}\n\
         \tMin xfer \t\t\t\t\t= {least_kib:10.2} kB\n"
    );
    let rows = children.iter().zip(&rates).enumerate();
    for (index, (child, rate)) in rows.filter(|_| options.reports_children) {
        let moved = kib(child.bytes);
        *text += &format!(
            "\tChild[{index}] xfer count = {moved:10.2} kB, Throughput = {rate:10.2} {unit}\n"
        );
    }
    sum
}

fn throughput_spreadsheet(unit: RateUnit, record_kib: u64, rows: &[(Test, Vec<f64>)]) -> String {
    let unit = unit.names()[2];
    let mut text = format!(
        "\n\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\
         \"Record size = {record_kib} kBytes \"\n\"Output is in {unit}\"\n\n"
    );
    for (test, sums) in rows {
        let sums: String = sums.iter().map(|sum| format!(" {sum:10.2} ")).collect();
        text += &format!("\"{:>15} \"{sums}\n\n", test.children_title);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::matrix;
    use super::*;

    fn options(line: &str) -> IozoneOptions {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        IozoneOptions::read(&words).unwrap()
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
    fn a_parallel_test_is_printed_as_in_the_original() {
        let options = options("-t 2 -s 8m -r 128k -C");
        let sizes = matrix(&options)[0];
        let early = WorkerWindow {
            wall: Some(results::WorkerAtStonewall {
                at_ns: 1_000_000_000,
                read_bytes: 2 << 20,
                ..results::WorkerAtStonewall::default()
            }),
            ..window(8 << 20, 0, 4_000_000_000)
        };
        let windows = [early, window(8 << 20, 0, 2_000_000_000)];
        let mut text = String::new();
        let sum = one_test(&mut text, &options, (sizes, "_readers"), &windows);
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
    fn rates_are_in_the_requested_unit() {
        let of = |unit| rate(unit, 1 << 20, 4, 500_000_000);
        assert_eq!(of(RateUnit::Kib), 2048.0);
        assert_eq!(of(RateUnit::Operations), 512.0);
        assert_eq!(of(RateUnit::Microseconds), 500_000.0 / 256.0);
    }

    #[test]
    fn bytes_of_jumps_do_not_count() {
        let options = options("-t 1 -s 8m -r 64k -K");
        let sizes = matrix(&options)[0];
        let progress = |rounds, bytes| {
            let progress = WorkerProgress {
                time_ns: 1,
                rounds,
                bytes,
            };
            moved_records(&options, sizes, progress).bytes
        };
        assert_eq!(progress(128, (8 << 20) + 4), 8 << 20);
        // The last round was not done.
        assert_eq!(progress(3, (128 << 10) + 2), 128 << 10);
    }

    #[test]
    fn headings_are_as_wide_as_their_columns() {
        let usual = tests(false).into_iter().take(DEFAULT_COLUMNS);
        let width: usize = usual.map(|test| test.width).sum();
        assert_eq!(COLUMNS.len(), 24 + width);
        assert_eq!(HEAD.len(), COLUMNS.len());
    }
}
