//! Which process makes a run or uses a target, and whether it still runs.

use std::fs;

use serde::{Deserialize, Serialize};

/// A process, told apart from later ones with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// When it started, in clock ticks since the boot.
    pub started_ticks: u64,
    /// The kernel's random number of the boot.
    pub boot: String,
    /// The machine's name, because a file system may be shared.
    pub host: String,
    /// In which namespace the number is one; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<u64>,
}

impl Owner {
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

    /// A process that has its number here; none when there is none that runs.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let started_ticks = started_ticks(pid)?;
        Some(Self {
            pid,
            started_ticks,
            ..Self::current()
        })
    }

    /// Whether the process may still run, as far as this machine can tell.
    #[must_use]
    pub fn may_run(&self) -> bool {
        let here = Self::current();
        if self.boot != here.boot {
            // Another boot of this machine is over; another machine cannot be asked.
            return self.host != here.host;
        }
        // Where numbers mean other processes, nobody can be asked.
        !self.shares_numbers() || started_ticks(self.pid) == Some(self.started_ticks)
    }

    /// Whether its number means the same process here.
    #[must_use]
    pub fn shares_numbers(&self) -> bool {
        let here = Self::current();
        let is_other = self.pid_namespace.is_some() && self.pid_namespace != here.pid_namespace;
        self.boot == here.boot && !is_other
    }

    /// Whether it is the process that asks.
    #[must_use]
    pub fn is_this_process(&self) -> bool {
        *self == Self::current()
    }
}

/// Source: pid_namespaces(7): the inode tells namespaces of one boot apart.
fn pid_namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

fn boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// The start of a process; none when it is gone or a zombie.
fn started_ticks(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name in parentheses may hold anything, so count from behind it.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_is_itself() {
        let owner = Owner::current();
        assert!(owner.started_ticks > 0);
        assert!(owner.may_run() && owner.is_this_process());
        assert_eq!(Owner::of(owner.pid), Some(owner));
        assert_eq!(Owner::of(u32::MAX), None);
    }

    #[test]
    fn a_process_that_ended_does_not_run_even_if_its_number_is_taken() {
        let owner = Owner {
            started_ticks: 1,
            ..Owner::current()
        };
        assert!(!owner.may_run());
    }

    #[test]
    fn a_process_of_another_container_may_run_whatever_has_its_number_here() {
        let elsewhere = Owner {
            pid_namespace: Some(1),
            started_ticks: 1,
            ..Owner::current()
        };
        assert!(elsewhere.may_run() && !elsewhere.shares_numbers());
        let unknown = Owner {
            pid_namespace: None,
            ..elsewhere
        };
        assert!(!unknown.may_run() && unknown.shares_numbers());
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_gone_unless_it_was_on_another_machine() {
        let earlier = Owner {
            boot: "x".to_owned(),
            ..Owner::current()
        };
        assert!(!earlier.may_run());
        assert!(
            Owner {
                host: "elsewhere.example".to_owned(),
                ..earlier
            }
            .may_run()
        );
    }
}
