//! Request streams and write contents: what a worker asks of its engine.
//!
//! Nothing here issues I/O or keeps statistics. The same plan and seed give the same requests.

mod step;

pub use step::{Content, Flow, Generator, Mismatch, Step};
