//! Arguments of `lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use units::{Bytes, Span};

use super::recover::{self, LabRecoverArgs};
use super::{
    CacheArg, EngineArg, JsonArg, OneLineArgs, RecordJsonArg, WorkloadArgs, WorkloadOptions,
};

/// Arguments of `lab`.
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub action: LabAction,
}

/// What to do in the lab.
#[derive(Debug, Subcommand)]
pub(crate) enum LabAction {
    /// Make file systems, run workloads on each, and print one table
    #[command(after_help = RUN_HELP)]
    Run(Box<LabRunArgs>),
    /// Kill the kernel of file systems that are being written, and see what is there of what was
    /// synced
    #[command(after_help = recover::HELP)]
    Recover(Box<LabRecoverArgs>),
    /// Print the result of a lab again, in any format
    Report(LabReportArgs),
    /// List the file systems: which can be made here, and what is missing
    List(LabListArgs),
    /// Do in a guest what the host ordered
    #[command(hide = true)]
    Guest {
        /// The order
        order: PathBuf,
    },
    /// Remove mounts, devices, images and processes that a killed lab left, and nothing else
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
A file system is a name of `pgmeter lab list`, with options for its mkfs behind a colon and for \
mount behind `,mount=`; several are separated by commas, or `--fs` is given again:\n  \
--fs ext4,xfs --fs 'ext4:-O ^has_journal' --fs 'xfs,mount=noatime' --fs path:/mnt/nfs\n\
File workloads go through the page cache unless told otherwise, as their originals do: `--cache \
direct`, or `--cold` and more data than memory holds, measures devices.\n\
Each workload of each repetition has a file system of its own, made and mounted for it and taken \
down after it. What is written is made durable after the workload, and that is timed.";

/// Where labs are.
#[derive(Debug, Args)]
pub(crate) struct LabPlaceArgs {
    /// The directory of images and mount points; by default one in /var/tmp
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// What file systems are made of, and how often.
#[derive(Debug, Args)]
pub(crate) struct GroundArgs {
    /// File systems, each with its options; repeatable
    #[arg(long, value_name = "LIST")]
    pub fs: Vec<String>,
    /// What they are made on: `loop`, `zram`, or a block device, on which everything is lost
    #[arg(long, value_name = "MEDIUM", default_value = "loop")]
    pub on: String,
    /// Make each in a kernel of its own, an ordinary process, which has the log-structured ones;
    /// times there rank nothing
    #[arg(long, value_name = "KIND")]
    pub vm: Option<VmArg>,
    /// Memory of each such kernel
    #[arg(long, value_name = "SIZE", default_value = "1GiB", requires = "vm")]
    pub vm_memory: Bytes,
    /// Bytes of the image (or of memory), the same for all
    #[arg(long, value_name = "SIZE", default_value = "8GiB")]
    pub image_size: Bytes,
    /// Fill each file system first, and use it while it stays as full, so that files and free
    /// space lie in pieces: `70%`, `70%,churn=5` (write five times what fills it; 2 unless said),
    /// `70%,extents=1.5` (until files have so many on the average); seeded by `--seed`
    #[arg(long, value_name = "FULLNESS")]
    pub age: Option<String>,
    /// Allow this block device to be written; everything on it is lost
    #[arg(long, value_name = "DEV")]
    pub overwrite_device: Vec<PathBuf>,
    #[command(flatten)]
    pub place: LabPlaceArgs,
    /// Run workloads at this scale, above 0 and at most 1: files, bytes and times
    #[arg(long, value_name = "S", default_value = "1")]
    pub scale: String,
    /// Do not store the runs
    #[arg(long, visible_alias = "no-store")]
    pub no_db: bool,
    #[command(flatten)]
    pub table: TableArgs,
}

/// How a table of file systems is printed.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// The format to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: LineupArg,
    /// Write here instead of to standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: RecordJsonArg,
    /// Say nothing but the result
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `lab report`.
#[derive(Debug, Args)]
pub(crate) struct LabReportArgs {
    /// A file that `--json` wrote, or a lab of the results store: its id, the beginning of that, or
    /// `last`
    #[arg(value_name = "LAB", default_value = "last")]
    pub lab: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
}

/// Arguments of `lab run`.
#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// Built-in names, packs, or files
    #[arg(value_name = "WORKLOAD", required = true)]
    pub workloads: Vec<String>,
    #[command(flatten)]
    pub ground: GroundArgs,
    /// How often each workload is measured on each file system
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// The order of jobs
    #[arg(long, value_name = "ORDER", default_value = "turns")]
    pub jobs: JobsArg,
    /// Empty the kernel's caches before each workload, and mount anew between the steps of
    /// create-remove
    #[arg(long)]
    pub cold: bool,
    /// Write no page
    #[arg(long)]
    pub no_html: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// What to change in workloads, after they are scaled.
#[derive(Debug, Args, Default)]
pub(crate) struct ChangeArgs {
    /// Engine that issues the I/O
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<EngineArg>,
    /// How the page cache is used
    #[arg(long, value_name = "MODE")]
    pub cache: Option<CacheArg>,
    /// Requests kept in flight per worker
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub iodepth: Vec<u32>,
    /// Workers (threads)
    #[arg(long, value_name = "N")]
    pub workers: Option<u32>,
    /// Bytes of test file; of each file where the workload makes many
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Measured time of each cell
    #[arg(long, value_name = "SPAN")]
    pub run_time: Option<Span>,
    /// Time before each measurement
    #[arg(long, value_name = "SPAN")]
    pub ramp_time: Option<Span>,
    /// Seed of all random streams, of `--jobs random` and of `--age`
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Set any other option of the workload
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Kernels for file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VmArg {
    /// User-mode Linux, of the Debian package `user-mode-linux`
    Uml,
}

/// Orders of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JobsArg {
    /// All file systems in turn, there and back: A B C, C B A
    Turns,
    /// All repetitions of one, then of the next
    Blocks,
    /// All file systems in each repetition, shuffled
    Random,
}

/// Formats of a table of file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineupArg {
    /// For a terminal or a mail
    Text,
    /// Tables in Markdown
    Markdown,
    /// One page with bars that needs nothing else
    Html,
    /// One row for each figure of each file system, for programs
    Csv,
}

impl ChangeArgs {
    /// As the arguments of `run` for one workload.
    pub fn for_workload(&self, name: &str) -> WorkloadArgs {
        WorkloadArgs {
            workloads: vec![name.to_owned()],
            options: WorkloadOptions {
                engine: self.engine,
                cache: self.cache,
                iodepth: self.iodepth.clone(),
                workers: self.workers,
                size: self.size,
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
