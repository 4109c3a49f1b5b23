//! Control groups: a device of known speed, part of the processors or of the memory. Needs root.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::FixtureError;

/// How fast a device may be, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Requests a second.
    Iops(u64),
    /// Bytes per second.
    BytesPerSecond(u64),
}

/// A control group with a limit; removed when dropped.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
}

impl Throttle {
    /// Limits the device `number` (`major:minor`) for the commands that [`Throttle::wrap`] makes.
    ///
    /// # Errors
    /// `Unavailable` where no block controller is mounted or it cannot be written.
    pub fn new(number: &str, limit: Limit) -> Result<Throttle, FixtureError> {
        let (throttle, is_unified) = Throttle::of("blkio", "io")?;
        match is_unified {
            true => throttle.limit_v2(number, limit)?,
            false => throttle.limit_v1(number, limit)?,
        }
        Ok(throttle)
    }

    /// Limits the processors that the commands use together, on average.
    ///
    /// # Errors
    /// `Unavailable` where no such controller is mounted or it cannot be written.
    pub fn of_processors(percent: u64) -> Result<Throttle, FixtureError> {
        let (throttle, is_unified) = Throttle::of("cpu", "cpu")?;
        let quota_us = percent * 1000;
        match is_unified {
            true => throttle.write("cpu.max", &format!("{quota_us} 100000"))?,
            false => throttle.write("cpu.cfs_quota_us", &quota_us.to_string())?,
        }
        Ok(throttle)
    }

    /// Limits the memory of the commands, with what they have in the page cache.
    ///
    /// # Errors
    /// `Unavailable` where no such controller is mounted or it cannot be written.
    pub fn of_memory(bytes: u64) -> Result<Throttle, FixtureError> {
        let (throttle, is_unified) = Throttle::of("memory", "memory")?;
        match is_unified {
            true => throttle.write("memory.max", &bytes.to_string())?,
            false => throttle.write("memory.limit_in_bytes", &bytes.to_string())?,
        }
        Ok(throttle)
    }

    /// A new group of a controller, by its names in both versions, and whether it is of the second.
    fn of(first: &str, second: &str) -> Result<(Throttle, bool), FixtureError> {
        let group = |parent: &Path| parent.join(format!("pgmeter-{}", unique()));
        let parent = Path::new("/sys/fs/cgroup").join(first);
        if parent.join("cgroup.procs").exists() {
            return Ok((Throttle::make(group(&parent))?, false));
        }
        for parent in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new) {
            let controllers = std::fs::read_to_string(parent.join("cgroup.controllers"));
            if controllers.is_ok_and(|list| list.split_whitespace().any(|name| name == second)) {
                // Already enabled is fine; if it stays disabled, writing a limit says so.
                let _ = std::fs::write(parent.join("cgroup.subtree_control"), format!("+{second}"));
                return Ok((Throttle::make(group(parent))?, true));
            }
        }
        Err(FixtureError::Unavailable(format!(
            "no controller `{first}` of control groups is mounted"
        )))
    }

    fn make(group: PathBuf) -> Result<Throttle, FixtureError> {
        std::fs::create_dir(&group).map_err(|error| {
            FixtureError::Unavailable(format!("cannot make `{}`: {error}", group.display()))
        })?;
        Ok(Throttle { group })
    }

    fn limit_v1(&self, number: &str, limit: Limit) -> Result<(), FixtureError> {
        let (unit, rate) = match limit {
            Limit::Iops(rate) => ("iops", rate),
            Limit::BytesPerSecond(rate) => ("bps", rate),
        };
        for direction in ["read", "write"] {
            let key = format!("blkio.throttle.{direction}_{unit}_device");
            self.write(&key, &format!("{number} {rate}"))?;
        }
        Ok(())
    }

    fn limit_v2(&self, number: &str, limit: Limit) -> Result<(), FixtureError> {
        let line = match limit {
            Limit::Iops(rate) => format!("{number} riops={rate} wiops={rate}"),
            Limit::BytesPerSecond(rate) => format!("{number} rbps={rate} wbps={rate}"),
        };
        self.write("io.max", &line)
    }

    fn write(&self, key: &str, value: &str) -> Result<(), FixtureError> {
        let path = self.group.join(key);
        std::fs::write(&path, value).map_err(FixtureError::file(&path))
    }

    /// The same command with the same arguments, environment and directory, inside the limit.
    pub fn wrap(&self, command: &Command) -> Command {
        let mut wrapped = Command::new("sh");
        wrapped.arg("-c").arg("echo $$ > \"$0\" && exec \"$@\"");
        wrapped.arg(self.group.join("cgroup.procs"));
        wrapped.arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => wrapped.env(key, value),
                None => wrapped.env_remove(key),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            wrapped.current_dir(directory);
        }
        wrapped
    }
}

/// A name no other group has: the process, and the address of nothing twice in one process.
fn unique() -> String {
    let time = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{}-{}", std::process::id(), time.as_nanos())
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // A group stays busy until the last of its processes has been reaped.
        for _ in 0..50 {
            if std::fs::remove_dir(&self.group).is_ok() || !self.group.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        eprintln!("warning: `{}` is still in use", self.group.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoopDevice, need};
    use std::time::Instant;

    #[test]
    fn a_throttled_device_is_no_faster_than_its_limit() {
        let device = need!(LoopDevice::new(8 << 20));
        let number = device.number().unwrap();
        let throttle = need!(Throttle::new(&number, Limit::BytesPerSecond(4 << 20)));
        let mut read = Command::new("dd");
        read.arg(format!("if={}", device.path().display()));
        read.args([
            "of=/dev/null",
            "bs=64k",
            "count=64",
            "iflag=direct",
            "status=none",
        ]);
        let start = Instant::now();
        assert!(throttle.wrap(&read).status().unwrap().success());
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds >= 0.8, "4 MiB at 4 MiB/s took {seconds} s");
    }

    #[test]
    fn a_dropped_throttle_leaves_no_group() {
        let device = need!(LoopDevice::new(1 << 20));
        let number = device.number().unwrap();
        let throttle = need!(Throttle::new(&number, Limit::Iops(100)));
        let group = throttle.group.clone();
        drop(throttle);
        assert!(!group.exists());
    }
}
