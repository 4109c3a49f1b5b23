//! System calls of other programs and of ours, by strace.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{FixtureError, run_within};

/// Runs a program in a directory, whatever its result. Returns the system calls of all its threads
/// and child processes; each line begins with the number of the thread.
///
/// # Errors
/// There is no strace, or the program does not end in time.
pub fn traced(
    program: &Path,
    directory: &Path,
    arguments: &[&str],
    limit: Duration,
) -> Result<Vec<String>, FixtureError> {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-s", "0", "-o", "trace"])
        .arg(program);
    run_within(strace.args(arguments).current_dir(directory), limit)?;
    let log = std::fs::read(directory.join("trace")).unwrap_or_default();
    Ok(joined(&String::from_utf8_lossy(&log)))
}

/// Joins lines that strace has split because another line came between their halves.
fn joined(log: &str) -> Vec<String> {
    let mut open: BTreeMap<&str, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for line in log.lines() {
        let (id, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim_start();
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            open.insert(id, format!("{id} {}", begun.trim_end()));
        } else if let Some((_, end)) = rest.split_once(" resumed>") {
            let begun = open.remove(id).unwrap_or_default();
            lines.push(format!("{begun}{end}"));
        } else {
            lines.push(format!("{id} {rest}"));
        }
    }
    lines
}
