//! Log-structured file systems: what their logs hold, and cleaning behind them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::bench::Built;
use crate::error::LabError;
use crate::tools;

/// Cleaning that has not ended by then is given up.
const CLEANED_WITHIN: Duration = Duration::from_secs(300);
/// How long f2fs's cleaner rests between two segments.
const URGENT_SLEEP_MS: u32 = 20;
/// When it has found nothing for so long, there is nothing to do.
const IDLE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The kernel's seconds may begin so much later than the clock's.
const TICK: Duration = Duration::from_millis(50);
/// How f2fs tells its cleanings apart. Source: `Documentation/ABI/testing/sysfs-fs-f2fs`,
/// `gc_segment_mode`.
const F2FS_MODES: u32 = 7;

/// The log of a mounted file system.
#[derive(Debug)]
pub struct Log {
    kind: Kind,
    device: PathBuf,
    /// A directory on it.
    directory: PathBuf,
    /// Where the kernel shows its figures.
    figures: PathBuf,
    has_cleaner: bool,
}

/// What a log holds, as its kernel tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSample {
    /// Segments that can be written.
    pub free_segments: u64,
    /// Segments that became free by cleaning since it was mounted, up to a constant.
    cleaned_segments: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nilfs2,
    F2fs,
}

impl LogSample {
    /// Segments that were cleaned since an earlier sample.
    #[must_use]
    pub fn cleaned_since(&self, earlier: &Self) -> u64 {
        let cleaned = self.cleaned_segments - earlier.cleaned_segments;
        u64::try_from(cleaned).unwrap_or(0)
    }
}

impl Log {
    /// The log of what is mounted; none where it has none, or its kernel tells nothing of it.
    #[must_use]
    pub fn of(built: &Built) -> Option<Self> {
        let device = built.device.clone()?;
        let mount = built.mount()?;
        let kind = match mount.file_system.as_str() {
            "nilfs2" => Kind::Nilfs2,
            "f2fs" => Kind::F2fs,
            _ => return None,
        };
        let figures = Path::new("/sys/fs").join(&mount.file_system);
        let figures = figures.join(device.file_name()?);
        let has = |option: &str| built.mount_options.split(',').any(|it| it == option);
        let log = Self {
            kind,
            device,
            directory: built.directory.clone(),
            figures,
            has_cleaner: !has("nogc") && !has("background_gc=off"),
        };
        log.sample().map(|_| log)
    }

    /// What it holds now.
    #[must_use]
    pub fn sample(&self) -> Option<LogSample> {
        match self.kind {
            Kind::Nilfs2 => {
                let free = self.figure("segments/clean_segments")?;
                // Each segment that is begun was free; what is free beyond that was cleaned.
                let begun = self.figure("segctor/current_seg_sequence")?;
                Some(LogSample {
                    free_segments: free,
                    cleaned_segments: signed(free) + signed(begun),
                })
            }
            Kind::F2fs => {
                let reclaimed: Option<u64> = (0..F2FS_MODES)
                    .map(|mode| {
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

    /// Lets the cleaner do all that there is to do, and waits for it; false where the file system
    /// was mounted without its cleaner.
    ///
    /// # Errors
    /// When the cleaner cannot be told so, or does not come to an end.
    pub fn clean(&self, is_stopped: impl Fn() -> bool) -> Result<bool, LabError> {
        if !self.has_cleaner {
            return Ok(false);
        }
        match self.kind {
            Kind::Nilfs2 => self.clean_nilfs2(is_stopped)?,
            Kind::F2fs => {
                self.set("gc_urgent_sleep_time", URGENT_SLEEP_MS)?;
                self.set("gc_urgent", 1)?;
                let cleaned = self.wait_until_idle(is_stopped);
                self.set("gc_urgent", 0)?;
                cleaned?;
            }
        }
        Ok(true)
    }

    /// All segments in which a block can be gained, protected by nothing, at full speed.
    fn clean_nilfs2(&self, is_stopped: impl Fn() -> bool) -> Result<(), LabError> {
        self.begin_second()?;
        let device = self.device.display().to_string();
        let words = ["-p", "0", "-m", "1", "-S", "32/0.01", device.as_str()];
        tools::run("nilfs-clean", &words.map(str::to_owned))?;
        self.wait(is_stopped, || {
            let status = ["-l", device.as_str()].map(str::to_owned);
            Ok(tools::run("nilfs-clean", &status)?.contains("idle"))
        })
    }

    /// Has something written in a second that nothing was written in before: the cleaner takes only
    /// what is older, in whole seconds, than what was written last, so that nothing of a workload
    /// that took no longer would be cleaned.
    ///
    /// Source: nilfs-utils 2.2, `sbin/cleanerd/cleanerd.c`, `nilfs_cleanerd_select_segments`.
    fn begin_second(&self) -> Result<(), LabError> {
        let failed = |error| LabError::system("write to", &self.directory, error);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let into_second = Duration::from_nanos(now.unwrap_or_default().subsec_nanos().into());
        std::thread::sleep(Duration::from_secs(1) + TICK - into_second);
        let directory = File::open(&self.directory).map_err(failed)?;
        directory.set_modified(SystemTime::now()).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))
    }

    /// Ends a cleaner that is a program, which would hold up unmounting.
    pub fn end_cleaner(&self) {
        if self.kind == Kind::Nilfs2 && self.has_cleaner {
            let quit = ["-q".to_owned(), self.device.display().to_string()];
            // One that is not there needs no end.
            let _ = tools::run("nilfs-clean", &quit);
        }
    }

    fn wait_until_idle(&self, is_stopped: impl Fn() -> bool) -> Result<(), LabError> {
        let mut last = (self.sample(), Instant::now());
        self.wait(is_stopped, || {
            let now = self.sample();
            if now != last.0 {
                last = (now, Instant::now());
            }
            Ok(last.1.elapsed() >= IDLE)
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
            if start.elapsed() > CLEANED_WITHIN {
                return Err(LabError::NotCleaned {
                    device: self.device.clone(),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn figure(&self, name: &str) -> Option<u64> {
        let text = fs::read_to_string(self.figures.join(name)).ok()?;
        text.trim().parse().ok()
    }

    fn set(&self, name: &str, value: u32) -> Result<(), LabError> {
        let path = self.figures.join(name);
        let written = fs::write(&path, value.to_string());
        written.map_err(|error| LabError::system("write", &path, error))
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Tells the device which blocks are free; how many bytes that were.
///
/// # Errors
/// When the file system or its device cannot do it.
pub(crate) fn trim(point: &Path) -> Result<u64, LabError> {
    let arguments = ["--verbose".to_owned(), point.display().to_string()];
    let said = tools::run("fstrim", &arguments)?;
    trimmed_bytes(&said).ok_or_else(|| LabError::Failed {
        command: "fstrim --verbose".to_owned(),
        status: "its output was not understood".to_owned(),
        output: said,
    })
}

/// The bytes in `fstrim`'s words, such as `/mnt: 1 GiB (1073741824 bytes) trimmed`.
fn trimmed_bytes(said: &str) -> Option<u64> {
    let (_, rest) = said.rsplit_once('(')?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_fstrim_are_those_in_parentheses() {
        let said = "/mnt (a): 984 MiB (1031798784 bytes) trimmed\n";
        assert_eq!(trimmed_bytes(said), Some(1_031_798_784));
        assert_eq!(trimmed_bytes("nothing"), None);
    }

    #[test]
    fn what_is_free_beyond_what_was_begun_was_cleaned() {
        let sample = |free_segments: u64, begun: i64| LogSample {
            free_segments,
            cleaned_segments: signed(free_segments) + begun,
        };
        let before = sample(100, 7);
        assert_eq!(sample(90, 17).cleaned_since(&before), 0);
        assert_eq!(sample(95, 17).cleaned_since(&before), 5);
    }
}
