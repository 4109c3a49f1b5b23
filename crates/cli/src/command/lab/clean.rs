//! `lab clean`: removes what killed labs left.

use std::fmt::Write as _;

use crate::args::LabPlaceArgs;
use crate::failure::{Exit, Failure};
use crate::terminal::print;

/// Cleans, and says what was removed, what was left, and why.
pub(crate) fn clean(args: &LabPlaceArgs) -> Result<Exit, Failure> {
    let directory = args.dir.clone().unwrap_or_else(lab::default_directory);
    let cleaned = lab::clean(&directory)?;
    let mut text = String::new();
    for removed in &cleaned.removed {
        // Writing to a string does not fail.
        let _ = writeln!(text, "removed {removed}");
    }
    for running in &cleaned.running {
        let _ = writeln!(text, "at work: {running}");
    }
    for left in &cleaned.left {
        let _ = writeln!(text, "left: {left}");
        if let Some(help) = left.help() {
            let _ = writeln!(text, "help: {help}");
        }
    }
    if text.is_empty() {
        text = format!("no lab has left anything in `{}`\n", directory.display());
    }
    print(text)?;
    Ok(if cleaned.left.is_empty() {
        Exit::Measured
    } else {
        Exit::Failed
    })
}
