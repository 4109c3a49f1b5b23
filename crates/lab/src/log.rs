//! Log-structured file systems: state of the log, and cleaning.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::bench::BuiltFileSystem;
use crate::error::LabError;
use crate::tools;

/// Maximum duration of cleaning.
const CLEANING_TIMEOUT: Duration = Duration::from_secs(300);
/// Pause of f2fs's cleaner between two segments.
const URGENT_SLEEP_MS: u32 = 20;
/// Cleaning is complete when the cleaner has found nothing for this long.
const IDLE_TIME: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum delay of the kernel's second, compared with the clock.
const TICK: Duration = Duration::from_millis(50);
/// Number of cleaning modes of f2fs. Source: `Documentation/ABI/testing/sysfs-fs-f2fs`,
/// `gc_segment_mode`.
const F2FS_MODES: u32 = 7;

/// The log of a mounted file system.
#[derive(Debug)]
pub struct FileSystemLog {
    kind: LogFileSystem,
    device: PathBuf,
    /// A directory of the file system.
    directory: PathBuf,
    /// Directory of the kernel's counters.
    counters: PathBuf,
    has_cleaner: bool,
}

/// State of a log, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSample {
    /// Number of free segments.
    pub free_segments: u64,
    /// Number of segments freed by cleaning since the mount, plus a constant.
    cleaned_segments: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogFileSystem {
    Nilfs2,
    F2fs,
}

impl LogSample {
    /// Number of segments cleaned since an earlier sample.
    #[must_use]
    pub fn cleaned_since(&self, earlier: &Self) -> u64 {
        let cleaned = self.cleaned_segments - earlier.cleaned_segments;
        u64::try_from(cleaned).unwrap_or(0)
    }
}

impl FileSystemLog {
    /// The log of a mounted file system; `None` if it has no log, or the kernel has no counters for
    /// it.
    #[must_use]
    pub fn of(built: &BuiltFileSystem) -> Option<Self> {
        let device = built.device.clone()?;
        let mount = built.mount()?;
        let kind = match mount.file_system.as_str() {
            "nilfs2" => LogFileSystem::Nilfs2,
            "f2fs" => LogFileSystem::F2fs,
            _ => return None,
        };
        let figures = Path::new("/sys/fs").join(&mount.file_system);
        let figures = figures.join(device.file_name()?);
        let has = |option: &str| built.mount_options.split(',').any(|it| it == option);
        let log = Self {
            kind,
            device,
            directory: built.directory.clone(),
            counters: figures,
            has_cleaner: !has("nogc") && !has("background_gc=off"),
        };
        // A kernel without these counters is detected here, before a workload runs.
        log.sample().map(|_| log)
    }

    /// The current state of the log.
    #[must_use]
    pub fn sample(&self) -> Option<LogSample> {
        match self.kind {
            LogFileSystem::Nilfs2 => {
                let free = self.figure("segments/clean_segments")?;
                // Each segment started was free before; further free segments come from cleaning.
                let begun = self.figure("segctor/current_seg_sequence")?;
                Some(LogSample {
                    free_segments: free,
                    cleaned_segments: signed(free) + signed(begun),
                })
            }
            LogFileSystem::F2fs => {
                let reclaimed: Option<u64> = (0..F2FS_MODES)
                    .map(|mode| {
                        // The kernel has one file for all modes and shows the count of the selected
                        // one.
                        self.set("gc_segment_mode", mode).ok()?;
                        self.figure("gc_reclaimed_segments")
                    })
                    .sum();
                Some(LogSample {
                    free_segments: self.figure("free_segments")?,
                    cleaned_segments: signed(reclaimed?),
                })
            }
        }
    }

    /// Runs the cleaner until nothing is left to clean. `false` if the file system was mounted
    /// without its cleaner.
    ///
    /// # Errors
    /// If the cleaner cannot be controlled, or does not finish.
    pub fn clean(&self, is_stopped: impl Fn() -> bool) -> Result<bool, LabError> {
        if !self.has_cleaner {
            return Ok(false);
        }
        match self.kind {
            LogFileSystem::Nilfs2 => self.clean_nilfs2(is_stopped)?,
            LogFileSystem::F2fs => {
                self.set("gc_urgent_sleep_time", URGENT_SLEEP_MS)?;
                self.set("gc_urgent", 1)?;
                let cleaned = self.wait_until_idle(is_stopped);
                // Also if waiting failed, because the cleaner would compete with whatever comes
                // next.
                self.set("gc_urgent", 0)?;
                cleaned?;
            }
        }
        Ok(true)
    }

    /// Cleans all segments that can gain a block, without a protection period, at full speed.
    fn clean_nilfs2(&self, is_stopped: impl Fn() -> bool) -> Result<(), LabError> {
        self.write_in_new_second()?;
        let device = self.device.display().to_string();
        let words = ["-p", "0", "-m", "1", "-S", "32/0.01", device.as_str()];
        tools::run("nilfs-clean", &words.map(str::to_owned))?;
        self.wait(is_stopped, || {
            let status = ["-l", device.as_str()].map(str::to_owned);
            Ok(tools::run("nilfs-clean", &status)?.contains("idle"))
        })
    }

    /// Writes in a second in which nothing was written before. The cleaner takes only data that is
    /// older than the last write, in whole seconds. Without this, it would skip all data of a
    /// workload that took less than a second.
    ///
    /// Source: nilfs-utils 2.2, `sbin/cleanerd/cleanerd.c`, `nilfs_cleanerd_select_segments`.
    fn write_in_new_second(&self) -> Result<(), LabError> {
        let failed = |error| LabError::system("write to", &self.directory, error);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let into_second = Duration::from_nanos(now.unwrap_or_default().subsec_nanos().into());
        // Until just after the next full second, plus the delay of the kernel's clock.
        std::thread::sleep(Duration::from_secs(1) + TICK - into_second);
        let directory = File::open(&self.directory).map_err(failed)?;
        directory.set_modified(SystemTime::now()).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))
    }

    /// Stops a cleaner program, which would prevent the unmount.
    pub fn stop_cleaner(&self) {
        if self.kind == LogFileSystem::Nilfs2 && self.has_cleaner {
            let quit = ["-q".to_owned(), self.device.display().to_string()];
            // Fails if the cleaner is not running.
            let _ = tools::run("nilfs-clean", &quit);
        }
    }

    fn wait_until_idle(&self, is_stopped: impl Fn() -> bool) -> Result<(), LabError> {
        let mut last = (self.sample(), Instant::now());
        self.wait(is_stopped, || {
            let now = self.sample();
            // f2fs does not report that its cleaner found nothing; only counters at rest show it.
            if now != last.0 {
                last = (now, Instant::now());
            }
            Ok(last.1.elapsed() >= IDLE_TIME)
        })
    }

    fn wait(
        &self,
        is_stopped: impl Fn() -> bool,
        mut is_done: impl FnMut() -> Result<bool, LabError>,
    ) -> Result<(), LabError> {
        let start = Instant::now();
        while !is_stopped() {
            if is_done()? {
                return Ok(());
            }
            if start.elapsed() > CLEANING_TIMEOUT {
                return Err(LabError::NotCleaned {
                    device: self.device.clone(),
                });
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn figure(&self, name: &str) -> Option<u64> {
        let text = fs::read_to_string(self.counters.join(name)).ok()?;
        text.trim().parse().ok()
    }

    fn set(&self, name: &str, value: u32) -> Result<(), LabError> {
        let path = self.counters.join(name);
        let written = fs::write(&path, value.to_string());
        written.map_err(|error| LabError::system("write", &path, error))
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Discards the free blocks of the device; returns their size in bytes.
///
/// # Errors
/// If the file system or its device does not support it.
pub(crate) fn trim(point: &Path) -> Result<u64, LabError> {
    let arguments = ["--verbose".to_owned(), point.display().to_string()];
    let output = tools::run("fstrim", &arguments)?;
    trimmed_bytes(&output).ok_or_else(|| LabError::Failed {
        command: "fstrim --verbose".to_owned(),
        status: "its output was not understood".to_owned(),
        output,
    })
}

/// Parses the output of `fstrim`, such as `/mnt: 1 GiB (1073741824 bytes) trimmed`.
fn trimmed_bytes(output: &str) -> Option<u64> {
    let (_, rest) = output.rsplit_once('(')?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fstrim_bytes_are_read_from_the_parentheses() {
        let output = "/mnt (a): 984 MiB (1031798784 bytes) trimmed\n";
        assert_eq!(trimmed_bytes(output), Some(1_031_798_784));
        assert_eq!(trimmed_bytes("nothing"), None);
    }

    #[test]
    fn segments_freed_beyond_those_begun_were_cleaned() {
        let sample = |free_segments: u64, begun: i64| LogSample {
            free_segments,
            cleaned_segments: signed(free_segments) + begun,
        };
        let before = sample(100, 7);
        assert_eq!(sample(90, 17).cleaned_since(&before), 0);
        assert_eq!(sample(95, 17).cleaned_since(&before), 5);
    }
}
