//! The command line as written; turning it into plans is the commands' business.

mod json;
mod keys;
mod lab;
mod one_line;
mod paper;
mod recover;
mod runs;
mod selftest;
mod workloads;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use units::Percent;

use crate::schemas::schema_names;

pub(crate) use json::{JsonArg, RecordJsonArg};
pub(crate) use keys::KeysArgs;
pub(crate) use lab::{
    ChangeArgs, GroundArgs, JobsArg, LabAction, LabArgs, LabCleanArgs, LabListArgs, LabReportArgs,
    LabRunArgs, LineupArg, TableArgs, VmArg,
};
pub(crate) use one_line::OneLineArgs;
pub(crate) use paper::{PaperAction, PaperArgs, PaperRunArgs};
pub(crate) use recover::LabRecoverArgs;
pub(crate) use runs::{RunsAction, RunsArgs, RunsListArgs, StatusArg};
pub(crate) use selftest::SelftestArgs;
pub(crate) use workloads::{
    ArrivalsArg, CacheArg, EngineArg, KindArg, UntilArg, WorkloadArgs, WorkloadOptions,
};

/// Measure file systems and storage: every known workload, from the files you already have.
#[derive(Debug, Parser)]
#[command(
    name = "pgmeter",
    // Else usage repeats what the program was started as.
    bin_name = "pgmeter",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// The results store; by default `pgmeter/results.db` in the user's data directory
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "PGMETER_DB",
        hide_env_values = true
    )]
    pub db: Option<PathBuf>,
    /// With `--version`: what this program was built from, and what this machine offers it
    // Read from the command line by `not_understood`: `--version` ends the reading.
    #[arg(long, short, requires = "version")]
    pub verbose: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure; without a WORKLOAD the pack `quick` is run
    Run(Box<RunArgs>),
    /// Parse and plan, print the plan and every warning, touch nothing
    Check(Box<CheckArgs>),
    /// List the built-in workloads and packs
    List(ListArgs),
    /// Print a workload (a built-in name or a file), or the report of a stored run
    Show(ShowArgs),
    /// Explain the keys of workload files: values, units, defaults
    Keys(KeysArgs),
    /// Print the JSON Schema of workload files, or of a document that `--json` writes
    Schema {
        /// What stands in a document's `format` between `pgmeter-` and `/`, or `workload`
        #[arg(default_value = "workload", value_parser = schema_names())]
        name: String,
    },
    /// Convert a workload file
    Convert(ConvertArgs),
    /// Print a stored or exported record in another format
    Report(ReportArgs),
    /// Compare runs, or two targets measured in turn: what differs by more than chance, and how
    /// sure that is
    Compare(Box<CompareArgs>),
    /// List the stored runs; note, tag, remove, export, import them
    #[command(after_help = RUNS_HELP)]
    Runs(Box<RunsArgs>),
    /// Make file systems to order and measure them side by side
    Lab(Box<LabArgs>),
    /// Repeat published experiments, and print them beside their published figures
    Paper(Box<PaperArgs>),
    /// Tell what this machine can and cannot measure, and why
    Doctor(DoctorArgs),
    /// Check pgmeter's clock, statistics and rates against known values on this machine
    #[command(after_help = selftest::HELP)]
    Selftest(SelftestArgs),
    /// Remove what an interrupted run left
    Clean(CleanArgs),
    /// Behave as another program does; the same happens under its name as a link
    // Every flag behind the program's name is that program's, `--help` too.
    #[command(disable_help_flag = true, arg_required_else_help = true)]
    As(AsArgs),
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

const RUNS_HELP: &str = "\
A run is named by its id, the beginning of its id, `last` for the newest, `@-2` for the one \
before, or `tag:NAME` where one run has that tag. `--db FILE` or PGMETER_DB names another store.";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// Measure nothing; print the workload with all options in place, as a file for `run`
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub print: Option<PrintArg>,
    /// Allow this block device to be written; everything on it is lost
    #[arg(long, value_name = "DEV")]
    pub overwrite_device: Vec<PathBuf>,
    #[command(flatten)]
    pub json: RecordJsonArg,
    /// Write the results as CSV with Iometer's columns
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the report as a page with charts here, not as `pgmeter-ID.html` into this directory
    #[arg(long, value_name = "FILE", conflicts_with = "no_html")]
    pub html: Option<PathBuf>,
    /// Write no page
    #[arg(long, visible_alias = "no-report")]
    pub no_html: bool,
    /// Do not store the run
    #[arg(long, visible_alias = "no-store")]
    pub no_db: bool,
    /// No live figures, only the results
    #[arg(long, short)]
    pub quiet: bool,
    /// Live figures
    #[arg(long, value_name = "KIND", default_value = "line")]
    pub display: DisplayArg,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub workload: WorkloadArgs,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// One name a line and nothing else
    #[arg(long, conflicts_with = "json")]
    pub names: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A built-in name, a file, or a stored run: its id, the beginning of it, `last`, `@-2`
    #[arg(required_unless_present = "template", conflicts_with = "template")]
    pub name: Option<String>,
    /// Print a workload file to start from, with every key explained
    #[arg(long)]
    pub template: bool,
    /// Take a file to be of this kind
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<KindArg>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A built-in name or a file
    pub file: String,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    pub to: ConvertTo,
    /// Take the file to be of this kind
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<KindArg>,
    /// Refuse what the format's own program refuses
    #[arg(long)]
    pub strict: bool,
    /// Write here instead of to standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Files with exported records (JSON), or stored runs: an id, the beginning of one, `last`,
    /// `@-2`; `html` shows several beside each other, other formats take one
    #[arg(value_name = "RUN", required = true)]
    pub records: Vec<PathBuf>,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Write here instead of to standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Stored runs (an id, `last`, `@-2`; `tag:NAME`: all runs with that tag as one side) or
    /// exported records (JSON), two or more, or one beside `--published`; each is held against the
    /// first. With two `--target`s: the WORKLOAD to measure on both, as `run` takes it
    #[arg(value_name = "RUN|WORKLOAD", required_unless_present = "target")]
    pub runs: Vec<PathBuf>,
    /// Put published figures beside the runs, one or more: an experiment of `paper list`, with all
    /// its systems or with those named, such as `lfs-postmark:LFS,ext3`; repeatable
    #[arg(long, value_name = "NAME[:SYSTEM,...]", conflicts_with = "target")]
    pub published: Vec<String>,
    /// Compare even where different things were measured
    #[arg(long)]
    pub force: bool,
    /// The repetitions of both were measured in turn, as in A B B A: compare them in pairs
    #[arg(long)]
    pub paired: bool,
    /// Exit with 4 when a figure is worse than the first run's by more than chance and by more
    /// than this, such as `3%`
    #[arg(long, value_name = "PERCENT")]
    pub fail_on_regression: Option<Percent>,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CompareFormat,
    /// Write here instead of to standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten, next_help_heading = "Measuring two targets in turn")]
    pub measure: WorkloadOptions,
    #[command(flatten, next_help_heading = "A workload in one line")]
    pub one_line: OneLineArgs,
    /// Allow this block device to be written; everything on it is lost
    #[arg(long, value_name = "DEV", requires = "target")]
    pub overwrite_device: Vec<PathBuf>,
    /// Do not store the runs
    #[arg(long, visible_alias = "no-store", requires = "target")]
    pub no_db: bool,
    /// No live figures, only the results
    #[arg(long, short, requires = "target")]
    pub quiet: bool,
    /// Live figures
    #[arg(long, value_name = "KIND", default_value = "line")]
    pub display: DisplayArg,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The directory that would be measured
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// The target of the interrupted run
    pub path: PathBuf,
    /// After asking, also remove what only differs from the manifest by its inode number: a copy
    /// of a target, one restored from a backup, or one on a file system that numbers files anew
    #[arg(long)]
    pub adopt: bool,
    /// Do not ask: remove what `--adopt` finds, and files of a killed `as`
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `as`.
#[derive(Debug, Args)]
pub(crate) struct AsArgs {
    /// The program
    pub classic: ClassicArg,
    /// Its own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// Programs that can be stood in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassicArg {
    /// NetApp's benchmark of small files
    Postmark,
    /// lmbench's rates of creating and removing files
    #[value(name = "lat_fs")]
    LatFs,
    /// Creating files and making them durable, with many threads
    #[value(name = "fs_mark")]
    FsMark,
}

/// Live displays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DisplayArg {
    /// A line that is kept up to date
    Line,
    /// The whole screen
    Full,
    /// None
    None,
}

/// Formats that workloads can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertTo {
    /// pgmeter's own format
    Toml,
    /// Iometer configuration
    Icf,
}

/// Formats that `run` can print a workload in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintArg {
    /// pgmeter's own format
    Toml,
}

/// Formats that comparisons can be printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal or a mail
    Text,
    /// Tables in Markdown
    Markdown,
    /// One page with ratios, intervals and verdicts
    Html,
    /// The comparisons themselves, as `--json` writes them
    Json,
}

/// Formats that records can be printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal or a mail
    Text,
    /// A table in Markdown
    Markdown,
    /// One page with charts that needs nothing else
    Html,
    /// The record itself
    Json,
    /// One row a cell and operation
    Csv,
    /// Iometer's 80 columns
    IometerCsv,
    /// What PostMark, create/remove or lat_fs would have printed
    Classic,
    /// As fio prints JSON: one job a cell
    FioJson,
}
