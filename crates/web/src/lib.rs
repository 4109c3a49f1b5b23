//! The page of `pgmeter serve` and its API, for viewing stored runs, watching running ones and
//! starting new ones.
//!
//! This process does not measure, plan or prepare anything. Separate `pgmeter` processes do the
//! work; they neither wait for the server nor end with it. The server learns about them only from
//! the results store, so a restarted server continues where the last one stopped.

mod answer;
mod api;
mod blocking;
mod board;
mod body;
mod bounds;
mod choice;
mod drive;
mod error;
mod guard;
mod host;
mod lab;
mod listen;
mod live;
mod metrics_cache;
mod options;
mod own_workloads;
mod page;
mod program;
mod queue;
mod reference;
mod roots;
mod routes;
mod scratch;
mod serve;
mod shared;
mod signal;
mod thin;
mod token;

pub use answer::RefusedRequest;
pub use api::checks::{CheckAnswer, CheckMessage, ConvertAnswer};
pub use api::control::ControlAnswer;
pub use api::disks::{DiskEntry, DiskKind, DiskList, MayWrite};
pub use api::events::HelloEvent;
pub use api::facts::{RootFacts, ServerFacts};
pub use api::folded::RunningLab;
pub use api::labs::LabsAnswer;
pub use api::over_time::{CellIntervals, IntervalsAnswer};
pub use api::runs::{PlannedCell, RemovedRun, RunView, RunsAnswer, TagsAnswer};
pub use api::trend::{TrendAnswer, TrendChange, TrendRun, TrendsAnswer};
pub use api::workloads::{OwnText, OwnWorkload, OwnWorkloads};
pub use bounds::{BOUNDS_VARIABLE, Bounds};
pub use choice::{WorkloadChoice, WorkloadRequest};
pub use error::WebError;
pub use lab::LabRequest;
pub use live::{CellStartEvent, GapEvent, IntervalEvent, RunEndEvent};
pub use options::{ServeOptions, ServedBoard};
pub use queue::{EntryState, QueueDocument, QueueEntry, RunRequest};
pub use reference::api_page;
pub use serve::Server;
