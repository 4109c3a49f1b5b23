//! Recording of requests to block devices, by a private tracefs instance and the pages of its ring
//! buffers, and of the system calls of programs, by ptrace.
//!
//! The kernel's top-level buffer, its filters and its events are never touched, because other
//! programs may use them. Parsers of kernel text and pages are pure and check all bounds.

mod block;
mod calls;
mod devices;
mod error;
mod format;
mod instance;
mod layer;
mod recorder;
mod ring;
mod tracefs;

pub use block::{BlockEvents, KernelRequest};
pub use calls::{CallRecorder, EndedCalls, HiddenAccess, TracedPrograms};
pub use devices::{check_output, choose_layer};
pub use error::RecordError;
pub use format::EventFormat;
pub use instance::remove_leftovers;
pub use layer::{RecordLayer, RecordedDevice};
pub use recorder::{EndedRecording, RecordOptions, RecordProgress, TraceRecorder};
pub use ring::{PageLayout, RingEvent, RingPage};
