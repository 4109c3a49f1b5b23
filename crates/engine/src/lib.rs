//! The only code that issues I/O.
//!
//! An engine is handed [`Request`]s, keeps them in flight and hands back [`Completion`]s. It knows
//! nothing of workloads, percentages, phases or statistics.

mod operation;
mod request;

pub use operation::{Operation, OperationSet};
pub use request::{Completion, Engine, EngineError, Request, Wait};
