//! Writes workload files, with only the keys that are set.

use super::layout;
use crate::model::{Workload, job, program_to_tables};
use plan::Diagnostic;

/// First line of a written file.
const HEADER: &str =
    "# A pgmeter workload; keys that are not written have their defaults (docs/workload.md).\n";

/// The workload as TOML, which reads back to the same workload. Keys that are not set are left out.
/// Phases and jobs converted from another program are written as tables.
///
/// Integers in TOML end at 2^63-1. In a workload read from a file, only the `iometer` table can
/// have larger ones; then the table is left out and a comment says so.
///
/// # Errors
/// If a workload file cannot express the workload.
pub fn to_toml(workload: &Workload) -> Result<String, Diagnostic> {
    let mut written = to_tables(workload)?;
    let (reason, text) = match layout::text(&written) {
        Ok(text) => (String::new(), text),
        Err(error) if written.iometer.take().is_some() => {
            let reason = one_line(&error);
            let reason = format!("# The `iometer` table is left out: {reason}\n");
            (
                reason,
                layout::text(&written).map_err(|error| refused(&error))?,
            )
        }
        Err(error) => return Err(refused(&error)),
    };
    Ok(format!("{HEADER}{reason}{text}"))
}

/// The workload with everything converted from another program as tables. Consecutive waves of jobs
/// become one workload again.
///
/// # Errors
/// If tables cannot express the workload.
pub fn to_tables(workload: &Workload) -> Result<Workload, Diagnostic> {
    let mut written = job::to_tables(&program_to_tables(workload)?)?;
    let parts = workload.part.iter().map(to_tables);
    written.part = parts.collect::<Result<_, _>>()?;
    // A single workload has no place for keys of the pack.
    let is_alone = Workload {
        part: Vec::new(),
        ..written.clone()
    } == Workload::default();
    match job::combine_waves(&written.part).filter(|_| is_alone) {
        Some(whole) => Ok(whole),
        None => Ok(written),
    }
}

fn refused(error: &toml::ser::Error) -> Diagnostic {
    let message = format!(
        "the workload cannot be written as TOML: {}",
        one_line(error)
    );
    Diagnostic::error("", message).help("use smaller numbers")
}

fn one_line(error: &toml::ser::Error) -> String {
    error.to_string().replace(char::is_control, " ")
}
