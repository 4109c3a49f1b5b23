//! Identifies and kills processes, and finds those that hold a file open.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use results::ProcessState;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::step::JournalStep;

/// Maximum number of users of a mount that are named.
const LISTED_MAX: usize = 5;
/// Maximum time until a killed process is gone.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Start of a process in clock ticks since boot; `None` if it does not exist or is a zombie.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    ProcessState::of(pid).map(|state| state.started_ticks)
}

/// Kills the processes in a journal and their descendants: the processes in the same process group
/// that share the lab's lock. Returns their number; this process is never among them.
pub(crate) fn kill_journaled(steps: &[JournalStep], lock: &Path) -> usize {
    let mut killed = BTreeSet::new();
    let start = Instant::now();
    // Repeated, to find processes that were just being started.
    while start.elapsed() < EXIT_TIMEOUT {
        let found: Vec<(u32, u64)> = steps
            .iter()
            .flat_map(|step| match step {
                JournalStep::Process {
                    pid, start_ticks, ..
                } => surviving_processes(*pid, *start_ticks, lock),
                _ => Vec::new(),
            })
            .collect();
        if found.is_empty() {
            break;
        }
        for (pid, start_ticks) in found {
            kill(pid, start_ticks);
            killed.insert(pid);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.len()
}

/// Living processes that belong to a process in the journal, with their start times.
fn surviving_processes(pid: u32, noted_ticks: u64, lock: &Path) -> Vec<(u32, u64)> {
    let own = std::process::id();
    let leader = start_ticks(pid);
    let mut found: Vec<(u32, u64)> = Vec::new();
    if leader == Some(noted_ticks) && pid != own {
        found.push((pid, noted_ticks));
    }
    // The process ID was reused, and so was the group ID.
    if leader.is_some_and(|ticks| ticks != noted_ticks) {
        return found;
    }
    let members = all().into_iter().filter(|&it| it != pid && it != own);
    found.extend(members.filter_map(|it| {
        let state = ProcessState::of(it)?;
        // The leader of the group may have ended; its group ID stays with its children.
        let is_of_it = state.group == pid && state.started_ticks >= noted_ticks;
        (is_of_it && shares(it, lock)).then_some((it, state.started_ticks))
    }));
    found
}

/// Kills a process unless its process ID was reused.
fn kill(pid: u32, noted_ticks: u64) {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    // Opened before the start time is compared: this descriptor cannot refer to a later process.
    let process = pidfd_open(number, PidfdFlags::empty());
    if start_ticks(pid) != Some(noted_ticks) {
        return;
    }
    // Fails if the process has already ended, which is fine.
    let _ = match process {
        Ok(process) => pidfd_send_signal(process, Signal::KILL),
        // Kernels before 5.3.
        Err(_) => kill_process(number, Signal::KILL),
    };
}

/// Other processes that share a lock held by this one, with their start times. They have inherited
/// it; a process that opens the file itself does not hold the lock.
pub(crate) fn sharers(lock: &Path) -> Vec<(u32, u64)> {
    let own = std::process::id();
    let others = all().into_iter().filter(|&pid| pid != own);
    others
        .filter(|&pid| shares(pid, lock))
        .filter_map(|pid| Some((pid, start_ticks(pid)?)))
        .collect()
}

/// `true` if a process has the file open with a lock on it.
///
/// Source: proc_pid_fdinfo(5), `lock`: locks that this open file holds, as `flock` shares them.
fn shares(pid: u32, lock: &Path) -> bool {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"));
    let mut entries = entries.into_iter().flatten().flatten();
    entries.any(|entry| {
        let number = entry.file_name();
        let info = || {
            let path = Path::new("/proc").join(pid.to_string()).join("fdinfo");
            fs::read_to_string(path.join(&number)).unwrap_or_default()
        };
        fs::read_link(entry.path()).is_ok_and(|path| path == lock)
            && info().lines().any(|line| line.starts_with("lock:"))
    })
}

/// Description of the processes that use anything at or below a directory; `None` if none is found.
pub(crate) fn users_of(directory: &Path) -> Option<String> {
    let uses = |pid: &u32| {
        let paths = open_paths(*pid).into_iter().chain(base_paths(*pid));
        paths.into_iter().any(|path| path.starts_with(directory))
    };
    let found: Vec<String> = all().into_iter().filter(uses).map(named).collect();
    if found.is_empty() {
        return None;
    }
    let more = match found.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = &found[..found.len().min(LISTED_MAX)];
    Some(format!("it is used by {}{more}", shown.join(", ")))
}

fn named(pid: u32) -> String {
    format!("process {pid} ({})", name(pid))
}

pub(crate) fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    plan::printable(name.trim()).to_string()
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Working directory, root directory and executable of a process.
fn base_paths(pid: u32) -> impl Iterator<Item = PathBuf> {
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
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    #[test]
    fn start_ticks_are_known_only_for_existing_processes() {
        assert!(start_ticks(std::process::id()).is_some());
        assert_eq!(start_ticks(u32::MAX), None);
    }

    fn sleeper(stdin: Stdio, group: i32) -> Child {
        let mut command = Command::new("sleep");
        command.arg("60").stdin(stdin).process_group(group);
        command.spawn().unwrap()
    }

    fn noted(child: &Child) -> JournalStep {
        JournalStep::Process {
            pid: child.id(),
            start_ticks: start_ticks(child.id()).unwrap(),
            program: "sleep".to_owned(),
        }
    }

    #[test]
    fn only_noted_processes_and_their_children_are_killed() {
        let _turn = crate::TEST_LOCK
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        fs::write(&path, "").unwrap();
        let opened = || fs::File::open(&path).unwrap();
        let lock = opened();
        lock.lock().unwrap();
        let shared = || Stdio::from(lock.try_clone().unwrap());
        let mut process = sleeper(shared(), 0);
        let group = i32::try_from(process.id()).unwrap();
        // A child of the noted process, and a process that only reads the lock file.
        let mut child = sleeper(shared(), group);
        let mut looker = sleeper(opened().into(), group);
        // Noted with the start time of an earlier process with the same number.
        let mut reused = sleeper(shared(), 0);
        let mut stranger = sleeper(shared(), 0);
        let users = users_of(directory.path()).unwrap();
        assert!(
            users.contains(&format!("process {} (sleep)", process.id())),
            "{users}"
        );
        let old = match noted(&reused) {
            JournalStep::Process {
                pid,
                start_ticks,
                program,
            } => JournalStep::Process {
                pid,
                start_ticks: start_ticks - 1,
                program,
            },
            other => other,
        };
        assert_eq!(kill_journaled(&[noted(&process), old], &path), 2);
        for ended in [&mut process, &mut child] {
            assert!(!ended.wait().unwrap().success());
        }
        for other in [&mut looker, &mut reused, &mut stranger] {
            assert!(other.try_wait().unwrap().is_none());
            other.kill().unwrap();
            other.wait().unwrap();
        }
    }

    #[test]
    fn inheriting_a_lock_shares_it_but_opening_its_file_does_not() {
        let _turn = crate::TEST_LOCK
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        fs::write(&path, "").unwrap();
        let lock = fs::File::open(&path).unwrap();
        lock.lock().unwrap();
        let mut looker = sleeper(fs::File::open(&path).unwrap().into(), 0);
        assert_eq!(sharers(&path), []);
        let mut sharer = sleeper(lock.try_clone().unwrap().into(), 0);
        let ticks = start_ticks(sharer.id()).unwrap();
        assert_eq!(sharers(&path), [(sharer.id(), ticks)]);
        for child in [&mut looker, &mut sharer] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
