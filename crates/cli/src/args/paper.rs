//! Arguments of `paper`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;

use super::board::SubmitArgs;
use super::count::within;
use super::{ChangeArgs, FileSystemArgs, JsonArg, PageArgs, TableFormatArg};
use crate::complete::values;

/// Arguments of `paper`.
#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    #[command(subcommand)]
    pub action: PaperAction,
}

/// Actions of `paper`.
#[derive(Debug, Subcommand)]
pub(crate) enum PaperAction {
    /// List the experiments
    List {
        #[command(flatten)]
        json: JsonArg,
    },
    /// Print the workload of an experiment and its published results
    Show(PaperShowArgs),
    /// Repeat an experiment, and print the results next to the published ones
    Run(Box<PaperRunArgs>),
}

/// Arguments of `paper show`.
#[derive(Debug, Args)]
pub(crate) struct PaperShowArgs {
    /// A name from `pgmeter paper list`
    #[arg(add = ArgValueCompleter::new(values::papers))]
    pub name: String,
    /// Output format; by default the format of the output file's extension, such as `.html`, or
    /// else text
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<TableFormatArg>,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `paper run`.
#[derive(Debug, Args)]
pub(crate) struct PaperRunArgs {
    /// A name from `pgmeter paper list`
    #[arg(add = ArgValueCompleter::new(values::papers))]
    pub name: String,
    /// Directory to measure in; `--fs` creates file systems instead
    #[arg(long, short = 't', value_name = "DIR", conflicts_with = "fs")]
    pub target: Vec<PathBuf>,
    #[command(flatten)]
    pub file_systems: FileSystemArgs,
    /// Number of times to measure the experiment on each file system; the table shows means
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = within::<u32>(1, 1000))]
    pub repetitions: u32,
    /// Drop the kernel's caches before each repetition, and remount between the steps of
    /// create-remove
    #[arg(long)]
    pub cold: bool,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub change: ChangeArgs,
    #[command(flatten, next_help_heading = "Adding to a board")]
    pub submit: SubmitArgs,
}
