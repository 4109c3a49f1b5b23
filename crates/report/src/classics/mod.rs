//! The texts of lat_fs, from counts and times.

pub mod lat_fs;
mod record;
mod rows;

pub use record::text;
pub(crate) use rows::rows;
