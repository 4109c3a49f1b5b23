//! Request streams and write contents: what a worker asks of its engine.
//!
//! Nothing here issues I/O or keeps statistics. The same plan and seed give the same requests.

mod arithmetic;
mod check;
mod choice;
pub mod classics;
mod connection;
mod content;
mod cursor;
mod error;
mod exclusive;
mod iometer;
mod position;
pub mod postmark;
mod rng;
#[cfg(test)]
mod sample;
mod slots;
mod step;
mod transfer;

pub use connection::Connections;
pub use content::{ContentSource, PlainContent, Verified, verify_block_bytes};
pub use cursor::{Cursor, Last, OwnCursor, SharedCursor};
pub use error::GenerateError;
pub use exclusive::{Exclusive, Stripes};
pub use iometer::Iometer;
pub use rng::{IometerRng, Rng, mix};
pub use slots::{lane, slot_spans};
pub use step::{Content, Flow, Generator, Mismatch, Step};
pub use transfer::Transfer;
