//! Reads workload files.

use crate::check::check;
use crate::model::Workload;
use plan::Diagnostic;

use super::place::WorkloadText;
use super::toml_error::translate;

/// Longer texts are refused; a real workload file has a few KiB.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Maximum number of characters that start or separate values and keys. Each value takes about 100
/// bytes of memory, however short its text is.
const DELIMITERS_MAX: usize = 1_000_000;

/// Reads a workload or a pack from TOML and checks every value.
///
/// `file` is the name that messages show.
///
/// # Errors
/// Invalid TOML, an unknown key, or a value of the wrong type or out of range: with line, column,
/// and a correct form.
pub fn read_toml(file: &str, text: &str) -> Result<Workload, Diagnostic> {
    let workload = parse(file, text)?;
    match check(&workload) {
        Ok(()) => Ok(workload),
        Err(flaw) => Err(WorkloadText { file, text }.flaw(&flaw)),
    }
}

/// Reads without checking values.
pub(crate) fn parse(file: &str, text: &str) -> Result<Workload, Diagnostic> {
    let is_mark = |byte: &&u8| matches!(**byte, b'[' | b'{' | b',' | b'=' | b'.');
    // Before parsing, because parsing takes the memory.
    let sizes = [
        (text.len(), TEXT_BYTES_MAX, "bytes"),
        (
            text.as_bytes().iter().filter(is_mark).count(),
            DELIMITERS_MAX,
            "brackets, commas and dots",
        ),
    ];
    for (count, max, what) in sizes {
        if count > max {
            let message = format!("the file has {count} {what}, and at most {max} are read");
            return Err(Diagnostic::error(file, message).help("split it into several files"));
        }
    }
    toml::from_str(text).map_err(|error| translate(&error, &WorkloadText { file, text }))
}
