//! Cells, workers and the measurement loop.
//!
//! Running decides nothing: every choice stands in the plan. What happens is told as events, and
//! what was measured is returned as a record.

mod calibrate;
mod cell;
mod collect;
mod error;
mod figures;
mod gate;
mod lane;
mod measure;
mod observe;
pub mod postmark;
mod preflight;
mod recorder;
mod session;
mod slots;
#[cfg(test)]
mod tests;
mod watch;
mod worker;

pub use error::RunError;
pub use session::{Finished, RunOptions, refusals, run};
