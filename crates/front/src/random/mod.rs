//! Random number generators of other programs.

mod library;
mod mt19937;

pub use library::LibraryRandom;
pub use mt19937::Twister;
