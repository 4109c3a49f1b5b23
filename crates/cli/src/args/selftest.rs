//! Arguments of `selftest`.

use std::path::PathBuf;

use clap::Args;

use super::EngineArg;

/// Arguments of `selftest`.
#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Check this engine and what engines have in common; repeatable; all engines by default
    #[arg(long, value_name = "ENGINE")]
    pub engine: Vec<EngineArg>,
    /// Write what was found as JSON; `-` is standard output, which then holds nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// No progress, only the table
    #[arg(long, short)]
    pub quiet: bool,
}

pub(super) const HELP: &str = "\
Takes about a minute. Every figure is held against a truth that is known otherwise: the kernel's \
timer, arithmetic, the rate that was asked for. What cannot be checked on this machine is skipped, \
with the reason.\n\
Ends with 0 where all that was checked is right, with 1 where something is wrong, and with 3 where \
other programs kept the machine too busy to tell.";
