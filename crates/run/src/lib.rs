//! Cells, workers and the measurement loop.
//!
//! Running decides nothing: every choice stands in the plan. What happens is told as events, and
//! what was measured is returned as a record.

mod batch;
mod blank;
mod by_crew;
mod calibrate;
mod cell;
mod collect;
mod complete;
mod crew;
mod curve;
mod cut;
mod drain;
mod drive;
mod due;
mod engines;
mod error;
pub mod exec;
mod figures;
mod files;
mod find_depth;
mod gate;
mod in_turn;
mod jobs;
mod keep;
mod kit;
mod lane;
mod measure;
mod measured;
mod meeting;
mod member;
mod mismatch;
mod observe;
mod outcome;
mod pace;
mod parts;
mod peers;
mod precondition;
mod preflight;
mod ready;
mod recorder;
mod repeats;
mod rooms;
mod rounds;
mod run;
mod sample;
mod session;
mod shares;
mod slots;
mod spans;
mod standstill;
mod start;
mod status;
mod tally;
mod targets;
#[cfg(test)]
mod tests;
mod thread;
mod timeline;
mod times;
mod waits;
mod watch;
mod worker;

pub use blank::blank_storage;
pub use crew::{Crew, CrewWatch};
pub use error::RunError;
pub use files::COMMON;
pub use in_turn::measure_in_turn;
pub use meeting::{FileNews, HearRounds, Meeting};
pub use member::Member;
pub use preflight::try_streams;
pub use ready::refusals;
pub use run::{RunSpec, measure};
pub use session::{Finished, RunOptions};
