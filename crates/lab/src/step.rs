//! What a lab makes, each noted before it is made.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A zram device that appears this long after it was asked for is not the one.
const APPEARS_WITHIN: Duration = Duration::from_secs(5);

/// One step; the journal has it on the device before the step is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub(crate) enum Step {
    /// The lab begins.
    Begin {
        /// The process.
        pid: u32,
        /// When it was started, in the kernel's ticks, which tells it from a later one.
        start_ticks: u64,
        /// Whether it made the directory in which its own one is.
        #[serde(default)]
        has_made_place: bool,
    },
    /// The image is made.
    Image {
        /// Its size.
        size_bytes: u64,
    },
    /// A loop device is put on the image.
    Loop,
    /// A zram device is asked for.
    ZramWanted {
        /// Those that were there before.
        existing: Vec<u32>,
        /// When.
        at: SystemTime,
    },
    /// The zram device that was given.
    Zram {
        /// Its number.
        number: u32,
        /// When its node appeared, which tells it from a later one of that number.
        made_at: Option<SystemTime>,
    },
    /// A device that the user named is written.
    Device {
        /// Its path.
        path: PathBuf,
    },
    /// A file system is made.
    Mkfs {
        /// The command line.
        command: String,
    },
    /// A guest is started.
    Guest,
    /// A program is there, which does nothing before this is noted, or which a program that was
    /// noted has left at work.
    Process {
        /// The process.
        pid: u32,
        /// When it was started, in the kernel's ticks, which tells it from a later one.
        start_ticks: u64,
        /// The program, for people.
        program: String,
    },
    /// It is mounted.
    Mount {
        /// Where.
        point: PathBuf,
    },
}

/// Whether a device that appeared at `made_at` is the one asked for at `at`.
pub(crate) fn appeared_for(at: SystemTime, made_at: SystemTime) -> bool {
    // Nodes have the kernel's coarse time, which may lie a tick back.
    let from = at - Duration::from_millis(20);
    made_at
        .duration_since(from)
        .is_ok_and(|waited| waited < APPEARS_WITHIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back_as_it_was_written() {
        for step in [
            Step::Begin {
                pid: 1,
                start_ticks: 2,
                has_made_place: true,
            },
            Step::Loop,
            Step::Process {
                pid: 4,
                start_ticks: 5,
                program: "mkfs".to_owned(),
            },
            Step::Zram {
                number: 3,
                made_at: Some(SystemTime::now()),
            },
            Step::Mount {
                point: "/x y".into(),
            },
        ] {
            let text = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<Step>(&text).unwrap(), step);
        }
    }

    #[test]
    fn only_a_device_that_appears_soon_after_is_the_one() {
        let now = SystemTime::now();
        assert!(appeared_for(now, now + Duration::from_millis(30)));
        assert!(!appeared_for(now, now - Duration::from_secs(1)));
        assert!(!appeared_for(now, now + Duration::from_secs(60)));
    }
}
