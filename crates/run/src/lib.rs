//! Cells, workers and the measurement loop.
//!
//! Running decides nothing: every choice stands in the plan. What happens is told as events, and
//! what was measured is returned as a record.

mod batch;
mod blank;
mod calibrate;
mod cell;
mod collect;
mod curve;
mod drain;
mod drive;
mod due;
mod error;
pub mod exec;
mod figures;
mod files;
mod find_depth;
pub mod fs_mark;
mod gate;
mod in_turn;
mod lane;
pub mod lat_fs;
mod measure;
mod observe;
mod own_files;
mod pace;
pub mod postmark;
mod precondition;
mod preflight;
mod ready;
mod recorder;
mod repeats;
mod rooms;
mod rounds;
mod session;
mod slots;
mod spans;
mod standstill;
#[cfg(test)]
mod tests;
mod timeline;
mod together;
mod waits;
mod watch;
mod worker;

pub use blank::blank_storage;
pub use error::RunError;
pub use in_turn::{Turn, run_in_turn};
pub use ready::refusals;
pub use session::{Finished, RunOptions, run};
