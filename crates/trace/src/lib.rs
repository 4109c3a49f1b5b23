//! Readers of traces of pgmeter and of other programs: one stream of requests or of calls, in order
//! of time, from the bytes of any known format. Also the writer of pgmeter's own format.
//!
//! The crate only uses the streams that it is given: it opens no file and prints nothing.
//! Memory is bounded whatever the trace contains. Texts of a trace, such as names of processes,
//! must be made printable before they are printed; notices and errors already are.

mod binary;
mod blkparse;
mod blktrace;
mod container;
mod dxt;
mod error;
mod event;
mod fields;
mod fiu;
mod iolog;
mod lines;
mod names;
mod notice;
mod number;
mod order;
mod pgt;
mod reader;
mod recognize;
mod rwbs;
mod snoop;
mod strace;
mod summary;
mod table;
mod touched;
mod tracing;
mod vscsi;
mod windows;

pub use error::TraceError;
pub use event::{
    CallKind, TraceBatch, TraceLayer, TraceRequest, TracedCall, TracedKind, TracedOpen,
};
pub use names::{NameId, TraceNames};
pub use pgt::{TraceContent, TraceWriter};
pub use reader::{INPUTS_MAX, TraceOptions, TraceReader, is_trace};
pub use rwbs::kind as request_kind;
pub use summary::{CallCount, CountsByKind, RequestCount, TraceSummary};
pub use table::TraceTimeUnit;
