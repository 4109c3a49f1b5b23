//! Bytes, spans, rates and percents: parsed, printed and serialized in this one place; and text
//! from outside, made fit to be printed.
//!
//! Every type prints exactly and reads back what it printed. Rounded text for people is in
//! [`format`] and must not be read back.

mod bytes;
mod decimal;
mod error;
pub mod format;
mod percent;
mod printable;
mod rate;
mod span;
mod wire;

pub use bytes::Bytes;
pub use error::UnitError;
pub use percent::Percent;
pub use printable::{is_hidden, printable, printable_bytes, printable_lines, printable_message};
pub use rate::Rate;
pub use span::Span;
