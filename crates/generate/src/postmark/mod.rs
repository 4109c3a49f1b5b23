//! PostMark's stream of file operations, draw for draw.
//!
//! Nothing here touches a file: [`Stream::next`] says what to do, its caller does it and says how
//! it went. Settings of the same version, sizes and seed give the same operations.

mod congruential;
mod error;
mod names;
mod numbers;
mod occupied;
mod operation;
mod slots;
mod stream;
#[cfg(test)]
mod tests;
mod totals;
mod twister;

pub use congruential::Congruential;
pub use error::StreamError;
pub use names::Names;
pub use numbers::Numbers;
pub use operation::{Mark, Operation, Outcome, PoolDirectory, PoolFile};
pub use stream::Stream;
pub use totals::Totals;
pub use twister::Twister;
