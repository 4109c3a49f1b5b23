//! CPU time of child processes.

use std::mem::MaybeUninit;

/// CPU time of all children that have ended and were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChildrenTime {
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
}

impl ChildrenTime {
    /// The CPU time so far.
    ///
    /// The sum is exact to one microsecond per child. If the kernel accounts in ticks, it can only
    /// estimate how the time of a child shorter than a tick is split. The shell's `time` has the
    /// same limitation.
    ///
    /// Source: `getrusage(2)`, `RUSAGE_CHILDREN`.
    #[must_use]
    pub fn so_far() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills the structure, which has the size it expects; if it fails, zeros
        // are a valid structure as well.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
            usage.assume_init()
        };
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
        }
    }

    /// The time since an earlier reading.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

fn ns(time: libc::timeval) -> u64 {
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_usec) * 1000
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_cpu_time_of_a_child_counts_after_waiting_for_it() {
        let before = ChildrenTime::so_far();
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let mut child = Command::new("sh").args(["-c", work]).spawn().unwrap();
        child.wait().unwrap();
        let used = ChildrenTime::so_far().since(before);
        assert!(used.user_ns + used.system_ns > 1_000_000, "{used:?}");
    }
}
