//! `lab clean`: removes leftovers of killed labs.

use std::fmt::Write as _;
use std::path::Path;

use lab::{CleanedLabs, CleanupResult};

use crate::args::LabCleanArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::terminal::one_line;

/// Cleans, then reports removed and remaining items, and why they remain.
pub(crate) fn clean(args: &LabCleanArgs) -> Result<Exit, CliError> {
    let output = args.json.open()?;
    let directory = args
        .place
        .dir
        .clone()
        .unwrap_or_else(lab::default_directory);
    let cleaned = lab::clean(&directory)?;
    let document = CleanedLabs::of(&directory, &cleaned);
    output.give(&document, || OutputText::prose(text(&directory, &cleaned)))?;
    Ok(if cleaned.left.is_empty() {
        Exit::Success
    } else {
        Exit::Failed
    })
}

fn text(directory: &Path, cleaned: &CleanupResult) -> String {
    let mut text = String::new();
    for removed in &cleaned.removed {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "removed {}", one_line(removed));
    }
    for running in &cleaned.running {
        let _ = writeln!(text, "at work: {}", one_line(running));
    }
    for left in &cleaned.left {
        let _ = writeln!(text, "left: {}", one_line(left));
        if let Some(help) = left.help() {
            let _ = writeln!(text, "help: {}", one_line(&help));
        }
    }
    if text.is_empty() {
        let directory = one_line(&directory.display());
        text = format!("no lab has left anything in `{directory}`\n");
    }
    text
}
