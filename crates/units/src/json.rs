//! JSON that is read and written: all types by one and the same reader and writer.

use std::io::{BufReader, Read, Write};

use serde::de::DeserializeOwned;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Reads one JSON value. The compiler writes the code that reads a type once for each kind of
/// reader, so that there is only this one.
///
/// # Errors
/// When it is not JSON, not what the type has, or cannot be read.
pub fn read_json<T: DeserializeOwned>(input: &mut dyn Read) -> serde_json::Result<T> {
    serde_json::from_reader(BufReader::with_capacity(BUFFER_BYTES, input))
}

/// Reads one JSON value from a text.
///
/// # Errors
/// As [`read_json`].
pub fn parse_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let capacity = text.len().clamp(1, BUFFER_BYTES);
    let input: &mut dyn Read = &mut text.as_bytes();
    serde_json::from_reader(BufReader::with_capacity(capacity, input))
}

/// A value of any type that can be written.
///
/// The compiler writes the code that writes a type once for each kind of text or value that it is
/// written to; behind this trait there is only one for all.
pub use erased_serde::Serialize as AnySerialize;

/// The value as JSON in one line.
///
/// # Errors
/// Where a map has keys that are no text, or the value refuses.
pub fn json_line(value: &dyn AnySerialize) -> serde_json::Result<String> {
    serde_json::to_string(value)
}

/// The value as JSON that a person can read, with a final line break.
///
/// # Errors
/// As [`json_line`].
pub fn json_page(value: &dyn AnySerialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// The value as the JSON that it would be written as.
///
/// # Errors
/// As [`json_line`].
pub fn json_value(value: &dyn AnySerialize) -> serde_json::Result<serde_json::Value> {
    serde_json::to_value(value)
}

/// Writes the value as JSON in one line.
///
/// # Errors
/// As [`json_line`], or when it cannot be written.
pub fn write_json(output: &mut dyn Write, value: &dyn AnySerialize) -> serde_json::Result<()> {
    serde_json::to_writer(output, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_as_a_file_does_and_an_error_has_its_place() {
        let text = "{\n  \"a\": [1, 2.5, \"x\"]\n}";
        let value: serde_json::Value = parse_json(text).unwrap();
        assert_eq!(
            value,
            serde_json::from_str::<serde_json::Value>(text).unwrap()
        );
        let read: serde_json::Value = read_json(&mut text.as_bytes()).unwrap();
        assert_eq!(read, value);
        let error = parse_json::<Vec<u8>>("[1,\n 2,\n \"x\"]").unwrap_err();
        assert_eq!(error.line(), 3);
        assert!(parse_json::<u8>("").unwrap_err().is_eof());
    }
}
