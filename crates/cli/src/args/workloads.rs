//! Which workloads, and what to change in them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use units::{Bytes, Percent, Rate, Span};

use super::OneLineArgs;

/// Which workloads, and what to change in them.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct WorkloadArgs {
    /// A built-in name, a pack, a file (.toml, .icf, PostMark script), or `-` for standard input;
    /// the kind is found by content
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
    #[command(flatten)]
    pub options: WorkloadOptions,
    #[command(flatten, next_help_heading = "A workload in one line")]
    pub one_line: OneLineArgs,
}

/// What to change in workloads.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct WorkloadOptions {
    /// Take files to be of this kind
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<KindArg>,
    /// Refuse what the format's own program refuses
    #[arg(long)]
    pub strict: bool,
    /// Directory, file or block device to measure; repeatable; replaces a file's own targets; a
    /// file that pgmeter did not make is only ever read
    #[arg(long, short = 't', value_name = "PATH")]
    pub target: Vec<PathBuf>,
    /// Make a test file of a target's name where nothing is there; without this a target that does
    /// not exist is refused
    #[arg(long)]
    pub create: bool,
    /// Engine that issues the I/O
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<EngineArg>,
    /// How the page cache is used
    #[arg(long, value_name = "MODE")]
    pub cache: Option<CacheArg>,
    /// Requests kept in flight per worker and target; a list measures each
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub iodepth: Vec<u32>,
    /// Requests due each second of all workers together, such as `20k/s`; a list measures each
    #[arg(long, value_name = "RATE,...", value_delimiter = ',')]
    pub rate: Vec<Rate>,
    /// When the requests of a rate are due
    #[arg(long, value_name = "KIND")]
    pub arrivals: Option<ArrivalsArg>,
    /// Measure the peak, then response times at 10 %, 20 %, ... 100 % of it
    #[arg(long)]
    pub curve: bool,
    /// Find the highest rate at which a percentile of the response time holds, such as 'p99<=2ms',
    /// in quotes because of the shell
    #[arg(long, value_name = "LIMIT")]
    pub find_rate: Option<String>,
    /// Measure at queue depths 1, 2, 4 ... 256, or at those of `--iodepth`, until deeper queues
    /// bring nothing
    #[arg(long)]
    pub find_depth: bool,
    /// Workers (threads)
    #[arg(long, value_name = "N")]
    pub workers: Option<u32>,
    /// Bytes of test file, such as `512m` or `4GiB`; of each file where the workload makes many
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Measured time of each cell, such as `10s` or `5m`, at most `30d`
    #[arg(long, value_name = "SPAN")]
    pub run_time: Option<Span>,
    /// Time before each measurement, at most `30d`
    #[arg(long, value_name = "SPAN")]
    pub ramp_time: Option<Span>,
    /// Stop each cell after so many operations
    #[arg(long, value_name = "N")]
    pub operations: Option<u64>,
    /// End a cell by time, or when rounds of `--run-time` each are steady
    #[arg(long, value_name = "WHAT")]
    pub until: Option<UntilArg>,
    /// Write what is used of each target so many times before it is measured, such as `2x`
    #[arg(long, value_name = "TIMES")]
    pub precondition: Option<String>,
    /// Repeat every cell so often; `auto`: until its rate is known to `--precision`
    #[arg(long, value_name = "N|auto")]
    pub repetitions: Option<String>,
    /// How precise `--repetitions auto` makes every rate: half the 95 % confidence interval,
    /// `2%` by default
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<Percent>,
    /// How long `--repetitions auto` goes on at most, `10m` by default
    #[arg(long, value_name = "SPAN")]
    pub budget: Option<Span>,
    /// Seed of all random streams
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stamp every block that is written and check every block that is read
    #[arg(long)]
    pub verify: bool,
    /// Keep the test files for the next run
    #[arg(long)]
    pub keep: bool,
    /// Set any other option of the workload, such as `transactions=50000` of PostMark
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Kinds of workload files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// One workload in TOML
    Toml,
    /// Several workloads in one TOML file
    Pack,
    /// Iometer configuration
    Icf,
    /// PostMark script
    Postmark,
}

/// Engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// One ring a worker
    #[value(name = "io_uring", alias = "io-uring")]
    IoUring,
    /// One system call a request
    Psync,
    /// Copies from and to a mapping
    Mmap,
    /// Touches nothing, completes everything at once
    Null,
}

/// Uses of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheArg {
    /// O_DIRECT
    Direct,
    /// Through the page cache
    Buffered,
    /// Through the page cache, dropped behind
    Dontcache,
}

/// Spreads of a rate's due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// All equally far apart
    Uniform,
    /// At random, independent of each other
    Poisson,
}

/// Ends of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UntilArg {
    /// After the run time
    Time,
    /// When the last rounds hardly differ
    Steady,
}
