//! Which processes measure together, and how they are reached.

use clap::{Args, ValueEnum};

use super::count::within;

/// Which processes measure together, and how they are reached.
#[derive(Debug, Args, Clone)]
pub(crate) struct CrewArgs {
    /// Measure on these hosts together, such as `a,b,node[01-16]`: a process on each, in a
    /// directory of its own below the target
    #[arg(long, value_name = "HOST,...", conflicts_with_all = ["print", "web"])]
    pub hosts: Option<String>,
    /// Processes on each host
    #[arg(long, value_name = "N", default_value = "1", requires = "hosts",
        value_parser = within(1_u64, 1024))]
    pub workers_per_host: u64,
    /// Command that runs another on a host; it is given the host's name and `pgmeter worker`
    #[arg(long, value_name = "CMD", default_value = "ssh", requires = "hosts")]
    pub ssh: String,
    /// Copy this program to each host for the run, where it is not installed
    #[arg(long, requires = "hosts")]
    pub copy_binary: bool,
    /// What to do when a process is lost while it measures
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    pub on_lost: OnLostArg,
}

/// What to do when a process is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLostArg {
    /// End the run; what was measured before is kept
    Fail,
    /// Go on with the others, and say so
    Continue,
}
