//! Processes: who holds a file open, and who is who.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// So many users of a mount are named.
const NAMED_MAX: usize = 5;
/// A killed process is gone after so long.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// When a process was started, in ticks since the machine was; none when it is not there or only
/// its exit code is left.
///
/// Source: proc_pid_stat(5), fields 3 and 22.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(start)
}

/// Ends all processes that hold this file open, but for this one; returns how many.
pub(crate) fn end_holders(file: &Path) -> usize {
    let own = std::process::id();
    let is_holder = |pid: &u32| *pid != own && open_paths(*pid).iter().any(|path| path == file);
    let mut ended = BTreeSet::new();
    let start = Instant::now();
    // One that is just being started by another is found the next time.
    while start.elapsed() < GONE_WITHIN {
        let found: Vec<u32> = all().into_iter().filter(is_holder).collect();
        if found.is_empty() {
            break;
        }
        for pid in found {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                // One that has gone by itself is gone as well.
                let _ = kill_process(pid, Signal::KILL);
            }
            ended.insert(pid);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    ended.len()
}

/// Who uses something at or below a directory, in words; none when nobody seems to.
pub(crate) fn users_of(directory: &Path) -> Option<String> {
    let uses = |pid: &u32| {
        let paths = open_paths(*pid).into_iter().chain(own_places(*pid));
        paths.into_iter().any(|path| path.starts_with(directory))
    };
    let found: Vec<String> = all().into_iter().filter(uses).map(named).collect();
    if found.is_empty() {
        return None;
    }
    let more = match found.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = &found[..found.len().min(NAMED_MAX)];
    Some(format!("it is used by {}{more}", shown.join(", ")))
}

fn named(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("process {pid} ({})", workload::printable(name.trim()))
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Where a process is, and what it sees as the root.
fn own_places(pid: u32) -> impl Iterator<Item = PathBuf> {
    let links = ["cwd", "root", "exe"].map(|name| format!("/proc/{pid}/{name}"));
    links
        .into_iter()
        .filter_map(|link| fs::read_link(link).ok())
}

fn open_paths(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_was_started_and_no_other_has_its_ticks() {
        assert!(start_ticks(std::process::id()).is_some());
        assert_eq!(start_ticks(u32::MAX), None);
    }

    #[test]
    fn who_holds_a_file_is_ended_and_nobody_else() {
        let _turn = crate::TURN
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("held");
        fs::write(&path, "").unwrap();
        let sleeper = |stdin: Stdio| {
            Command::new("sleep")
                .arg("60")
                .stdin(stdin)
                .spawn()
                .unwrap()
        };
        let mut holder = sleeper(fs::File::open(&path).unwrap().into());
        let mut other = sleeper(Stdio::null());
        let users = users_of(directory.path()).unwrap();
        assert!(
            users.contains(&format!("process {} (sleep)", holder.id())),
            "{users}"
        );
        assert_eq!(end_holders(&path), 1);
        assert!(!holder.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(users_of(directory.path()), None);
    }
}
