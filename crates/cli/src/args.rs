//! The command line as parsed by clap. The commands turn it into plans.

pub(crate) mod board;
mod check;
mod cluster;
mod count;
mod file_systems;
mod fit;
mod json;
mod keys;
mod lab;
mod one_line;
mod page;
mod paper;
mod record;
mod recover;
mod replay;
mod report_format;
mod runs;
mod selftest;
mod serve;
mod sink;
mod workloads;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::ArgValueCompleter;
use front::{CONSOLES, FRONTS, FileFront};
use store::StoreError;
use units::Percent;

use crate::complete::values;
use crate::schemas::schema_names;

pub(crate) use board::BoardArgs;
pub(crate) use check::CheckArgs;
pub(crate) use cluster::{ClusterArgs, OnLostArg};
pub(crate) use file_systems::{FileSystemArgs, TableArgs, TableFormatArg, VmArg};
pub(crate) use fit::FitArgs;
pub(crate) use json::{JsonArg, RecordJsonArg};
pub(crate) use keys::KeysArgs;
pub(crate) use lab::{
    ChangeArgs, JobsArg, LabAction, LabArgs, LabCleanArgs, LabListArgs, LabReportArgs, LabRunArgs,
};
pub(crate) use one_line::OneLineArgs;
pub(crate) use page::{PageArgs, ReportDirArg};
pub(crate) use paper::{PaperAction, PaperArgs, PaperRunArgs, PaperShowArgs};
pub(crate) use record::{RecordArgs, RecordLayerArg};
pub(crate) use recover::LabRecoverArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use report_format::ReportFormat;
pub(crate) use runs::{RunColumn, RunsAction, RunsArgs, RunsListArgs, StatusArg};
pub(crate) use selftest::SelftestArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use sink::SinkArgs;
pub(crate) use workloads::{CacheArg, EngineArg, WorkloadArgs, WorkloadOptions, file_kinds};

/// Benchmark file systems and storage, with the workload files you already have.
#[derive(Debug, Parser)]
#[command(
    name = "pgmeter",
    // Without this, the usage line shows the path that the program was started with.
    bin_name = "pgmeter",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Results store to use; by default the file in PGMETER_DB, or else `pgmeter/results.db` in the
    /// user's data directory
    // `StoreLocation` reads the variable, because clap shows an option that a variable sets in
    // every usage line, as if it were required.
    // Without an order, the option would be in the middle of the options of `run`.
    #[arg(long, global = true, value_name = "FILE", display_order = DB_ORDER)]
    pub db: Option<PathBuf>,
    /// With `--version`: also print how this program was built and what this machine supports
    // Not read as a field: `--version` ends parsing, so `print_usage_error` looks for this flag.
    #[arg(long, short, requires = "version")]
    pub verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run workloads and measure them; without a WORKLOAD, the pack `quick`
    Run(Box<RunArgs>),
    /// Print what `run` would do, with every warning; touches nothing
    Check(Box<CheckArgs>),
    /// List the built-in workloads and packs
    List(ListArgs),
    /// Print a workload (a built-in name or a file), or the report of a stored run
    Show(ShowArgs),
    /// Explain the keys of workload files: values, units, defaults
    Keys(KeysArgs),
    /// Print the JSON Schema of workload files, or of a document written by `--json`
    Schema {
        /// `workload`, or the part of a document's `format` between `pgmeter-` and `/`
        #[arg(default_value = "workload", value_parser = schema_names())]
        name: String,
    },
    /// Convert a workload file to another format
    Convert(ConvertArgs),
    /// Record the requests to block devices, or the system calls of programs, into a trace
    #[command(after_help = record::HELP)]
    Record(RecordArgs),
    /// Fit a synthetic workload to a trace, and print how well it fits
    #[command(after_help = fit::HELP)]
    Fit(FitArgs),
    /// Print a stored or exported run in another format
    Report(ReportArgs),
    /// Compare stored runs, or measure two targets and compare them; shows significant differences
    Compare(Box<CompareArgs>),
    /// List, tag, annotate, remove, export and import stored runs; list and remove stored labs
    #[command(after_help = RUNS_HELP)]
    Runs(Box<RunsArgs>),
    /// Create file systems, and measure them side by side
    Lab(Box<LabArgs>),
    /// Repeat published experiments, and print the results next to the published ones
    Paper(Box<PaperArgs>),
    /// Make and check boards: tables of results that many people submit to a repository
    Board(Box<BoardArgs>),
    /// Serve a web page on this machine: stored runs, live results, comparisons, and starting runs
    #[command(after_help = serve::HELP)]
    Serve(ServeArgs),
    /// Run the server side of network tests (`tcp://` targets)
    #[command(after_help = sink::HELP)]
    Sink(SinkArgs),
    /// Show what this machine can and cannot measure, and why
    Doctor(DoctorArgs),
    /// Check pgmeter's clock, statistics and rates against known values on this machine
    #[command(after_help = selftest::HELP)]
    Selftest(SelftestArgs),
    /// Remove files that an interrupted run left behind
    Clean(CleanArgs),
    /// Emulate another benchmark, with the same options and output; also works through a link
    /// named after the program
    // All flags after the program's name belong to that program, even `--help`.
    #[command(disable_help_flag = true, arg_required_else_help = true, after_help = AS_HELP)]
    As(AsArgs),
    /// Measure as the leader on the standard streams requests; started by `run --hosts`
    #[command(hide = true)]
    Worker,
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program, or of one command
    Man(ManArgs),
}

/// Position of `--db` in the help: after the other options, before `--help`.
const DB_ORDER: usize = 900;

/// Position of `--no-db`: next to `--db`.
pub(crate) const NO_DB_ORDER: usize = DB_ORDER + 1;

const AS_HELP: &str = "`pgmeter as PROGRAM --help` shows the options of that program.";

const RUNS_HELP: &str = "RUN is an id, the start of an id, `last` for the newest, `@-2` for the \
one before it, or `tag:NAME` if one run has that tag; LAB is the id of a lab or the start of it. \
`--db FILE` or PGMETER_DB selects another store. A list that is longer than the screen is shown \
with PAGER, or with `less -FRX`.";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub workload: WorkloadArgs,
    #[command(flatten, next_help_heading = "Replay of a trace")]
    pub replay: ReplayArgs,
    /// Measure nothing; print the workload, options included, as a file for `run`
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub print: Option<PrintArg>,
    /// Allow writing to this block device; everything on it is lost
    #[arg(long, value_name = "DEV", value_hint = ValueHint::Other)]
    pub overwrite_device: Vec<PathBuf>,
    /// File with the token of the sinks of `tcp://` targets; the file must be readable only by you
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sink_token_file: Option<PathBuf>,
    #[command(flatten)]
    pub json: RecordJsonArg,
    /// Write each event of the run into a new file or a pipe as it happens, as a line of JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub events: Option<PathBuf>,
    /// Write the results as CSV with Iometer's columns
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Do not store the run
    #[arg(long, visible_alias = "no-store", display_order = NO_DB_ORDER)]
    pub no_db: bool,
    /// Add this tag to the stored run; repeatable. `tag:TAG` then names the run in other commands
    #[arg(long, value_name = "TAG", conflicts_with = "no_db", value_parser = tag,
        add = ArgValueCompleter::new(values::tags))]
    pub tag: Vec<String>,
    /// No live display, only the results
    #[arg(long, short)]
    pub quiet: bool,
    /// Print each repetition, not only the means
    #[arg(long)]
    pub all: bool,
    /// Serve a page with live results while measuring; its URL is printed on standard error
    #[arg(long, conflicts_with = "no_db")]
    pub web: bool,
    /// Live display while measuring
    #[arg(long, value_name = "KIND", default_value = "line")]
    pub display: DisplayArg,
    #[command(flatten, next_help_heading = "Several hosts")]
    pub cluster: ClusterArgs,
}

/// Parses a tag.
fn tag(text: &str) -> Result<String, StoreError> {
    store::check_tag(text).map(|()| text.to_owned())
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print only the names, one per line
    #[arg(long, conflicts_with = "json")]
    pub names: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A built-in workload, a file, or a stored run: its id, the start of its id, `last` or `@-2`
    #[arg(required_unless_present = "template", conflicts_with = "template",
        add = ArgValueCompleter::new(values::workloads_or_runs))]
    pub name: Option<String>,
    /// Print a workload file to start from, with every key explained
    #[arg(long)]
    pub template: bool,
    /// Treat the file as this type
    #[arg(long = "as", value_name = "KIND", value_parser = workloads::kind_parser())]
    pub kind: Option<&'static FileFront>,
    /// For a stored run, print each repetition, not only the means
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A built-in workload or a file
    #[arg(add = ArgValueCompleter::new(values::workloads))]
    pub file: String,
    /// Output format
    #[arg(long, value_name = "FORMAT")]
    pub to: ConvertFormat,
    /// Treat the file as this type
    #[arg(long = "as", value_name = "KIND", value_parser = workloads::kind_parser())]
    pub kind: Option<&'static FileFront>,
    /// Refuse input that the original program would refuse
    #[arg(long)]
    pub strict: bool,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Stored runs or labs (an id, the start of one, `last`, `@-2`) or exported JSON records;
    /// `html` shows several runs side by side, other formats take one
    #[arg(value_name = "RUN", default_value = "last",
        add = ArgValueCompleter::new(values::records))]
    pub records: Vec<PathBuf>,
    /// Output format; by default the format of the output file's extension, such as `.html`, or
    /// else text
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// In text, print each repetition, not only the means; other formats always contain them
    #[arg(long)]
    pub all: bool,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the HTML page to the report directory, or to `--output`, and open it in `BROWSER` or
    /// the desktop's browser
    #[arg(long, conflicts_with = "json")]
    pub open: bool,
    #[command(flatten)]
    pub place: ReportDirArg,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Heading of the options of `compare` that need two targets.
const MEASURING: &str = "Measuring two targets in turn";

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Runs to compare with the first of them, or the workload to measure on two targets
    ///
    /// Without `--target`: two or more runs, each an id, `last`, `@-2` or an exported JSON record.
    /// `tag:NAME` groups all runs with that tag into one side.
    ///
    /// With `--published`: one or more runs.
    ///
    /// With two `--target` options: the workload to measure on both, as for `run`.
    #[arg(value_name = "RUN|WORKLOAD", required_unless_present = "target",
        add = ArgValueCompleter::new(values::records))]
    pub runs: Vec<PathBuf>,
    /// Show published results next to the runs: an experiment from `pgmeter paper list`, with all
    /// its systems or only some, such as `lfs-postmark:LFS,ext3`; repeatable
    #[arg(long, value_name = "NAME[:SYSTEM,...]", conflicts_with = "target",
        add = ArgValueCompleter::new(values::papers))]
    pub published: Vec<String>,
    /// Compare even if the runs measured different things
    #[arg(long)]
    pub force: bool,
    /// Compare repetitions in pairs, for sides that were measured alternately (A B B A)
    #[arg(long)]
    pub paired: bool,
    /// Exit with code 4 if a value is significantly worse than in the first run, and by more than
    /// this percentage, such as `3%`
    #[arg(long, value_name = "PERCENT")]
    pub fail_on_regression: Option<Percent>,
    /// Output format; by default the format of the output file's extension, such as `.html`, or
    /// else text
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<CompareFormat>,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten, next_help_heading = MEASURING)]
    pub measure: WorkloadOptions,
    #[command(flatten, next_help_heading = "A workload in one line")]
    pub one_line: OneLineArgs,
    /// Allow writing to this block device; everything on it is lost
    #[arg(long, value_name = "DEV", requires = "target", value_hint = ValueHint::Other,
        help_heading = MEASURING)]
    pub overwrite_device: Vec<PathBuf>,
    /// Do not store the runs
    #[arg(long, visible_alias = "no-store", requires = "target", display_order = NO_DB_ORDER,
        help_heading = MEASURING)]
    pub no_db: bool,
    /// No live display, only the results
    #[arg(long, short, requires = "target", help_heading = MEASURING)]
    pub quiet: bool,
    /// Live display while measuring
    #[arg(long, value_name = "KIND", default_value = "line", help_heading = MEASURING)]
    pub display: DisplayArg,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Directory that would be measured
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
    /// Also remove files that differ from the manifest only in their inode number, after a prompt:
    /// for a copied or restored target, or a file system that renumbers files
    #[arg(long)]
    pub adopt: bool,
    /// Do not ask before removing files found by `--adopt` or files of a killed `as`
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `as`.
#[derive(Debug, Args)]
pub(crate) struct AsArgs {
    /// The program to emulate
    #[arg(value_name = "PROGRAM", value_parser = PossibleValuesParser::new(programs()))]
    pub program: String,
    /// Arguments of that program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true,
        value_hint = ValueHint::AnyPath)]
    pub args: Vec<OsString>,
}

/// The programs that `as` can emulate, with their titles, sorted by name.
pub(crate) fn programs() -> Vec<PossibleValue> {
    let fronts = FRONTS.iter();
    let fronts = fronts.map(|front| {
        let program = PossibleValue::new(front.name).aliases(front.aliases);
        program.help(front.title)
    });
    let consoles = CONSOLES.iter();
    let consoles = consoles.map(|front| PossibleValue::new(front.name).help(front.title));
    let mut all: Vec<PossibleValue> = fronts.chain(consoles).collect();
    all.sort_by(|one, next| one.get_name().cmp(next.get_name()));
    all
}

/// Returns `true` for the name of a program that `as` can emulate.
pub(crate) fn is_program(name: &str) -> bool {
    programs().iter().any(|it| it.matches(name, true))
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, such as `run`; by default the program itself
    pub command: Option<String>,
    /// Print the names of all manual pages instead
    #[arg(long, conflicts_with = "command")]
    pub list: bool,
}

/// Live displays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DisplayArg {
    /// One line, updated in place
    Line,
    /// Full screen
    Full,
    /// None
    None,
}

/// Formats that `convert` can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertFormat {
    /// pgmeter's own format
    Toml,
    /// Iometer configuration
    Icf,
    /// fio job file, from access specifications and jobs
    Fio,
}

/// Formats in which `run --print` can print a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintArg {
    /// pgmeter's own format
    Toml,
}

/// Formats of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal or an e-mail
    Text,
    /// Tables in Markdown
    Markdown,
    /// One page with ratios, intervals and verdicts
    Html,
    /// The comparison data, as written by `--json`
    Json,
}
