//! Workload files in TOML: reading, with the position of every error, and writing in a short form.

mod layout;
mod place;
mod read;
#[cfg(test)]
mod tests;
mod toml_error;
mod write;

pub(crate) use place::WorkloadText;
pub(crate) use read::parse;
pub use read::read_toml;
pub(crate) use toml_error::meant;
pub use write::{to_tables, to_toml};
