//! Which workloads, and what to change in them.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use description::source::SourceKind;
use front::{FRONTS, FileFront, Front};
use units::{Bytes, Percent, Rate, Span};

use super::OneLineArgs;
use super::count::{of_key, within};
use crate::complete::values;

/// Which workloads, and what to change in them.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct WorkloadArgs {
    /// A built-in workload or pack, a file (.toml, .icf, PostMark script), or `-` for standard
    /// input; file types are recognized by content
    #[arg(value_name = "WORKLOAD", add = ArgValueCompleter::new(values::workloads))]
    pub workloads: Vec<String>,
    // Help shows first what everybody types.
    #[command(flatten)]
    pub one_line: OneLineArgs,
    #[command(flatten)]
    pub options: WorkloadOptions,
}

/// What to change in workloads.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct WorkloadOptions {
    /// Treat input files as this type
    #[arg(long = "as", value_name = "KIND", value_parser = kind_parser())]
    pub kind: Option<KindArg>,
    /// Refuse what the original program would refuse
    #[arg(long)]
    pub strict: bool,
    /// Directory, file or block device to measure, or `tcp://HOST:PORT` of a `pgmeter sink`;
    /// repeatable; replaces the targets of a workload file; files that pgmeter did not create are
    /// only ever read
    #[arg(long, short = 't', value_name = "PATH",
        add = ArgValueCompleter::new(values::targets))]
    pub target: Vec<PathBuf>,
    /// Create the test file if the target does not exist; without this, a missing target is an
    /// error
    #[arg(long)]
    pub create: bool,
    /// Engine that issues the I/O
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<EngineArg>,
    /// How the page cache is used
    #[arg(long, value_name = "MODE")]
    pub cache: Option<CacheArg>,
    /// Requests kept in flight per worker and target; a list measures each
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = of_key::<u32>("iodepth"))]
    pub iodepth: Vec<u32>,
    /// Open loop: requests started per second by all workers together, such as `20k/s`; a list
    /// measures each
    #[arg(long, value_name = "RATE,...", value_delimiter = ',')]
    pub rate: Vec<Rate>,
    /// How the requests of a rate are spread over time
    #[arg(long, value_name = "KIND")]
    pub arrivals: Option<ArrivalsArg>,
    /// Measure the peak, then response times at 10 %, 20 %, ... 100 % of it
    #[arg(long)]
    pub curve: bool,
    /// Find the highest rate that keeps a response-time percentile within a limit, such as
    /// 'p99<=2ms' (quoted for the shell)
    #[arg(long, value_name = "LIMIT")]
    pub find_rate: Option<String>,
    /// Measure at queue depths 1, 2, 4 ... 256, or at those of `--iodepth`, until deeper queues no
    /// longer help
    #[arg(long)]
    pub find_depth: bool,
    /// Workers (threads)
    #[arg(long, value_name = "N", value_parser = of_key::<u32>("workers"))]
    pub workers: Option<u32>,
    /// Size of the test file, such as `512m` or `4GiB`, or of each file where the workload makes
    /// many
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Size of all files together, such as `64g`; where the workload makes many, their number
    /// follows
    #[arg(long, value_name = "SIZE", conflicts_with = "size")]
    pub total_size: Option<Bytes>,
    /// How long to measure each cell, such as `10s` or `5m`; at most `30d`
    #[arg(long, value_name = "SPAN")]
    pub run_time: Option<Span>,
    /// Warm-up before each measurement, not counted; at most `30d`
    #[arg(long, value_name = "SPAN")]
    pub ramp_time: Option<Span>,
    /// Stop each cell after this many operations
    #[arg(long, value_name = "N", value_parser = within(1, i64::MAX as u64))]
    pub operations: Option<u64>,
    /// End a cell after a time, or once rounds of `--run-time` each are steady
    #[arg(long, value_name = "WHAT")]
    pub until: Option<UntilArg>,
    /// Write the used part of each target this many times before measuring it, such as `2x`
    #[arg(long, value_name = "TIMES")]
    pub precondition: Option<String>,
    /// How often to repeat every cell; `auto`: until its rate is known to `--precision`
    #[arg(long, value_name = "N|auto")]
    pub repetitions: Option<String>,
    /// Target of `--repetitions auto`: half-width of each rate's 95 % confidence interval, `2%` by
    /// default
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<Percent>,
    /// Time limit of `--repetitions auto`, `10m` by default
    #[arg(long, value_name = "SPAN")]
    pub budget: Option<Span>,
    /// Seed of all random streams
    #[arg(long, value_name = "N", value_parser = within(0, u64::MAX))]
    pub seed: Option<u64>,
    /// Stamp every block written and check every block read
    #[arg(long)]
    pub verify: bool,
    /// Keep the test files for the next run
    #[arg(long)]
    pub keep: bool,
    /// Set any other key of the workload, such as PostMark's `transactions=50000`; `pgmeter keys`
    /// lists them
    #[arg(long = "set", value_name = "KEY=VALUE",
        add = ArgValueCompleter::new(values::set_pairs))]
    pub set: Vec<String>,
}

impl WorkloadOptions {
    /// The keys of workloads that these options set, with their values as files write them.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, String)> {
        let keys = [
            ("engine", self.engine.map(word)),
            ("cache", self.cache.map(word)),
            ("iodepth", list(&self.iodepth, |it| it.to_string())),
            ("rate", list(&self.rate, |it| format!("\"{it}\""))),
            ("arrivals", self.arrivals.map(word)),
            ("curve", flag(self.curve)),
            ("find_rate", self.find_rate.clone()),
            ("find_depth", flag(self.find_depth)),
            ("workers", self.workers.map(|it| it.to_string())),
            ("size", self.size.map(|it| it.to_string())),
            ("total_size", self.total_size.map(|it| it.to_string())),
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

fn list<T>(values: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    let texts: Vec<String> = values.iter().map(text).collect();
    (!texts.is_empty()).then(|| format!("[{}]", texts.join(", ")))
}

/// A kind of workload file: one of ours, or a program's that has files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindArg(&'static str);

impl KindArg {
    /// All kinds, with what they are.
    pub(crate) fn all() -> Vec<PossibleValue> {
        let own = SourceKind::ALL.iter();
        let own = own.map(|kind| PossibleValue::new(kind.name()).help(kind.title()));
        let fronts = FRONTS.iter().filter_map(|front| {
            let file = front.file.as_ref()?;
            Some(PossibleValue::new(front.name).help(file.kind))
        });
        own.chain(fronts).collect()
    }

    /// One of ours.
    pub(crate) fn source(self) -> Option<SourceKind> {
        SourceKind::from_name(self.0).ok()
    }

    /// The program whose file it is.
    pub(crate) fn front(self) -> Option<(&'static Front, &'static FileFront)> {
        let front = front::find(self.0)?;
        Some((front, front.file.as_ref()?))
    }
}

/// Takes the name of a kind.
pub(super) fn kind_parser() -> impl TypedValueParser<Value = KindArg> {
    PossibleValuesParser::new(KindArg::all()).try_map(|name| {
        let own = SourceKind::from_name(&name).map(SourceKind::name);
        let found = own.or_else(|error| front::find(&name).map(|it| it.name).ok_or(error));
        found.map(KindArg)
    })
}

/// Engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// One ring per worker
    #[value(name = "io_uring", alias = "io-uring")]
    IoUring,
    /// One system call per request
    Psync,
    /// Copies to and from a memory mapping
    Mmap,
    /// No I/O: every request completes at once
    Null,
}

/// Uses of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheArg {
    /// O_DIRECT
    Direct,
    /// Through the page cache
    Buffered,
    /// Through the page cache, dropped from it afterwards
    Dontcache,
}

/// Spreads of a rate's due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// At equal intervals
    Uniform,
    /// At random, independent of each other (a Poisson process)
    Poisson,
}

/// Ends of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UntilArg {
    /// After the run time
    Time,
    /// Once the last rounds hardly differ
    Steady,
}
