//! `lab list`: the file systems, and what is missing for each.

use std::fmt::Write as _;

use lab::availability;

use crate::failure::{Exit, Failure};
use crate::output::print;

/// Prints each with whether it can be made here.
pub(crate) fn list() -> Result<Exit, Failure> {
    let mut text = String::new();
    let mut line = |name: &str, can: &str, title: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:<9} {can:<4} {title}");
    };
    for found in availability() {
        let entry = found.entry;
        let can = if found.missing.is_empty() {
            "yes"
        } else {
            "no"
        };
        line(
            entry.name,
            can,
            &format!("{}; {}", entry.title, entry.features()),
        );
        if !found.missing.is_empty() {
            line("", "", &format!("missing: {}", found.missing.join(", ")));
            if lab::vm::can_make(entry) {
                line(
                    "",
                    "",
                    "can be made with `--vm uml`, which needs none of these",
                );
            }
        }
    }
    line(
        "path:DIR",
        "yes",
        "a file system that is mounted already; of it nothing is made",
    );
    print(&text)?;
    Ok(Exit::Measured)
}
