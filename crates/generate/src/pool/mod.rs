//! The stream of file operations of a file pool, with the same draws as PostMark.
//!
//! This module touches no file: [`PoolStream::next`] returns the next operation; its caller
//! executes it and reports the outcome. The same version, sizes and seed give the same operations.

mod calls;
mod chain;
mod chooser;
mod congruential;
mod content;
mod error;
mod kept;
mod layout;
mod mt19937;
mod names;
mod numbers;
mod occupied;
mod operation;
mod play;
mod slots;
mod stream;
#[cfg(test)]
mod tests;
mod totals;
mod whole;

pub use calls::{CallPattern, PoolCall, ReadCalls, WriteCalls, stdio_buffer_bytes};
pub use congruential::Congruential;
pub use content::TextContent;
pub use error::StreamError;
pub use layout::{file_options, kept_file_options, name_rule};
pub use mt19937::Mt19937;
pub use names::PoolNames;
pub use numbers::PoolRandom;
pub use operation::{OperationOutcome, PoolDirectory, PoolFile, PoolMark, PoolStep};
pub use play::{Failures, PlayOptions, PoolRun};
pub use stream::{PoolStream, StreamOptions};
pub use totals::Totals;
