//! Arguments of `runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::JsonArg;

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
    /// Print the report of a run
    Show {
        /// A run
        run: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Remove runs with all their figures
    Rm {
        /// Runs
        #[arg(required = true)]
        runs: Vec<String>,
        /// Also one whose process may still be there
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Set the note of a run; an empty text removes it
    Note {
        /// A run
        run: String,
        /// The text
        text: String,
    },
    /// Put tags on a run
    Tag {
        /// A run
        run: String,
        /// Words without blanks and commas
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Take tags off a run
    Untag {
        /// A run
        run: String,
        /// Words
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Print the record of a run as JSON, as `run --json` writes it
    Export {
        /// A run
        run: String,
        /// Write here instead of to standard output; an existing file is not replaced
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take records into the store, each as a whole or not at all
    Import {
        /// Files that `runs export` or `run --json` wrote
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// Which runs to list, and how.
#[derive(Debug, Args)]
pub(crate) struct RunsListArgs {
    /// Only runs of a workload whose name has this in it
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Only runs on a target whose path has this in it
    #[arg(long, value_name = "PATH")]
    pub target: Option<String>,
    /// Only runs with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only runs that ended so
    #[arg(long, value_name = "STATUS")]
    pub status: Option<StatusArg>,
    /// Only runs that began at or after this day or time (UTC), or so long ago, such as `7d`
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only the newest so many; without it, 20 in the table and all with --json
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// How runs end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusArg {
    /// Not ended yet
    Running,
    /// Everything was measured
    Complete,
    /// Ended before its time, or killed
    Interrupted,
    /// Could not go on
    Failed,
}
