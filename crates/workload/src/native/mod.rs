//! Workload files in TOML: read with every mistake placed, written in a short form.

mod complaint;
mod place;
mod read;
mod write;

pub use read::read_toml;
pub(crate) use read::{parse, placed};
pub use write::to_toml;
