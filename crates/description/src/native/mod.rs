//! Workload files in TOML: reading, with the position of every error, and writing in a short form.

mod complaint;
mod layout;
mod place;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use complaint::meant;
pub(crate) use place::WorkloadText;
pub(crate) use read::parse;
pub use read::read_toml;
pub use write::{in_tables, to_toml};
