//! JSON documents, with the line of an error.

use plan::Diagnostic;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::source::ResultText;

/// Parses a text that is one JSON document.
pub fn parse<T: DeserializeOwned>(text: &ResultText) -> Result<T, Diagnostic> {
    serde_json::from_str(text.text).map_err(|error| error_at(text, 0, &error))
}

/// The error of a document that begins after this number of lines.
pub fn error_at(text: &ResultText, skipped: u32, error: &serde_json::Error) -> Diagnostic {
    let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
    let message = match error.is_eof() {
        true => "the file ends within the JSON document".to_owned(),
        false => format!("expected JSON of this program: {error}"),
    };
    Diagnostic::error(text.name, message)
        .at_line(skipped.saturating_add(line).max(1))
        .help("import the complete output of the program")
}

/// The value as text: JSON of other programs has numbers as text and as numbers.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number, also one that is written as text.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    }
    .filter(|number: &f64| number.is_finite())
}
