//! Parsing, printing and serialization of bytes, spans, rates and percentages; untrusted text made
//! safe to print and wrapped; and common properties of all JSON documents.
//!
//! Every type prints exactly and parses what it printed. Rounded text for users is in [`format`]
//! and cannot be parsed back.

mod bytes;
mod checksum;
mod decimal;
mod document;
mod error;
pub mod format;
mod json;
mod metrics;
mod percent;
mod printable;
mod rate;
mod span;
mod wire;
mod word;
mod wrap;

pub use bytes::Bytes;
pub use checksum::fnv_1a;
pub use document::{JsonDocument, document_schema, path_as_text, paths_as_text};
pub use error::UnitError;
pub use json::{AnySerialize, json_line, json_page, json_value, parse_json, read_json, write_json};
pub use metrics::{MetricKind, MetricLabels, MetricsText, metric_seconds};
pub use percent::Percent;
pub use printable::{
    elide_long_words, is_hidden, printable, printable_bytes, printable_lines, printable_message,
};
pub use rate::Rate;
pub use span::Span;
pub use word::text_of;
pub use wrap::wrap;
