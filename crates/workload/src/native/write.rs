//! Writing a workload file: what is written, nothing else.

use crate::model::Workload;

/// First line of a written file.
const HEADER: &str =
    "# A workload of pgmeter; what is not written has its default (docs/workload.md).\n";

/// The workload as TOML, which reads back to the same workload; what was not written is left out.
///
/// TOML's integers end at 2^63-1. A workload that was read from a file has no larger ones outside
/// its `iometer` table; should that table have one, the text says that it is left out.
#[must_use]
pub fn to_toml(workload: &Workload) -> String {
    match toml::to_string(workload) {
        Ok(text) => format!("{HEADER}{text}"),
        Err(error) => {
            let rest = Workload {
                iometer: None,
                ..workload.clone()
            };
            let reason = format!("# The `iometer` table is left out: {}\n", one_line(&error));
            let text = toml::to_string(&rest).unwrap_or_else(|error| {
                format!("# The workload cannot be written: {}\n", one_line(&error))
            });
            format!("{HEADER}{reason}{text}")
        }
    }
}

fn one_line(error: &toml::ser::Error) -> String {
    error.to_string().replace(char::is_control, " ")
}
