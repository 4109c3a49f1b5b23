//! The parts of which pages are made: one self-contained page of HTML with no network, no fonts of
//! others, dark and light, on paper and on a telephone.
//!
//! What is said and drawn is decided in Rust; the page's script draws the charts with [uPlot]
//! and shows the rest when asked to. Without the script, the tables are there, those of a page of
//! many cells excepted.
//!
//! [uPlot]: https://github.com/leeoniya/uPlot

mod command;
pub(crate) mod packed;
mod sentence;
mod shell;
mod table;

pub(crate) use command::{again, command_block, command_line};
pub(crate) use packed::{opening, waiting};
pub(crate) use sentence::sentence;
pub use shell::page_policy;
pub(crate) use shell::shell;
pub(crate) use table::{below_heading, frame, pairs, pairs_below_heading, plain, table};
