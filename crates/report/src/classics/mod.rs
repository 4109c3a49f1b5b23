//! Output of classic programs, from records.

mod record;
mod rows;

pub use record::text;
pub(crate) use rows::rows;
