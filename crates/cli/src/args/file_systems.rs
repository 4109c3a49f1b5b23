//! Arguments shared by all commands that create file systems.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use clap_complete::ArgValueCompleter;
use units::Bytes;

use super::{NO_DB_ORDER, RecordJsonArg};
use crate::complete::values;

/// Directory of a lab.
#[derive(Debug, Args)]
pub(crate) struct LabPlaceArgs {
    /// Directory for images and mount points; by default one in /var/tmp
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// File systems to create, their medium and their size.
#[derive(Debug, Args)]
pub(crate) struct FileSystemArgs {
    /// File systems to create, with their options; repeatable
    #[arg(long, value_name = "LIST", add = ArgValueCompleter::new(values::file_systems))]
    pub fs: Vec<String>,
    /// Where to create them: `loop`, `zram`, or a block device, whose contents are lost
    #[arg(long, value_name = "MEDIUM", default_value = "loop",
        add = ArgValueCompleter::new(values::media))]
    pub on: String,
    /// Run each file system in its own User-mode Linux kernel, which adds nilfs2 and f2fs; times
    /// measured in it are not comparable with native runs
    #[arg(long, value_name = "KIND")]
    pub vm: Option<VmArg>,
    /// Memory of each of these kernels
    #[arg(long, value_name = "SIZE", default_value = "1GiB", requires = "vm")]
    pub vm_memory: Bytes,
    /// Size of each image, zram device or tmpfs
    #[arg(long, value_name = "SIZE", default_value = "8GiB")]
    pub image_size: Bytes,
    /// Age each file system first: fill it, then keep replacing files at that fullness, to fragment
    /// files and free space: `70%`, `70%,churn=5` (write five times the data that fills it; 2 by
    /// default), `70%,extents=1.5` (until files have 1.5 extents on average); seeded by `--seed`
    #[arg(long, value_name = "FULLNESS")]
    pub age: Option<String>,
    /// Allow writing to this block device; everything on it is lost
    #[arg(long, value_name = "DEV", value_hint = ValueHint::Other)]
    pub overwrite_device: Vec<PathBuf>,
    #[command(flatten)]
    pub place: LabPlaceArgs,
    /// Factor for the files, bytes and times of workloads: above 0, at most 1
    #[arg(long, value_name = "S", default_value = "1")]
    pub scale: String,
    /// Do not store the runs
    #[arg(long, visible_alias = "no-store", display_order = NO_DB_ORDER)]
    pub no_db: bool,
    #[command(flatten)]
    pub table: TableArgs,
}

/// Output options of a table of file systems.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Output format; by default the format of the output file's extension, such as `.html`, or
    /// else text
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<TableFormatArg>,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub json: RecordJsonArg,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
}

/// Virtual kernels for file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VmArg {
    /// User-mode Linux, from the Debian package `user-mode-linux`
    Uml,
}

/// Formats of a table of file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormatArg {
    /// For a terminal or an e-mail
    Text,
    /// Tables in Markdown
    Markdown,
    /// A self-contained page with bar charts
    Html,
    /// All data, including the runs, as written by `--json`
    Json,
    /// One row per value and file system
    Csv,
}
