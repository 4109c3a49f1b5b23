//! Arguments of `runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
        /// Also remove a run whose process may still be running
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
        /// Tags, without spaces or commas
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Take tags off a run
    Untag {
        /// A run
        run: String,
        /// Tags
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Print the record of a run as JSON, as `run --json` writes it
    Export {
        /// A run
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
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Only runs on targets whose path contains this
    #[arg(long, value_name = "PATH")]
    pub target: Option<String>,
    /// Only runs with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only runs with this status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<StatusArg>,
    /// Only runs started since this date or time (UTC), or since this long ago, such as `7d`
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// List at most this many, newest first; by default 20, or all with --json
    #[arg(long, value_name = "N", value_parser = within(1, usize::MAX))]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub json: JsonArg,
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
