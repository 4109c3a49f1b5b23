//! Random number generators of other programs.

mod library;
mod mt19937;

pub use library::GlibcRandom;
pub use mt19937::Mt19937x64;
