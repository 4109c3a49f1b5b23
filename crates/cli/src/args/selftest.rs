//! Arguments of `selftest`.

use clap::Args;

use super::{EngineArg, RecordJsonArg};

/// Arguments of `selftest`.
#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Check only this engine and the parts shared by all engines; repeatable; by default all
    /// engines
    #[arg(long, value_name = "ENGINE")]
    pub engine: Vec<EngineArg>,
    #[command(flatten)]
    pub json: RecordJsonArg,
    /// Show no progress, only the table
    #[arg(long, short)]
    pub quiet: bool,
    /// Serve the file system with known read times on standard input and output
    #[arg(long, hide = true)]
    pub serve: bool,
}

pub(super) const HELP: &str = "\
Takes about a minute and writes nothing. Each result is checked against an independently known \
value: the kernel's timer, arithmetic, the requested rate, or the log of a process that serves a \
file system with known read times (FUSE; as root, or in a user namespace). Without that file \
system, checks of rates, latencies and stalls of io_uring, psync and mmap are skipped, with the \
reason.\n\
Exits with 0 if all checks passed, with 1 if something is wrong, and with 3 if the machine was \
too busy for a verdict.";
