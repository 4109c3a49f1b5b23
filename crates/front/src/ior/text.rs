//! What is done, a row for each repetition, and the summary.

use std::fmt::Write as _;

use jiff::Timestamp;
use results::{RunRecord, WorkerWindow};

use super::options::Options;
use crate::space::space_line;
use crate::windows::{rounds, windows_of};
use crate::{ClassicText, FrontOrigin};

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

const RESULTS: &str = "
Results: 

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   \
close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   \
--------   --------   ----
";
const SUMMARY: &str = "
Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     \
StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand \
seed segcnt   blksiz    xsize aggs(MiB)   API RefNum
";

/// The text of a run.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(Page {
        arguments: origin.arguments.clone(),
    })
}

struct Page {
    arguments: Vec<String>,
}

impl ClassicText for Page {
    fn end(&mut self, record: &RunRecord) -> String {
        // The record is of a run, so its arguments were read before.
        let Ok(options) = Options::read(&self.arguments) else {
            return String::new();
        };
        let mut text = head(&self.arguments, &options, record);
        text += &settings(&options);
        text += RESULTS;
        let passes = passes(&options, record);
        for repetition in 0..options.repetitions as usize {
            for (name, passes) in &passes {
                if let Some(pass) = passes.get(repetition) {
                    text += &row(&options, name, pass, repetition);
                }
            }
        }
        text += SUMMARY;
        for (name, passes) in &passes {
            text += &summary(&options, name, passes);
        }
        let end = record.finished_at.unwrap_or(record.started_at);
        line(&mut text, "Finished", stamp(end));
        text
    }
}

fn head(arguments: &[String], options: &Options, record: &RunRecord) -> String {
    let mut text = "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n".to_owned();
    let words: String = arguments.iter().map(|word| format!(" {word}")).collect();
    line(&mut text, "Began", stamp(record.started_at));
    line(&mut text, "Command line", format!("ior{words}"));
    line(
        &mut text,
        "Machine",
        format!("Linux {}", record.environment.host),
    );
    line(&mut text, "TestID", 0);
    line(&mut text, "StartTime", stamp(record.started_at));
    if let Some(target) = record.plan.targets.first() {
        let path = record.full_path(target).join(options.file_name());
        let number = match options.has_file_per_rank {
            true => ".00000000",
            false => "",
        };
        line(&mut text, "Path", format!("{}{number}", path.display()));
    }
    if let Some(space) = record.environment.file_systems.first() {
        text += &space_line(space);
    }
    text
}

fn settings(options: &Options) -> String {
    let mut text = "\nOptions: \n".to_owned();
    let text_of = |is_so: bool, yes: &'static str, no: &'static str| if is_so { yes } else { no };
    let access = text_of(
        options.has_file_per_rank,
        "file-per-process",
        "single-shared-file",
    );
    line(&mut text, "api", "POSIX");
    line(&mut text, "apiVersion", "");
    line(&mut text, "test filename", &options.file);
    line(&mut text, "access", access);
    line(&mut text, "type", "independent");
    line(&mut text, "segments", options.segments);
    let order = text_of(options.is_random, "random", "sequential");
    line(&mut text, "ordering in a file", order);
    let others = text_of(
        options.shift() > 0,
        "constant task offset",
        "no tasks offsets",
    );
    line(&mut text, "ordering inter file", others);
    if options.shift() > 0 {
        line(&mut text, "task offset", options.shift());
    }
    line(&mut text, "nodes", 1);
    line(&mut text, "tasks", options.ranks);
    line(&mut text, "clients per node", options.ranks);
    line(&mut text, "repetitions", options.repetitions);
    line(&mut text, "xfersize", amount(options.transfer_bytes));
    line(&mut text, "blocksize", amount(options.block_bytes));
    let all = options.bytes_of_rank() * u64::from(options.ranks);
    line(&mut text, "aggregate filesize", amount(all));
    if options.wall_seconds > 0 {
        line(&mut text, "stonewallingTime", options.wall_seconds);
        line(
            &mut text,
            "stoneWallingWearOut",
            u8::from(options.wears_out),
        );
    }
    text
}

fn line(text: &mut String, key: &str, value: impl std::fmt::Display) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{key:<20}: {value}");
}

/// A size in the largest of bytes, MiB and GiB that is not larger.
fn amount(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x10_0000 => return format!("{bytes} bytes"),
        0x10_0000..0x4000_0000 => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    };
    match bytes % unit {
        0 => format!("{} {name}", bytes / unit),
        _ => format!("{:.2} {name}", bytes as f64 / unit as f64),
    }
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// What the ranks' windows of one repetition come to; times in seconds.
struct Pass {
    bytes: u64,
    open: f64,
    transfer: f64,
    close: f64,
    total: f64,
    /// The least mean time of a rank's transfers in its block.
    latency: f64,
    /// When the first time was up, and what had been moved until then.
    wall: Option<(f64, u64)>,
}

impl Pass {
    fn of(options: &Options, windows: &[WorkerWindow]) -> Self {
        let first = |at: fn(&WorkerWindow) -> u64| windows.iter().map(at).min().unwrap_or(0);
        let last = |at: fn(&WorkerWindow) -> u64| windows.iter().map(at).max().unwrap_or(0);
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        let times = windows.iter().map(|it| seconds(it.body_ns, it.body_end_ns));
        let transfers = options.block_bytes / options.transfer_bytes;
        let walls = windows
            .iter()
            .filter_map(|it| Some((it.begin_ns, it.wall?)));
        let walls: Vec<(f64, u64)> = walls
            .map(|(begin, it)| (seconds(begin, it.at_ns), it.read_bytes + it.written_bytes))
            .collect();
        let sum =
            |(at, bytes): (f64, u64), (next, more): &(f64, u64)| (at.max(*next), bytes + more);
        Self {
            bytes: windows
                .iter()
                .map(|it| it.read_bytes + it.written_bytes)
                .sum(),
            open: seconds(first(|it| it.begin_ns), last(|it| it.body_ns)),
            transfer: seconds(first(|it| it.body_ns), last(|it| it.body_end_ns)),
            close: seconds(first(|it| it.body_end_ns), last(|it| it.end_ns)),
            total: seconds(first(|it| it.begin_ns), last(|it| it.end_ns)),
            latency: times.fold(f64::INFINITY, f64::min) / transfers as f64,
            wall: (!walls.is_empty()).then(|| walls.iter().fold((0.0, 0), sum)),
        }
    }

    fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.total.max(1e-9)
    }
}

fn passes(options: &Options, record: &RunRecord) -> Vec<(&'static str, Vec<Pass>)> {
    let asked = [("write", options.writes), ("read", options.reads)];
    let asked = asked.into_iter().filter(|(_, is_asked)| *is_asked);
    asked
        .map(|(name, _)| {
            let rounds = rounds(record, name).iter();
            let passes = rounds.map(|round| Pass::of(options, &windows_of(round)));
            (name, passes.collect())
        })
        .collect()
}

fn row(options: &Options, name: &str, pass: &Pass, repetition: usize) -> String {
    let operations = pass.bytes as f64 / options.transfer_bytes as f64;
    format!(
        "{name:<10}{} {} {}  {} {} {} {} {} {} {repetition:<4}\n",
        figure(pass.bytes_per_second() / MIB),
        figure(operations / pass.transfer.max(1e-9)),
        figure(pass.latency),
        figure(options.block_bytes as f64 / KIB),
        figure(options.transfer_bytes as f64 / KIB),
        figure(pass.open),
        figure(pass.transfer),
        figure(pass.close),
        figure(pass.total),
    )
}

/// With more digits the smaller it is.
fn figure(value: f64) -> String {
    let digits = match value {
        ..1.0 => 6,
        ..3600.0 => 2,
        _ => 0,
    };
    format!("{value:<10.digits$}")
}

fn summary(options: &Options, name: &str, passes: &[Pass]) -> String {
    let rates: Vec<f64> = passes.iter().map(Pass::bytes_per_second).collect();
    let count = passes.len().max(1) as f64;
    let four = |unit: f64| {
        let rates: Vec<f64> = rates.iter().map(|it| it / unit).collect();
        let mean = rates.iter().sum::<f64>() / count;
        let squares: f64 = rates.iter().map(|it| (it - mean).powi(2)).sum();
        let most = rates.iter().copied().fold(0.0, f64::max);
        let least = rates
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
            .min(most);
        let deviation = (squares / count).sqrt();
        format!("{most:10.2} {least:10.2} {mean:10.2} {deviation:10.2}")
    };
    let seconds = passes.iter().map(|it| it.total).sum::<f64>() / count;
    let (at, until) = match passes.first().and_then(|it| it.wall) {
        Some((at, bytes)) => (format!("{at:.2}"), format!("{:.2}", bytes as f64 / MIB)),
        None => ("NA".to_owned(), "NA".to_owned()),
    };
    let bytes = passes.first().map_or(0, |it| it.bytes);
    format!(
        "{name:<9} {} {} {seconds:10.5} {at:>10} {until:>13} {:5} {ranks:6} {ranks:3} {:4} {:3} \
         {:5} {:8} {:9} {:4} {:6} {:8} {:8} {:9.1} {:>3} {:6}\n",
        four(MIB),
        four(options.transfer_bytes as f64),
        0,
        options.repetitions,
        u8::from(options.has_file_per_rank),
        u8::from(options.shift() > 0),
        options.shift().max(1),
        0,
        0,
        options.segments,
        options.block_bytes,
        options.transfer_bytes,
        bytes as f64 / MIB,
        "POSIX",
        options.number,
        ranks = options.ranks,
    )
}
