//! Arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use record::RecordLayer;
use units::Span;

pub(super) const HELP: &str = "\
Needs root. pgmeter uses a private tracefs instance, so other tracing programs are not \
disturbed. Ctrl-C ends the recording in order; if pgmeter is killed, the file is readable up to \
its last second, and `pgmeter clean` removes the instance.\n\
Exits with 1 if the kernel dropped more than 0.1 % of the events.";

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Record the requests to this block device; repeatable. A partition stands for its part of
    /// the disk
    #[arg(long, value_name = "DEV", value_hint = ValueHint::AnyPath,
        required_unless_present = "target")]
    pub device: Vec<PathBuf>,
    /// Record the requests to the device under this directory or file; repeatable
    #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    pub target: Vec<PathBuf>,
    /// End after this time; by default at Ctrl-C, or when COMMAND ends
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<Span>,
    /// Point at which requests are recorded; by default `issue` if the device has such requests
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

/// Points at which requests are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordLayerArg {
    /// Issued to the driver, with their completions: the work of the device
    Issue,
    /// Queued by file systems and programs, before requests are merged and split
    Queue,
}

impl From<RecordLayerArg> for RecordLayer {
    fn from(layer: RecordLayerArg) -> Self {
        match layer {
            RecordLayerArg::Issue => Self::Issue,
            RecordLayerArg::Queue => Self::Queue,
        }
    }
}
