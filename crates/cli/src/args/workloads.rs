//! Options that choose workloads and change them.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use front::FileFront;
use units::{Bytes, Percent, Rate, Span};

use super::OneLineArgs;
use super::count::{within, workload_key_parser};
use crate::complete::values;

/// Workloads and options that change them.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct WorkloadArgs {
    /// A built-in workload or pack, a file (.toml, .icf, PostMark script), or `-` for standard
    /// input; file types are recognized by content
    #[arg(value_name = "WORKLOAD", add = ArgValueCompleter::new(values::workloads))]
    pub workloads: Vec<String>,
    // Most users need these options first, so they come first in the help.
    #[command(flatten)]
    pub one_line: OneLineArgs,
    #[command(flatten)]
    pub options: WorkloadOptions,
}

/// Options that change workloads.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct WorkloadOptions {
    /// Treat input files as this type
    #[arg(long = "as", value_name = "KIND", value_parser = kind_parser())]
    pub kind: Option<&'static FileFront>,
    /// Refuse input that the original program would refuse
    #[arg(long)]
    pub strict: bool,
    /// Directory, file or block device to measure, or `tcp://HOST:PORT` of a `pgmeter sink`;
    /// repeatable; replaces the targets of a workload file; existing files that pgmeter did not
    /// create are only read
    #[arg(long, short = 't', value_name = "PATH",
        add = ArgValueCompleter::new(values::targets))]
    pub target: Vec<PathBuf>,
    /// Create the test file if the target does not exist; by default, a missing target is an error
    #[arg(long)]
    pub create: bool,
    /// I/O engine; with a list, each engine is measured
    #[arg(long, value_name = "ENGINE,...", value_delimiter = ',')]
    pub engine: Vec<EngineArg>,
    /// How the page cache is used; with a list, each mode is measured
    #[arg(long, value_name = "MODE,...", value_delimiter = ',')]
    pub cache: Vec<CacheArg>,
    /// Queue depth: requests in flight per worker and target; with a list, each depth is measured
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = workload_key_parser::<u32>("iodepth"))]
    pub iodepth: Vec<u32>,
    /// Open loop: requests due per second, for all workers together, such as `20k/s`; with a list,
    /// each rate is measured
    #[arg(long, value_name = "RATE,...", value_delimiter = ',')]
    pub rate: Vec<Rate>,
    /// How the requests of `--rate` are spread over time
    #[arg(long, value_name = "KIND")]
    pub arrivals: Option<ArrivalsArg>,
    /// Measure the peak, then the response times at 10 %, 20 %, ... 100 % of it
    #[arg(long)]
    pub curve: bool,
    /// Find the highest rate that keeps a response-time percentile within a limit, such as
    /// 'p99<=2ms' (quoted for the shell)
    #[arg(long, value_name = "LIMIT")]
    pub find_rate: Option<String>,
    /// Measure at queue depths 1, 2, 4 ... 256, or at the depths of `--iodepth`, until deeper
    /// queues no longer help
    #[arg(long)]
    pub find_depth: bool,
    /// Number of workers (threads); with a list, each number is measured
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = workload_key_parser::<u32>("workers"))]
    pub workers: Vec<u32>,
    /// Size of the test file, such as `512m` or `4GiB`; if the workload creates many files, size of
    /// each; with a list, each size is measured
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = Bytes::of_option)]
    pub size: Vec<Bytes>,
    /// Total size of all files, such as `64g`; if the workload creates many files, this determines
    /// their number; with a list, each size is measured
    #[arg(
        long,
        value_name = "SIZE,...",
        value_delimiter = ',',
        value_parser = Bytes::of_option,
        conflicts_with = "size"
    )]
    pub total_size: Vec<Bytes>,
    /// How long to measure each cell, such as `10s` or `5m`; at most `30d`
    #[arg(long, value_name = "SPAN")]
    pub run_time: Option<Span>,
    /// Time to run the load before measuring starts, at most `30d`; by default `2s`, but `0s` for
    /// work on many files
    #[arg(long, value_name = "SPAN")]
    pub ramp_time: Option<Span>,
    /// Stop each cell after this many operations
    // The value becomes a TOML integer, which has a sign.
    #[arg(long, value_name = "N", value_parser = within(1, i64::MAX as u64))]
    pub operations: Option<u64>,
    /// End a cell after its run time, or once its rounds, each `--run-time` long, reach a steady
    /// state
    #[arg(long, value_name = "WHAT")]
    pub until: Option<UntilArg>,
    /// Write the used part of each target this many times before the measurement, such as `2x`
    #[arg(long, value_name = "TIMES")]
    pub precondition: Option<String>,
    /// Number of times to measure each cell; `auto` measures until its rate is known to within
    /// `--precision`
    #[arg(long, value_name = "N|auto")]
    pub repetitions: Option<String>,
    /// Goal of `--repetitions auto`: half-width of the 95 % confidence interval of each rate, `2%`
    /// by default
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<Percent>,
    /// Time limit of `--repetitions auto`, `10m` by default
    #[arg(long, value_name = "SPAN")]
    pub budget: Option<Span>,
    /// Seed of all random streams
    #[arg(long, value_name = "N", value_parser = within(0, u64::MAX))]
    pub seed: Option<u64>,
    /// Stamp each block written, and check each block read
    #[arg(long)]
    pub verify: bool,
    /// Keep the test files for the next run
    #[arg(long)]
    pub keep: bool,
    /// Set any other key of the workload, such as PostMark's `transactions=50000`; with a list of
    /// values, each is measured, and several lists are combined; `pgmeter keys` lists the keys
    #[arg(long = "set", value_name = "KEY=VALUE",
        add = ArgValueCompleter::new(values::set_pairs))]
    pub set: Vec<String>,
}

impl WorkloadOptions {
    /// Returns the workload keys that these options set, with values as in workload files.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, String)> {
        let keys = [
            ("engine", each(&self.engine, |it| word(*it))),
            ("cache", each(&self.cache, |it| word(*it))),
            ("iodepth", list(&self.iodepth, |it| it.to_string())),
            // A rate such as `20k/s` is not a TOML value, so each element needs quotes.
            ("rate", list(&self.rate, |it| format!("\"{it}\""))),
            ("arrivals", self.arrivals.map(word)),
            ("curve", flag(self.curve)),
            ("find_rate", self.find_rate.clone()),
            ("find_depth", flag(self.find_depth)),
            ("workers", each(&self.workers, u32::to_string)),
            ("size", each(&self.size, Bytes::to_string)),
            ("total_size", each(&self.total_size, Bytes::to_string)),
            ("run_time", self.run_time.map(|it| it.to_string())),
            ("ramp_time", self.ramp_time.map(|it| it.to_string())),
            ("operations", self.operations.map(|it| it.to_string())),
            ("precondition", self.precondition.clone()),
            ("until", self.until.map(word)),
            ("repetitions", self.repetitions.clone()),
            ("precision", self.precision.map(|it| it.0.to_string())),
            ("budget", self.budget.map(|it| it.to_string())),
            ("seed", self.seed.map(|it| it.to_string())),
            ("verify", flag(self.verify)),
            ("keep", flag(self.keep)),
        ];
        let written = keys.into_iter();
        written.filter_map(|(key, value)| Some((key, value?)))
    }
}

fn word(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |it| it.get_name().to_owned())
}

fn flag(is_set: bool) -> Option<String> {
    is_set.then(|| "true".to_owned())
}

/// A list as one value.
fn list<T>(values: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    each(values, text).map(|texts| format!("[{texts}]"))
}

/// Values that are measured one by one.
fn each<T>(values: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    let texts: Vec<String> = values.iter().map(text).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// All kinds of workload files, with descriptions.
pub(crate) fn file_kinds() -> Vec<PossibleValue> {
    let kinds = front::file_kinds();
    let value = |kind: &FileFront| PossibleValue::new(kind.name).help(kind.kind);
    kinds.map(value).collect()
}

/// Parses the name of a kind of workload file.
pub(super) fn kind_parser() -> impl TypedValueParser<Value = &'static FileFront> {
    PossibleValuesParser::new(file_kinds()).map(|name| {
        let found = front::file_kinds().find(|kind| kind.name == name);
        found.expect("only names of kinds are possible")
    })
}

/// I/O engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// One io_uring per worker
    #[value(name = "io_uring", alias = "io-uring")]
    IoUring,
    /// One system call per request
    Psync,
    /// Copies to and from a memory mapping
    Mmap,
    /// No I/O: every request completes immediately
    Null,
}

/// Page cache modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheArg {
    /// Bypass the page cache (O_DIRECT)
    Direct,
    /// Use the page cache
    Buffered,
    /// Use the page cache, and drop the pages afterwards
    Dontcache,
}

/// Distributions of start times for `--rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// At equal intervals
    Uniform,
    /// At random, independent of each other (a Poisson process)
    Poisson,
}

/// Conditions that end a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UntilArg {
    /// After the run time
    Time,
    /// Once the last rounds agree
    Steady,
}
