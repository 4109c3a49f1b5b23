//! Generators of numbers that other programs draw from.

mod library;
mod twister;

pub use library::LibraryRandom;
pub use twister::Twister;
