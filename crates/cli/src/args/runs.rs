//! Arguments of `runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;

use crate::complete::values;

use super::JsonArg;
use super::count::within;

/// Arguments of `runs`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
    #[command(flatten)]
    pub list: RunsListArgs,
}

/// What to do with stored runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// Print the report of a run, or the table of a lab again
    Show {
        /// A run or a lab
        #[arg(value_name = "RUN|LAB", add = ArgValueCompleter::new(values::runs_or_labs))]
        run: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Remove runs with all their figures, and labs with all their runs
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
    /// Put tags on a run
    Tag {
        /// A run
        #[arg(add = ArgValueCompleter::new(values::runs))]
        run: String,
        /// Tags, without spaces or commas
        #[arg(required = true, value_name = "TAG",
            add = ArgValueCompleter::new(values::tags))]
        tags: Vec<String>,
    },
    /// Take tags off a run
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
    /// Import records into the store; each is imported whole or not at all
    Import {
        /// Files written by `runs export` or `run --json`
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// Which runs to list, and how.
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
    /// List at most this many; by default all
    #[arg(long, value_name = "N", value_parser = within(1, usize::MAX))]
    pub limit: Option<usize>,
    /// List the runs of labs one by one, not each lab as one row
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
    /// Do not show the table with a pager
    #[arg(long)]
    pub no_pager: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// What the table of runs tells of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunColumn {
    /// The beginning of the id by which commands know the run or the lab
    Run,
    /// When it began
    Started,
    /// What was run, and how it ended unless it is complete
    Workload,
    /// The best rate, in the unit that tells most of this workload; of a lab, how many runs it has
    Rate,
    /// Its tags
    Tags,
    /// How it ended
    Status,
    /// What was measured
    Target,
    /// The file systems of the targets
    FileSystem,
    /// The kernel's release
    Kernel,
    /// The machine
    Host,
    /// How many cells are complete
    Cells,
    /// The most operations per second of all cells
    Iops,
    /// The most bytes per second of all cells
    Bandwidth,
    /// The lab that it is part of
    Lab,
    /// Its note
    Note,
}

/// How runs end.
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
