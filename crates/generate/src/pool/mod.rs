//! A pool's stream of file operations: PostMark's, draw for draw.
//!
//! Nothing here touches a file: [`Stream::next`] says what to do, its caller does it and says how
//! it went. Settings of the same version, sizes and seed give the same operations.

mod calls;
mod chain;
mod chooser;
mod congruential;
mod content;
mod error;
mod kept;
mod layout;
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
mod twister;
mod whole;

pub use calls::{Call, CallPattern, ReadCalls, WriteCalls, stdio_buffer_bytes};
pub use congruential::Congruential;
pub use content::TextContent;
pub use error::StreamError;
pub use layout::{file_options, kept_file_options, name_rule};
pub use names::Names;
pub use numbers::Numbers;
pub use operation::{Mark, Operation, Outcome, PoolDirectory, PoolFile};
pub use play::{Failures, Play, PlayOptions};
pub use stream::{Stream, StreamOptions};
pub use totals::Totals;
pub use twister::Twister;
