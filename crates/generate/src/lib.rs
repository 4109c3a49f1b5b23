//! Request streams and write contents: the requests that a worker makes to its engine.
//!
//! This crate issues no I/O and keeps no statistics. The same plan and seed give the same requests.

mod arithmetic;
mod arrivals;
mod check;
mod choice;
mod connection;
mod content;
mod cursor;
mod due_counts;
mod due_queue;
mod error;
mod exclusive;
mod iometer;
pub mod job;
mod messages;
pub mod names;
mod open_loop;
pub mod pool;
mod position;
pub mod program;
mod recorded_turns;
mod replay;
mod rng;
#[cfg(test)]
mod sample;
mod shared_arrivals;
mod slots;
mod spacing;
mod step;
pub mod trace;
mod transfer;

pub use arrivals::{ARRIVAL_RATE_MAX, ARRIVAL_RATE_MIN, Arrivals};
pub use connection::Connections;
pub use content::{
    CheckedContent, ContentSource, FileStamp, PlainContent, UnchangedContent, VerifiedContent,
    verify_block_bytes,
};
pub use cursor::{Cursor, LastRequest, OwnCursor, SharedCursor};
pub use due_counts::{DueCounts, DueWindow, LATE_NS};
pub use due_queue::{Backlog, DueQueue, DueStep, DueTimes, Timing};
pub use error::GenerateError;
pub use exclusive::{Exclusive, Stripes};
pub use iometer::Iometer;
pub use messages::Messages;
pub use open_loop::{OpenLoopGenerator, OpenStream, RESPONSE_KINDS};
pub use plan::share;
pub use recorded_turns::RecordedTurns;
pub use replay::TraceReplay;
pub use rng::{IometerRng, Rng};
pub use shared_arrivals::SharedArrivals;
pub use slots::{lane, slot_spans};
pub use stats::mix;
pub use step::{Content, EXPECTED_FAILURE, Flow, Generator, Mismatch, Step, named};
pub use transfer::Transfer;
