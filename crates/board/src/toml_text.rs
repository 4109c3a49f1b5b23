//! Reads and writes the TOML files of a board.

use serde::Serialize;
use serde::de::DeserializeOwned;
use units::printable;

use crate::BoardError;

/// Maximum size of a TOML file of a board, in bytes.
const TOML_BYTES_MAX: usize = 1 << 20;

/// Reads a file. Unknown keys are errors, because a misspelled key would be ignored otherwise.
pub(crate) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, BoardError> {
    if text.len() > TOML_BYTES_MAX {
        let message = format!(
            "{} bytes, but at most {TOML_BYTES_MAX} are read",
            text.len()
        );
        return Err(BoardError::in_file(file, message, "shorten the texts"));
    }
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        BoardError::Toml {
            file: file.to_owned(),
            line,
            message: printable(error.message()).into_owned(),
            help: "correct this line; `docs/board.md` lists the keys of each file".to_owned(),
        }
    })
}

/// Writes a file.
pub(crate) fn write(value: &impl Serialize) -> String {
    toml::to_string(value).expect("keys of the board's files are text, and tables come last")
}

/// Returns the line of a byte, from 1.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    1 + before.filter(|byte| **byte == b'\n').count()
}
