//! Arguments of `runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;

use crate::complete::values;

use super::JsonArg;
use super::count::within;

/// Arguments of `runs`.
#[derive(Debug, Args)]
// A filter such as `--tag` would not limit an action such as `rm`, so clap refuses both together.
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
    #[command(flatten)]
    pub list: RunsListArgs,
}

/// Actions of `runs`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// Print the report of a stored run, or the table of a stored lab
    Show {
        /// A run or a lab
        #[arg(value_name = "RUN|LAB", add = ArgValueCompleter::new(values::runs_or_labs))]
        run: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Remove runs with all their results, and labs with all their runs
    Rm {
        /// Runs and labs
        #[arg(required = true, value_name = "RUN|LAB",
            add = ArgValueCompleter::new(values::runs_or_labs))]
        runs: Vec<String>,
        /// Remove nothing, only print what would be removed
        #[arg(long, short = 'n')]
        dry_run: bool,
        /// Also remove a run whose process may still be running
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Set the note of a run; an empty text removes it
    Note {
        /// A run
        #[arg(add = ArgValueCompleter::new(values::runs))]
        run: String,
        /// The text
        text: String,
    },
    /// Add tags to a run
    Tag {
        /// A run
        #[arg(add = ArgValueCompleter::new(values::runs))]
        run: String,
        /// Tags, without spaces or commas
        #[arg(required = true, value_name = "TAG",
            add = ArgValueCompleter::new(values::tags))]
        tags: Vec<String>,
    },
    /// Remove tags from a run
    Untag {
        /// A run
        #[arg(add = ArgValueCompleter::new(values::runs))]
        run: String,
        /// Tags
        #[arg(required = true, value_name = "TAG",
            add = ArgValueCompleter::new(values::tags))]
        tags: Vec<String>,
    },
    /// Print the record of a run as JSON, as `run --json` writes it
    Export {
        /// A run
        #[arg(add = ArgValueCompleter::new(values::runs))]
        run: String,
        /// Write to this file instead of standard output; an existing file is not replaced
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import records and results of other programs; each file is imported completely or not at all
    Import {
        /// Files written by `runs export` or `run --json`; results of fio, PostMark and other
        /// programs, recognized by their content
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// Filters, columns and order of the list of runs.
#[derive(Debug, Args)]
pub(crate) struct RunsListArgs {
    /// Only runs of workloads whose name contains this
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(values::stored_workloads))]
    pub workload: Option<String>,
    /// Only runs on targets whose path contains this
    #[arg(long, value_name = "PATH")]
    pub target: Option<String>,
    /// Only runs with this tag; repeatable
    #[arg(long, value_name = "TAG", add = ArgValueCompleter::new(values::tags))]
    pub tag: Vec<String>,
    /// Only runs with this status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<StatusArg>,
    /// Only runs started since this date or time, such as `2026-11-21` or `2026-11-21 05:00`, or
    /// since this long ago, such as `7d`
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// List at most this many runs; by default all
    #[arg(long, value_name = "N", value_parser = within(1, usize::MAX))]
    pub limit: Option<usize>,
    /// List each run of a lab, instead of one row per lab
    #[arg(long)]
    pub all: bool,
    /// Columns of the table
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<RunColumn>,
    /// Sort by this column: names from A to Z, times and numbers from the largest down
    #[arg(long, value_name = "COLUMN", default_value = "started")]
    pub sort: RunColumn,
    /// Reverse the order
    #[arg(long)]
    pub reverse: bool,
    /// Show times in UTC instead of local time
    #[arg(long)]
    pub utc: bool,
    /// Print the table without a pager
    #[arg(long)]
    pub no_pager: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Columns of the table of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunColumn {
    /// Start of the id, long enough for use in commands
    Run,
    /// Start time
    Started,
    /// Workload, and the status unless the run is complete
    Workload,
    /// Best rate, in the most useful unit for the workload; for a lab, the number of its runs
    Rate,
    /// Tags
    Tags,
    /// Status
    Status,
    /// Target that was measured
    Target,
    /// File systems of the targets
    FileSystem,
    /// Kernel release
    Kernel,
    /// Host name of the machine
    Host,
    /// Number of complete cells
    Cells,
    /// Highest IOPS of all cells
    Iops,
    /// Highest bandwidth of all cells
    Bandwidth,
    /// Lab that the run belongs to
    Lab,
    /// Note
    Note,
    /// Warnings, by their codes
    Doubts,
}

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusArg {
    /// Still running
    Running,
    /// Everything was measured
    Complete,
    /// Stopped early, or killed
    Interrupted,
    /// Stopped by an error
    Failed,
}
