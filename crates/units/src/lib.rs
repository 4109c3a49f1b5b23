//! Bytes, spans, rates and percents: parsed, printed and serialized in this one place; text from
//! outside, made fit to be printed; and what all JSON documents have in common.
//!
//! Every type prints exactly and reads back what it printed. Rounded text for people is in
//! [`format`] and must not be read back.

mod bytes;
mod decimal;
mod document;
mod error;
pub mod format;
mod json;
mod percent;
mod printable;
mod rate;
mod span;
mod wire;
mod word;

pub use bytes::Bytes;
pub use document::{JsonDocument, document_schema, path_as_text, paths_as_text};
pub use error::UnitError;
pub use json::{AnySerialize, json_line, json_page, json_value, parse_json, read_json, write_json};
pub use percent::Percent;
pub use printable::{
    excerpts, is_hidden, printable, printable_bytes, printable_lines, printable_message,
};
pub use rate::Rate;
pub use span::Span;
pub use word::text_of;
