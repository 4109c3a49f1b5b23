//! Random number generators of other programs.

mod library;
mod twister;

pub use library::LibraryRandom;
pub use twister::Twister;
