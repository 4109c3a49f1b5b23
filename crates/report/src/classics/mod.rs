//! The texts of create/remove, lat_fs and fs_mark, from counts and times.

pub mod create_remove;
pub mod fs_mark;
pub mod lat_fs;
mod record;
mod rows;

pub use record::text;
pub(crate) use rows::rows;
