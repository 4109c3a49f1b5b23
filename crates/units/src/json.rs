//! Reading and writing of JSON, with two readers and one writer for all types.

use std::io::{BufReader, Read, Write};

use serde::de::DeserializeOwned;

/// Size of the read buffer in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// Reads one JSON value from a file that may be too large to be held as text.
///
/// # Errors
/// If the input is not JSON, does not fit the type, or cannot be read.
pub fn read_json<T: DeserializeOwned>(input: &mut dyn Read) -> serde_json::Result<T> {
    serde_json::from_reader(BufReader::with_capacity(BUFFER_BYTES, input))
}

/// Reads one JSON value from a text.
///
/// # Errors
/// As for [`read_json`].
// Twice as fast as from a reader, which hands out single bytes. A board reads a thousand records.
pub fn parse_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// A value of any serializable type.
///
/// The compiler generates the code to write a type once per kind of output; this trait makes all
/// outputs share one.
pub use erased_serde::Serialize as AnySerialize;

/// The value as JSON on one line.
///
/// # Errors
/// If a map has keys that are not text, or the value cannot be serialized.
pub fn json_line(value: &dyn AnySerialize) -> serde_json::Result<String> {
    serde_json::to_string(value)
}

/// The value as indented JSON, with a final line break.
///
/// # Errors
/// As for [`json_line`].
pub fn json_page(value: &dyn AnySerialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// The value as a JSON value.
///
/// # Errors
/// As for [`json_line`].
pub fn json_value(value: &dyn AnySerialize) -> serde_json::Result<serde_json::Value> {
    serde_json::to_value(value)
}

/// Writes the value as JSON on one line.
///
/// # Errors
/// As for [`json_line`], and if writing fails.
pub fn write_json(output: &mut dyn Write, value: &dyn AnySerialize) -> serde_json::Result<()> {
    serde_json::to_writer(output, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_from_text_and_file_parse_alike_and_errors_have_a_line() {
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
