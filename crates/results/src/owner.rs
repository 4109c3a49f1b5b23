//! Identifies the process that owns a run or a target, and whether it is still running.

use std::fs;

use serde::{Deserialize, Serialize};

/// A process, distinguishable from later ones with the same PID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessIdentity {
    /// Process ID.
    pub pid: u32,
    /// Start of the process, in clock ticks since boot.
    pub started_ticks: u64,
    /// Boot ID: the kernel's random number for this boot.
    pub boot: String,
    /// Host name, because several hosts may share a file system.
    pub host: String,
    /// PID namespace of `pid`; none if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<u64>,
}

impl ProcessIdentity {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started_ticks: started_ticks(pid).unwrap_or(0),
            boot: boot(),
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            pid_namespace: pid_namespace(),
        }
    }

    /// The running process with this PID; `None` if there is none.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let started_ticks = started_ticks(pid)?;
        Some(Self {
            pid,
            started_ticks,
            ..Self::current()
        })
    }

    /// `true` if the process may still be running, as far as this machine can tell.
    #[must_use]
    pub fn may_run(&self) -> bool {
        let current = Self::current();
        if self.boot != current.boot {
            // A process of an earlier boot of this machine is gone. Other machines cannot be
            // checked.
            return self.host != current.host;
        }
        // In another PID namespace, the PID cannot be checked.
        !self.shares_pids() || started_ticks(self.pid) == Some(self.started_ticks)
    }

    /// `true` if `pid` refers to the same process here.
    #[must_use]
    pub fn shares_pids(&self) -> bool {
        let current = Self::current();
        let is_other = self.pid_namespace.is_some() && self.pid_namespace != current.pid_namespace;
        self.boot == current.boot && !is_other
    }

    /// `true` if it is the current process.
    #[must_use]
    pub fn is_this_process(&self) -> bool {
        *self == Self::current()
    }
}

/// Source: pid_namespaces(7): the inode number distinguishes namespaces within one boot.
fn pid_namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

fn boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// State of a running process, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessState {
    /// ID of its process group.
    pub group: u32,
    /// Start of the process, in clock ticks since boot.
    pub started_ticks: u64,
}

impl ProcessState {
    /// The state of the process with this PID; `None` if it is gone or a zombie.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        // Bytes, not text, because a program can give itself any name (PR_SET_NAME, prctl(2)).
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        // The name in parentheses may contain anything, so fields are counted after the last one.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        // A zombie keeps its entry until its parent waits for it, but holds no files any more.
        if matches!(state, "Z" | "X") {
            return None;
        }
        // Source: proc_pid_stat(5): fields 5 and 22; the state, already taken, is field 3.
        Some(Self {
            group: fields.nth(1)?.parse().ok()?,
            started_ticks: fields.nth(16)?.parse().ok()?,
        })
    }
}

/// Start of a process, in clock ticks since boot; `None` if it is gone or a zombie.
fn started_ticks(pid: u32) -> Option<u64> {
    ProcessState::of(pid).map(|state| state.started_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_process_is_running_and_recognized() {
        let owner = ProcessIdentity::current();
        assert!(owner.started_ticks > 0);
        assert!(owner.may_run() && owner.is_this_process());
        assert_eq!(ProcessIdentity::of(owner.pid), Some(owner));
        assert_eq!(ProcessIdentity::of(u32::MAX), None);
    }

    #[test]
    fn the_state_of_the_current_process_has_its_group() {
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let state = ProcessState::of(std::process::id());
        assert_eq!(state.map(|it| it.group), u32::try_from(group).ok());
    }

    #[test]
    fn a_process_whose_pid_was_reused_is_not_running() {
        let owner = ProcessIdentity {
            started_ticks: 1,
            ..ProcessIdentity::current()
        };
        assert!(!owner.may_run());
    }

    #[test]
    fn a_process_of_another_container_may_be_running() {
        let remote = ProcessIdentity {
            pid_namespace: Some(1),
            started_ticks: 1,
            ..ProcessIdentity::current()
        };
        assert!(remote.may_run() && !remote.shares_pids());
        let unknown = ProcessIdentity {
            pid_namespace: None,
            ..remote
        };
        assert!(!unknown.may_run() && unknown.shares_pids());
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_gone_except_on_another_host() {
        let earlier = ProcessIdentity {
            boot: "x".to_owned(),
            ..ProcessIdentity::current()
        };
        assert!(!earlier.may_run());
        assert!(
            ProcessIdentity {
                host: "elsewhere.example".to_owned(),
                ..earlier
            }
            .may_run()
        );
    }
}
