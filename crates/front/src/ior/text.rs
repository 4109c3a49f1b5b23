//! Output of IOR: the options, a row for each repetition, and the summary.

use std::fmt::Display;

use jiff::Timestamp;
use results::{CellRecord, RunRecord, WorkerWindow};

use super::options::IorOptions;
use super::script::IorTests;
use crate::figures::Summary;
use crate::space::space_line;
use crate::windows::{WorkerProgress, WorkerSum, by_workload, ns_between, windows_of};

/// The version that is followed.
pub(super) const VERSION: &str = "4.0.0";
const KIB: f64 = 1024.0;
pub(super) const MIB: f64 = 1024.0 * KIB;

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

pub(super) struct TestResults<'a> {
    /// Number of the test, from 0.
    pub number: usize,
    pub options: &'a IorOptions,
    pub started_at: Timestamp,
    /// Times of the repetitions of each phase.
    pub passes: Vec<(&'static str, Vec<RepetitionTimes>)>,
}

/// The tests with their results, which are missing for tests after the end of the run.
pub(super) fn results<'a>(parsed: &'a IorTests, record: &RunRecord) -> Vec<TestResults<'a>> {
    let cells = by_workload(record);
    let tests = parsed.tests.iter().enumerate();
    tests
        .map(|(number, options)| {
            let cells = cells.get(number).map_or(&[][..], Vec::as_slice);
            let started_at = cells.first().and_then(|it| it.started_at);
            TestResults {
                number,
                options,
                started_at: started_at.unwrap_or(record.started_at),
                passes: passes(options, cells),
            }
        })
        .collect()
}

/// The output at the end of a run.
pub(super) fn page(parsed: &IorTests, record: &RunRecord) -> String {
    let mut text = head(parsed, record);
    let mut all = String::new();
    for test in results(parsed, record) {
        let options = test.options;
        text += &test_head(&test, record);
        text += &settings(options);
        text += RESULTS;
        for (repetition, name, pass) in test.by_repetition() {
            text += &row(options, name, pass, repetition);
        }
        for (name, passes) in &test.passes {
            all += &summary(&test, name, passes);
        }
    }
    let end = record.finished_at.unwrap_or(record.started_at);
    text + SUMMARY + &all + &line("Finished", stamp(end))
}

fn head(parsed: &IorTests, record: &RunRecord) -> String {
    let arguments = parsed.arguments.iter();
    let words: String = arguments.map(|word| format!(" {word}")).collect();
    let mut text = format!("IOR-{VERSION}: MPI Coordinated Test of Parallel I/O\n");
    text += &line("Began", stamp(record.started_at));
    text += &line("Command line", format!("ior{words}"));
    text + &line("Machine", format!("Linux {}", record.environment.host))
}

fn test_head(test: &TestResults<'_>, record: &RunRecord) -> String {
    let mut text = match test.number {
        0 => String::new(),
        _ => "\n".to_owned(),
    };
    text += &line("TestID", test.number);
    text += &line("StartTime", stamp(test.started_at));
    if let Some(path) = path(test.options, record) {
        text += &line("Path", path);
    }
    let space = record.environment.file_systems.first();
    text + &space.map_or(String::new(), space_line)
}

/// The file of the first rank.
pub(super) fn path(options: &IorOptions, record: &RunRecord) -> Option<String> {
    let target = record.plan.targets.first()?;
    let path = record.full_path(target).join(options.file_name());
    // With a file per rank, the original shows the file of the first rank.
    let number = either(options.has_file_per_rank, ".00000000", "");
    Some(format!("{}{number}", path.display()))
}

fn settings(options: &IorOptions) -> String {
    let rows = settings_rows(options).into_iter();
    let rows: String = rows.map(|(key, value)| line(key, value)).collect();
    format!("\nOptions: \n{rows}")
}

/// The settings with their names.
pub(super) fn settings_rows(options: &IorOptions) -> Vec<(&'static str, String)> {
    let is_shifted = options.shift() > 0;
    let has_wall = options.stonewall_seconds > 0;
    let ranks = options.ranks.to_string();
    let access = match options.has_file_per_rank {
        true => "file-per-process",
        false => "single-shared-file",
    };
    let order = either(options.is_random(), "random", "sequential");
    let others = match (options.is_reordered(), is_shifted) {
        (true, _) => "random task offset",
        (false, true) => "constant task offset",
        (false, false) => "no tasks offsets",
    };
    let all = options.bytes_of_rank() * u64::from(options.ranks);
    let wall = options.stonewall_seconds.to_string();
    let wears_out = either(options.wears_out, "1", "0");
    let rows = [
        (true, "api", options.api().to_owned()),
        (true, "apiVersion", String::new()),
        (true, "test filename", options.file.clone()),
        (true, "access", access.to_owned()),
        (true, "type", "independent".to_owned()),
        (true, "segments", options.segments.to_string()),
        (true, "ordering in a file", order),
        (true, "ordering inter file", others.to_owned()),
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
    rows.map(|(_, key, value)| (key, value)).collect()
}

fn either(is_so: bool, yes: &str, no: &str) -> String {
    if is_so { yes } else { no }.to_owned()
}

fn line(key: &str, value: impl Display) -> String {
    format!("{key:<20}: {value}\n")
}

/// A size in bytes, MiB or GiB, in the largest unit that does not exceed it.
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

pub(super) fn stamp(at: Timestamp) -> String {
    at.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// Times of one repetition, from the windows of all ranks, in seconds.
pub(super) struct RepetitionTimes {
    pub bytes: u64,
    open: f64,
    transfer: f64,
    close: f64,
    total: f64,
    /// The shortest mean time per transfer of any rank, over the transfers of a block.
    latency: f64,
    /// Most transfers of any rank.
    pub transfers_max: u64,
    /// Progress when the time limit was reached; `None` without a limit.
    pub stonewall: Option<WorkerProgress>,
    pub ranks: Vec<RankTimes>,
}

/// Times of a rank, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankTimes {
    /// From before open until after close.
    pub total: f64,
    /// Of all transfers.
    pub transfer: f64,
}

impl RankTimes {
    fn of(window: &WorkerWindow) -> Self {
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
        Self {
            total: seconds(window.begin_ns, window.end_ns),
            transfer: seconds(window.body_ns, window.body_end_ns),
        }
    }
}

impl RepetitionTimes {
    fn of(options: &IorOptions, windows: &[WorkerWindow]) -> Self {
        let seconds = |from, to| ns_between(windows, from, to) as f64 / 1e9;
        let bodies = windows
            .iter()
            .map(|it| it.body_end_ns.saturating_sub(it.body_ns));
        let transfers = options.block_bytes / options.transfer_bytes;
        let latency_ns = bodies.min().map_or(f64::INFINITY, |it| it as f64);
        let reaches = windows.iter().map(|it| WorkerProgress::at_end(it).bytes);
        Self {
            bytes: WorkerSum::of_windows(windows).bytes,
            transfers_max: reaches.max().unwrap_or(0) / options.transfer_bytes,
            open: seconds(|it| it.begin_ns, |it| it.body_ns),
            transfer: seconds(|it| it.body_ns, |it| it.body_end_ns),
            close: seconds(|it| it.body_end_ns, |it| it.end_ns),
            total: seconds(|it| it.begin_ns, |it| it.end_ns),
            latency: latency_ns / 1e9 / transfers as f64,
            // A minimum time also ends the phase, but is no stonewall.
            stonewall: WorkerProgress::sum(windows.iter().filter_map(WorkerProgress::at_wall))
                .filter(|_| options.stonewall_seconds > 0),
            ranks: windows.iter().map(RankTimes::of).collect(),
        }
    }

    fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.total.max(1e-9)
    }

    /// The figures of a row in the order of its columns, with their names in JSON; sizes in KiB,
    /// times in seconds.
    pub fn figures(&self, options: &IorOptions) -> [(&'static str, f64); 9] {
        let transfers = self.bytes as f64 / options.transfer_bytes as f64;
        [
            ("bwMiB", self.bytes_per_second() / MIB),
            // In the original, the IOPS leave out open and close, which the bandwidth includes.
            ("iops", transfers / self.transfer.max(1e-9)),
            ("latency", self.latency),
            ("blockKiB", options.block_bytes as f64 / KIB),
            ("xferKiB", options.transfer_bytes as f64 / KIB),
            ("openTime", self.open),
            ("wrRdTime", self.transfer),
            ("closeTime", self.close),
            ("totalTime", self.total),
        ]
    }
}

/// What the repetitions of each phase came to.
fn passes(
    options: &IorOptions,
    cells: &[&CellRecord],
) -> Vec<(&'static str, Vec<RepetitionTimes>)> {
    let phases = [("write", options.writes), ("read", options.reads)];
    let phases = phases.into_iter().filter(|(_, is_asked)| *is_asked);
    phases
        .map(|(name, _)| {
            let cell = cells.iter().find(|cell| cell.phase.name() == name);
            let figures = cell.and_then(|cell| cell.phase_figures.as_ref());
            let rounds = figures.map_or(&[][..], |figures| &figures.rounds);
            let passes = rounds.iter();
            let passes = passes.map(|round| RepetitionTimes::of(options, &windows_of(round)));
            (name, passes.collect())
        })
        .collect()
}

impl TestResults<'_> {
    /// The passes by repetition, each with its number and the name of its phase.
    pub fn by_repetition(&self) -> impl Iterator<Item = (usize, &'static str, &RepetitionTimes)> {
        (0..self.options.repetitions as usize).flat_map(|number| {
            let named = self.passes.iter();
            named.filter_map(move |(name, passes)| Some((number, *name, passes.get(number)?)))
        })
    }
}

fn row(options: &IorOptions, name: &str, pass: &RepetitionTimes, repetition: usize) -> String {
    let [
        rate,
        iops,
        latency,
        block,
        transfer,
        open,
        moved,
        close,
        total,
    ] = pass.figures(options).map(|(_, value)| figure(value));
    format!(
        "{name:<10}{rate} {iops} {latency}  {block} {transfer} {open} {moved} {close} {total} \
         {repetition:<4}\n"
    )
}

/// A number with more decimals the smaller it is.
fn figure(value: f64) -> String {
    let digits = match value {
        ..1.0 => 6,
        ..3600.0 => 2,
        _ => 0,
    };
    format!("{value:<10.digits$}")
}

/// Highest, lowest and mean rate of the repetitions and their standard deviation, in units of this
/// many bytes per second.
pub(super) fn rates(passes: &[RepetitionTimes], unit_bytes: f64) -> [f64; 4] {
    let rates = passes.iter().map(|it| it.bytes_per_second() / unit_bytes);
    let rates = Summary::of(&rates.collect::<Vec<_>>());
    // Without repetitions the extremes are infinite; both become 0.
    let most = rates.max.max(0.0);
    [most, rates.min.min(most), rates.mean, rates.deviation()]
}

/// Mean time of a repetition, in seconds.
pub(super) fn mean_seconds(passes: &[RepetitionTimes]) -> f64 {
    let seconds: Vec<f64> = passes.iter().map(|it| it.total).collect();
    Summary::of(&seconds).mean
}

fn summary(test: &TestResults<'_>, name: &str, passes: &[RepetitionTimes]) -> String {
    let options = test.options;
    let four = |unit| rates(passes, unit).map(|it| format!("{it:10.2}")).join(" ");
    let two = |value: f64| format!("{value:.2}");
    let wall = passes.first().and_then(|it| it.stonewall);
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
        mean_seconds(passes),
        test.number,
        options.repetitions,
        u8::from(options.has_file_per_rank),
        u8::from(options.shift() > 0),
        options.shift().max(1),
        options.reorder_level,
        options.reorder_seed,
        options.segments,
        options.block_bytes,
        options.transfer_bytes,
        bytes as f64 / MIB,
        options.api(),
        options.ref_number,
        ranks = options.ranks,
    )
}
