//! Arguments of `lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use units::{Bytes, Span};

use super::board::SubmitArgs;
use super::count::{within, workload_key_parser};
use super::file_systems::{FileSystemArgs, LabPlaceArgs, TableArgs};
use super::recover::{self, LabRecoverArgs};
use super::{CacheArg, EngineArg, JsonArg, OneLineArgs, PageArgs, WorkloadArgs, WorkloadOptions};
use crate::complete::values;

/// Arguments of `lab`.
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub action: LabAction,
}

/// Actions of `lab`.
#[derive(Debug, Subcommand)]
pub(crate) enum LabAction {
    /// Create file systems, run workloads on each, and print one table
    #[command(after_help = RUN_HELP)]
    Run(Box<LabRunArgs>),
    /// Crash the kernel while it writes files, then check that all synced data survived
    #[command(after_help = recover::HELP)]
    Recover(Box<LabRecoverArgs>),
    /// Print the result of a lab again, in any format
    Report(LabReportArgs),
    /// List the file systems that this machine can create, and what the others need
    List(LabListArgs),
    /// Inside a guest, execute the order of the host
    #[command(hide = true)]
    Guest {
        /// File with the order
        order: PathBuf,
    },
    /// Remove mounts, devices, images and processes left behind by a killed lab, and nothing else
    Clean(LabCleanArgs),
}

/// Arguments of `lab list`.
#[derive(Debug, Args)]
pub(crate) struct LabListArgs {
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `lab clean`.
#[derive(Debug, Args)]
pub(crate) struct LabCleanArgs {
    #[command(flatten)]
    pub place: LabPlaceArgs,
    #[command(flatten)]
    pub json: JsonArg,
}

const RUN_HELP: &str = "\
File systems are named as in `pgmeter lab list`. Options for mkfs follow a colon, mount options \
follow `,mount=`. Separate multiple options, or file systems, with commas; or repeat `--fs`:\n  \
--fs ext4,xfs --fs 'ext4:-O ^has_journal' --fs 'xfs,mount=noatime' --fs path:/mnt/nfs\n\
File workloads go through the page cache by default, as the original programs do; to measure \
devices, add `--cold` and use more data than memory holds, or, if all file sizes are multiples of \
4096 bytes, add `--cache direct` (`--set min_size=4096 --set max_size=4096`).\n\
Each repetition of each workload gets a new file system, which is unmounted and removed \
afterwards. The time to sync what the workload wrote is measured too.";

/// Arguments of `lab report`.
#[derive(Debug, Args)]
pub(crate) struct LabReportArgs {
    /// A file written by `--json`, or a stored lab: its id, the start of its id, or `last`
    #[arg(value_name = "LAB", default_value = "last",
        add = ArgValueCompleter::new(values::labs))]
    pub lab: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
}

/// Arguments of `lab run`.
#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// Built-in workloads, packs or files
    #[arg(value_name = "WORKLOAD", required = true,
        add = ArgValueCompleter::new(values::workloads))]
    pub workloads: Vec<String>,
    #[command(flatten)]
    pub file_systems: FileSystemArgs,
    /// Number of times to measure each workload on each file system
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = within::<u32>(1, 1000))]
    pub repetitions: u32,
    /// Order of the measurements
    #[arg(long, value_name = "ORDER", default_value = "turns")]
    pub jobs: JobsArg,
    /// Drop the kernel's caches before each workload, and remount between the steps of
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

/// Options that change workloads. They apply after scaling.
#[derive(Debug, Args, Default)]
pub(crate) struct ChangeArgs {
    /// I/O engine; with a list, each engine is measured
    #[arg(long, value_name = "ENGINE,...", value_delimiter = ',')]
    pub engine: Vec<EngineArg>,
    /// How the page cache is used; with a list, each mode is measured
    #[arg(long, value_name = "MODE,...", value_delimiter = ',')]
    pub cache: Vec<CacheArg>,
    /// Queue depth: requests in flight per worker
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = workload_key_parser::<u32>("iodepth"))]
    pub iodepth: Vec<u32>,
    /// Number of workers (threads); with a list, each number is measured
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = workload_key_parser::<u32>("workers"))]
    pub workers: Vec<u32>,
    /// Size of the test file; if the workload creates many files, size of each; with a list, each
    /// size is measured
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = Bytes::of_option)]
    pub size: Vec<Bytes>,
    /// How long to measure each cell
    #[arg(long, value_name = "SPAN")]
    pub run_time: Option<Span>,
    /// Time to run the load before measuring starts
    #[arg(long, value_name = "SPAN")]
    pub ramp_time: Option<Span>,
    /// Seed of all random streams, including `--jobs random` and `--age`
    #[arg(long, value_name = "N", value_parser = within(0, u64::MAX))]
    pub seed: Option<u64>,
    /// Set any other key of the workload
    #[arg(long = "set", value_name = "KEY=VALUE",
        add = ArgValueCompleter::new(values::set_pairs))]
    pub set: Vec<String>,
}

/// Orders of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JobsArg {
    /// Alternate between file systems, reversing the order each time: A B C, C B A
    Turns,
    /// All repetitions on one file system, then on the next
    Blocks,
    /// All file systems in each repetition, in random order
    Random,
}

impl ChangeArgs {
    /// Converts to the arguments of `run` for one workload.
    pub fn for_workload(&self, name: &str) -> WorkloadArgs {
        WorkloadArgs {
            workloads: vec![name.to_owned()],
            options: WorkloadOptions {
                engine: self.engine.clone(),
                cache: self.cache.clone(),
                iodepth: self.iodepth.clone(),
                workers: self.workers.clone(),
                size: self.size.clone(),
                run_time: self.run_time,
                ramp_time: self.ramp_time,
                seed: self.seed,
                set: self.set.clone(),
                ..WorkloadOptions::default()
            },
            one_line: OneLineArgs::default(),
        }
    }
}
