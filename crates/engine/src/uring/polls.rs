//! Check for polled completions of a device driver.

use std::fs;

use crate::EngineError;

/// Checks that the block device with number `device` (as in `st_dev`) polls for completions. For a
/// partition, the setting is that of its disk.
///
/// The kernel accepts polled requests for any file. If the device does not poll, it still waits for
/// interrupts, and the record would claim polling that did not happen.
///
/// # Errors
/// [`EngineError::PollingUnsupported`] if it does not poll or is not a block device.
pub fn check_polls(device: u64) -> Result<(), EngineError> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = format!("/sys/dev/block/{major}:{minor}");
    let polls = ["queue/io_poll", "../queue/io_poll"]
        .iter()
        .find_map(|path| fs::read_to_string(format!("{node}/{path}")).ok())
        .is_some_and(|setting| setting.trim() == "1");
    if polls {
        Ok(())
    } else {
        Err(EngineError::PollingUnsupported { major, minor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_a_block_device_does_not_poll() {
        let error = check_polls(rustix::fs::makedev(0, 4095)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "device 0:4095 does not poll for completions (queue/io_poll is not 1)"
        );
        assert!(error.help().is_some());
    }

    #[test]
    fn the_polling_check_agrees_with_sysfs_for_every_disk() {
        let Ok(disks) = fs::read_dir("/sys/block") else {
            println!("skipped: no /sys/block");
            return;
        };
        for disk in disks.filter_map(Result::ok) {
            let Ok(number) = fs::read_to_string(disk.path().join("dev")) else {
                continue;
            };
            let setting = fs::read_to_string(disk.path().join("queue/io_poll"));
            let (major, minor) = number.trim().split_once(':').unwrap();
            let device = rustix::fs::makedev(major.parse().unwrap(), minor.parse().unwrap());
            let polls = setting.is_ok_and(|setting| setting.trim() == "1");
            assert_eq!(check_polls(device).is_ok(), polls, "{number}");
        }
    }
}
