//! Arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use record::RecordLayer;
use units::Span;

pub(super) const HELP: &str = "\
With a device or directory, pgmeter records requests to block devices. This needs root; pgmeter \
uses a private tracefs instance, so other tracing programs are not disturbed. With a command or \
process alone, pgmeter records system calls on files, which slows them down, into text in the form \
of strace.\n\
Ctrl-C ends the recording in order; if pgmeter is killed, the file is readable up to its last \
second, and `pgmeter clean` removes the instance.\n\
Exits with 1 if the kernel dropped more than 0.1 % of the events.";

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Record the requests to this block device; repeatable. A partition stands for its part of
    /// the disk
    #[arg(long, value_name = "DEV", value_hint = ValueHint::AnyPath)]
    pub device: Vec<PathBuf>,
    /// Record the requests to the device under this directory or file; repeatable
    #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    pub target: Vec<PathBuf>,
    /// Record the system calls of this process; repeatable
    #[arg(long, value_name = "PID", conflicts_with_all = ["device", "target", "command"],
        value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// End after this time; by default at Ctrl-C, or when COMMAND ends
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<Span>,
    /// What is recorded; by default `calls` without a device, else `issue` if the device has such
    /// requests
    #[arg(long, value_name = "LAYER")]
    pub layer: Option<RecordLayerArg>,
    /// File for the trace; an existing file is not replaced
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Write the file even if it is on the recorded device; its writes are recorded, too
    #[arg(long)]
    pub force: bool,
    /// No live line
    #[arg(long, short)]
    pub quiet: bool,
    /// Run this command, and record until it ends
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Points at which requests and calls are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordLayerArg {
    /// Issued to the driver, with their completions: the work of the device
    Issue,
    /// Queued by file systems and programs, before requests are merged and split
    Queue,
    /// System calls on files of a command or process, and of all that it starts
    Calls,
}

impl RecordLayerArg {
    /// The layer of the block device; `None` for calls.
    pub(crate) fn of_device(self) -> Option<RecordLayer> {
        match self {
            Self::Issue => Some(RecordLayer::Issue),
            Self::Queue => Some(RecordLayer::Queue),
            Self::Calls => None,
        }
    }
}
