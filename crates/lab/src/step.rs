//! Steps of a lab, each written to the journal before it is done.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Maximum time until a requested zram device appears; a later one belongs to another process.
const APPEAR_TIMEOUT: Duration = Duration::from_secs(5);

/// One step. The journal has it on the device before the step is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub(crate) enum JournalStep {
    /// The lab begins.
    Begin {
        /// Process ID of the lab.
        pid: u32,
        /// Start of the process in clock ticks, to detect a reused process ID.
        start_ticks: u64,
        /// `true` if the lab created the directory that contains its own one.
        #[serde(default)]
        has_made_place: bool,
    },
    /// The image is created.
    Image {
        /// Size of the image.
        size_bytes: u64,
    },
    /// A loop device is attached to the image.
    Loop,
    /// A zram device is requested.
    ZramWanted {
        /// Numbers of the zram devices that existed before.
        existing: Vec<u32>,
        /// Time of the request.
        at: SystemTime,
    },
    /// A zram device was created.
    Zram {
        /// Number of the device.
        number: u32,
        /// When its device node was created, to detect a reused number.
        made_at: Option<SystemTime>,
    },
    /// A device that the user named is written.
    Device {
        /// Path of the device.
        path: PathBuf,
    },
    /// A file system is created.
    Mkfs {
        /// The command line.
        command: String,
    },
    /// A guest is started.
    Guest,
    /// A process exists. It does nothing before this is written, or a process in the journal has
    /// left it running.
    Process {
        /// Process ID.
        pid: u32,
        /// Start of the process in clock ticks, to detect a reused process ID.
        start_ticks: u64,
        /// Name of the program.
        program: String,
    },
    /// The file system is mounted.
    Mount {
        /// Mount point.
        point: PathBuf,
    },
}

/// `true` if a device that appeared at `made_at` is the one requested at `at`.
pub(crate) fn is_requested_device(at: SystemTime, made_at: SystemTime) -> bool {
    // Device nodes have the kernel's coarse time, which may be one tick late.
    let from = at - Duration::from_millis(20);
    made_at
        .duration_since(from)
        .is_ok_and(|waited| waited < APPEAR_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back_as_it_was_written() {
        for step in [
            JournalStep::Begin {
                pid: 1,
                start_ticks: 2,
                has_made_place: true,
            },
            JournalStep::Loop,
            JournalStep::Process {
                pid: 4,
                start_ticks: 5,
                program: "mkfs".to_owned(),
            },
            JournalStep::Zram {
                number: 3,
                made_at: Some(SystemTime::now()),
            },
            JournalStep::Mount {
                point: "/x y".into(),
            },
        ] {
            let text = serde_json::to_string(&step).unwrap();
            assert_eq!(serde_json::from_str::<JournalStep>(&text).unwrap(), step);
        }
    }

    #[test]
    fn only_a_device_that_appears_soon_after_the_request_matches() {
        let now = SystemTime::now();
        assert!(is_requested_device(now, now + Duration::from_millis(30)));
        assert!(!is_requested_device(now, now - Duration::from_secs(1)));
        assert!(!is_requested_device(now, now + Duration::from_secs(60)));
    }
}
