//! A tracefs instance: a set of ring buffers with separate clock, filters and events.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use storage::NotRemoved;

use crate::error::RecordError;
use crate::tracefs::Tracefs;

/// Start of the names of pgmeter's instances; the process and its start time follow.
const NAME_START: &str = "pgmeter-";

/// An instance, removed when dropped.
#[derive(Debug)]
pub(crate) struct TraceInstance {
    tracefs: Tracefs,
    directory: PathBuf,
}

impl TraceInstance {
    /// Creates an instance for this process.
    ///
    /// # Errors
    /// If tracefs is missing or denied.
    pub fn create() -> Result<Self, RecordError> {
        let tracefs = Tracefs::open()?;
        let pid = std::process::id();
        let start = start_time(pid).unwrap_or(0);
        let directory = tracefs.path(format!("instances/{NAME_START}{pid}-{start}"));
        fs::create_dir(&directory)
            .map_err(|source| tracefs.failed("create", &directory, source))?;
        Ok(Self { tracefs, directory })
    }

    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.directory.join(relative)
    }

    /// Directory of an event.
    ///
    /// # Errors
    /// If the kernel has no such event.
    pub fn event(&self, group: &str, event: &str) -> Result<PathBuf, RecordError> {
        let path = self.path(format!("events/{group}/{event}"));
        match path.is_dir() {
            true => Ok(path),
            false => Err(RecordError::NoEvent {
                event: format!("{group}:{event}"),
            }),
        }
    }

    pub fn read(&self, path: &Path) -> Result<String, RecordError> {
        self.tracefs.read(path)
    }

    pub fn write(&self, path: &Path, text: &str) -> Result<(), RecordError> {
        self.tracefs.write(path, text)
    }

    pub fn failed(&self, action: &'static str, path: &Path, source: io::Error) -> RecordError {
        self.tracefs.failed(action, path, source)
    }

    /// The error of a description without a field that is needed.
    pub fn bad_format(&self, path: &Path) -> RecordError {
        RecordError::Format {
            path: self.tracefs.shown(path),
        }
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        // Nothing can be done here about a failure; `pgmeter clean` removes the instance later.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Removes the instances of recordings whose process has ended. Returns the removed ones and those
/// that remain, or nothing if tracefs is missing or denied.
#[must_use]
pub fn remove_leftovers() -> (Vec<PathBuf>, Vec<NotRemoved>) {
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    let Ok(tracefs) = Tracefs::open() else {
        return (removed, left);
    };
    let Ok(entries) = fs::read_dir(tracefs.path("instances")) else {
        return (removed, left);
    };
    for entry in entries.flatten() {
        if !is_leftover(&entry.file_name().to_string_lossy(), start_time) {
            continue;
        }
        let path = tracefs.shown(&entry.path());
        match fs::remove_dir(entry.path()) {
            Ok(()) => removed.push(path),
            Err(error) => left.push(NotRemoved {
                path,
                reason: error.to_string(),
            }),
        }
    }
    removed.sort();
    (removed, left)
}

/// `true` for the instance of a process that has ended. The number of a process may be in use
/// again, but not with the same start time.
fn is_leftover(name: &str, start_of: impl Fn(u32) -> Option<u64>) -> bool {
    let parse = || {
        let (pid, start) = name.strip_prefix(NAME_START)?.split_once('-')?;
        Some((pid.parse().ok()?, start.parse::<u64>().ok()?))
    };
    parse().is_some_and(|(pid, start)| start_of(pid) != Some(start))
}

/// Start time of a process in ticks since the boot; `None` if it does not exist.
///
/// Source: Linux, `Documentation/filesystems/proc.rst`, field 22 of `/proc/<pid>/stat`.
fn start_time(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_start_time(&String::from_utf8_lossy(&text))
}

fn parse_start_time(stat: &str) -> Option<u64> {
    // The name of the process is in parentheses and may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_follows_any_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1234567 1 2 3";
        assert_eq!(parse_start_time(stat), Some(1_234_567));
        assert_eq!(parse_start_time("7 (a) S 1"), None);
        assert!(start_time(std::process::id()).is_some());
        assert_eq!(start_time(u32::MAX), None);
    }

    #[test]
    fn only_instances_of_ended_processes_are_left_over() {
        let start_of = |pid| (pid == 7).then_some(50);
        for (name, wanted) in [
            ("pgmeter-7-50", false),
            ("pgmeter-7-49", true),
            ("pgmeter-8-50", true),
            ("pgmeter-x-50", false),
            ("pgmeter-7", false),
            ("others", false),
        ] {
            assert_eq!(is_leftover(name, start_of), wanted, "{name}");
        }
    }
}
