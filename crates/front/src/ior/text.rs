//! What is done, a row for each repetition, and the summary.

use std::fmt::Display;

use jiff::Timestamp;
use results::{RunRecord, WorkerWindow};

use super::options::Options;
use crate::figures::Summary;
use crate::space::space_line;
use crate::text::Asked;
use crate::windows::{Reached, Sum, ns_between, rounds, windows_of};

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

/// What is printed at the end.
pub(super) fn page(asked: &Asked<Options>, record: &RunRecord) -> String {
    let options = &asked.options;
    let mut text = head(asked, record) + &settings(options) + RESULTS;
    let passes = passes(options, record);
    for repetition in 0..options.repetitions as usize {
        for (name, passes) in &passes {
            if let Some(pass) = passes.get(repetition) {
                text += &row(options, name, pass, repetition);
            }
        }
    }
    text += SUMMARY;
    for (name, passes) in &passes {
        text += &summary(options, name, passes);
    }
    let end = record.finished_at.unwrap_or(record.started_at);
    text + &line("Finished", stamp(end))
}

fn head(asked: &Asked<Options>, record: &RunRecord) -> String {
    let Asked { options, arguments } = asked;
    let words: String = arguments.iter().map(|word| format!(" {word}")).collect();
    let mut text = "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n".to_owned();
    text += &line("Began", stamp(record.started_at));
    text += &line("Command line", format!("ior{words}"));
    text += &line("Machine", format!("Linux {}", record.environment.host));
    text += &line("TestID", 0);
    text += &line("StartTime", stamp(record.started_at));
    if let Some(target) = record.plan.targets.first() {
        let path = record.full_path(target).join(options.file_name());
        let number = either(options.has_file_per_rank, ".00000000", "");
        text += &line("Path", format!("{}{number}", path.display()));
    }
    let space = record.environment.file_systems.first();
    text + &space.map_or(String::new(), space_line)
}

fn settings(options: &Options) -> String {
    let is_shifted = options.shift() > 0;
    let has_wall = options.wall_seconds > 0;
    let ranks = options.ranks.to_string();
    let access = match options.has_file_per_rank {
        true => "file-per-process",
        false => "single-shared-file",
    };
    let order = either(options.is_random, "random", "sequential");
    let others = either(is_shifted, "constant task offset", "no tasks offsets");
    let all = options.bytes_of_rank() * u64::from(options.ranks);
    let wall = options.wall_seconds.to_string();
    let wears_out = either(options.wears_out, "1", "0");
    let rows = [
        (true, "api", "POSIX".to_owned()),
        (true, "apiVersion", String::new()),
        (true, "test filename", options.file.clone()),
        (true, "access", access.to_owned()),
        (true, "type", "independent".to_owned()),
        (true, "segments", options.segments.to_string()),
        (true, "ordering in a file", order),
        (true, "ordering inter file", others),
        (is_shifted, "task offset", options.shift().to_string()),
        (true, "nodes", "1".to_owned()),
        (true, "tasks", ranks.clone()),
        (true, "clients per node", ranks),
        (true, "repetitions", options.repetitions.to_string()),
        (true, "xfersize", amount(options.transfer_bytes)),
        (true, "blocksize", amount(options.block_bytes)),
        (true, "aggregate filesize", amount(all)),
        (has_wall, "stonewallingTime", wall),
        (has_wall, "stoneWallingWearOut", wears_out),
    ];
    let rows = rows.into_iter().filter(|(is_so, ..)| *is_so);
    let rows: String = rows.map(|(_, key, value)| line(key, value)).collect();
    format!("\nOptions: \n{rows}")
}

fn either(is_so: bool, yes: &str, no: &str) -> String {
    if is_so { yes } else { no }.to_owned()
}

fn line(key: &str, value: impl Display) -> String {
    format!("{key:<20}: {value}\n")
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
    /// What had been moved when the first time was up.
    wall: Option<Reached>,
}

impl Pass {
    fn of(options: &Options, windows: &[WorkerWindow]) -> Self {
        let seconds = |from, to| ns_between(windows, from, to) as f64 / 1e9;
        let bodies = windows
            .iter()
            .map(|it| it.body_end_ns.saturating_sub(it.body_ns));
        let transfers = options.block_bytes / options.transfer_bytes;
        let latency_ns = bodies.min().map_or(f64::INFINITY, |it| it as f64);
        Self {
            bytes: Sum::of_windows(windows).bytes,
            open: seconds(|it| it.begin_ns, |it| it.body_ns),
            transfer: seconds(|it| it.body_ns, |it| it.body_end_ns),
            close: seconds(|it| it.body_end_ns, |it| it.end_ns),
            total: seconds(|it| it.begin_ns, |it| it.end_ns),
            latency: latency_ns / 1e9 / transfers as f64,
            wall: Reached::together(windows.iter().filter_map(Reached::at_wall)),
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
    let four = |unit: f64| {
        let rates: Vec<f64> = passes
            .iter()
            .map(|it| it.bytes_per_second() / unit)
            .collect();
        let rates = Summary::of(&rates);
        let most = rates.most.max(0.0);
        let (least, mean, deviation) = (rates.least.min(most), rates.mean, rates.deviation());
        format!("{most:10.2} {least:10.2} {mean:10.2} {deviation:10.2}")
    };
    let seconds: Vec<f64> = passes.iter().map(|it| it.total).collect();
    let two = |value: f64| format!("{value:.2}");
    let wall = passes.first().and_then(|it| it.wall);
    let [at, until] = match wall {
        Some(wall) => [two(wall.seconds()), two(wall.bytes as f64 / MIB)],
        None => ["NA".to_owned(), "NA".to_owned()],
    };
    let bytes = passes.first().map_or(0, |it| it.bytes);
    format!(
        "{name:<9} {} {} {:10.5} {at:>10} {until:>13} {:5} {ranks:6} {ranks:3} {:4} {:3} \
         {:5} {:8} {:9} {:4} {:6} {:8} {:8} {:9.1} {:>3} {:6}\n",
        four(MIB),
        four(options.transfer_bytes as f64),
        Summary::of(&seconds).mean,
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
