//! Writing a workload file: what is written, nothing else.

use super::layout;
use crate::model::{Workload, job, program_in_tables};
use plan::Diagnostic;

/// First line of a written file.
const HEADER: &str =
    "# A workload of pgmeter; what is not written has its default (docs/workload.md).\n";

/// The workload as TOML, which reads back to the same workload; what was not written is left out.
/// Where another program's arguments or file stand for phases, these are written.
///
/// TOML's integers end at 2^63-1. A workload that was read from a file has no larger ones outside
/// its `iometer` table; should that table have one, the text says that it is left out.
///
/// # Errors
/// What a workload file has no words for.
pub fn to_toml(workload: &Workload) -> Result<String, Diagnostic> {
    let mut written = in_tables(workload)?;
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

/// The workload with what another program's file stands for in tables. Waves of jobs that follow
/// each other are one workload again.
///
/// # Errors
/// What tables cannot say.
pub fn in_tables(workload: &Workload) -> Result<Workload, Diagnostic> {
    let mut written = job::in_tables(&program_in_tables(workload)?)?;
    let parts = workload.part.iter().map(in_tables);
    written.part = parts.collect::<Result<_, _>>()?;
    let is_alone = Workload {
        part: Vec::new(),
        ..written.clone()
    } == Workload::default();
    match job::together(&written.part).filter(|_| is_alone) {
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
