//! Reading a workload file.

use crate::check::check;
use crate::diagnostic::Diagnostic;
use crate::model::Workload;

use super::complaint::translate;
use super::place::Page;

/// Larger texts are not workload files; an honest one is a few KiB.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Reads a workload or a pack from TOML and checks every value.
///
/// `file` is the name that messages show.
///
/// # Errors
/// Anything that is not TOML, an unknown key, a value of the wrong type or out of its range: with
/// line, column, and what to write instead.
pub fn read_toml(file: &str, text: &str) -> Result<Workload, Diagnostic> {
    let workload = parse(file, text)?;
    match check(&workload) {
        Ok(()) => Ok(workload),
        Err(flaw) => Err(Page { file, text }.flaw(&flaw)),
    }
}

/// Reads without checking values.
pub(crate) fn parse(file: &str, text: &str) -> Result<Workload, Diagnostic> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!(
            "the file has {} bytes, more than a workload file can",
            text.len()
        );
        return Err(Diagnostic::error(file, message).help("name a workload file"));
    }
    toml::from_str(text).map_err(|error| translate(&error, &Page { file, text }))
}
