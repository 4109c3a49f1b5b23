//! Arguments of `check`, for workloads and for traces.

use clap::{Args, ValueEnum};
use planning::GroupHost;
use trace::{TraceLayer, TraceTimeUnit};

use super::{JsonArg, WorkloadArgs, cluster};

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// Check with this manager of an `.icf` file, or this `group`, on a separate host, which is not
    /// contacted; repeatable, once per manager
    #[arg(long, value_name = "MANAGER=HOST", value_parser = cluster::group_host)]
    pub host: Vec<GroupHost>,
    /// Requests of a trace that count; by default, issued ones if the trace has any, otherwise
    /// queued ones
    #[arg(long, value_name = "LAYER")]
    pub layer: Option<LayerArg>,
    /// Unit of the times of a trace whose format does not define it
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnitArg>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Points on the way of a request at which a trace recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerArg {
    /// Queued by the file system, before requests are merged
    Queue,
    /// Issued to the driver
    Issue,
    /// Completed
    Completion,
}

impl From<LayerArg> for TraceLayer {
    fn from(layer: LayerArg) -> Self {
        match layer {
            LayerArg::Queue => Self::Queue,
            LayerArg::Issue => Self::Issue,
            LayerArg::Completion => Self::Complete,
        }
    }
}

/// Units of times in tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeUnitArg {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

impl From<TimeUnitArg> for TraceTimeUnit {
    fn from(unit: TimeUnitArg) -> Self {
        match unit {
            TimeUnitArg::S => Self::Seconds,
            TimeUnitArg::Ms => Self::Milliseconds,
            TimeUnitArg::Us => Self::Microseconds,
            TimeUnitArg::Ns => Self::Nanoseconds,
        }
    }
}
