//! Kernel messages about the recovery of a file system.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

/// Longer than any record of the kernel.
const RECORD_BYTES: usize = 8192;

/// Reads the kernel's log from the time of opening.
#[derive(Debug)]
pub(super) struct KernelLog(File);

impl KernelLog {
    pub fn open() -> io::Result<Self> {
        // At the end of the log, a blocking read would wait for the next message.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        let mut options = File::options();
        let mut file = options.read(true).custom_flags(flags).open("/dev/kmsg")?;
        // Skips the messages of the boot, which are not about this mount.
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// The messages since then, line by line.
    pub fn read(mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut record = vec![0; RECORD_BYTES];
        loop {
            match self.0.read(&mut record) {
                Ok(length) => lines.extend(message(&record[..length])),
                // Some records were overwritten before they were read; the next ones are still
                // there.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                // The end of the log is reported as EAGAIN.
                Err(_) => return lines,
            }
        }
    }
}

/// The text of a record.
///
/// Source: Linux, `Documentation/ABI/testing/dev-kmsg`.
fn message(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    let (_, message) = text.split_once(';')?;
    // Further lines of a record are key-value pairs about the device.
    let line = message.lines().next()?;
    (!line.is_empty()).then(|| plan::printable(line))
}

/// The lines that report a recovery of a file system of this type.
#[must_use]
pub fn recovery_lines<'a>(kind: &str, lines: &'a [String]) -> Vec<&'a str> {
    let phrases: &[&str] = match kind {
        // Nodes synced after the last checkpoint: data, or the name.
        "f2fs" => &["recover_inode", "recover_dentry", "recover_data"],
        // Logs written after the last checkpoint.
        "nilfs2" => &["salvaged"],
        "ext3" | "ext4" => &["recovery complete"],
        "xfs" => &["Ending recovery"],
        "btrfs" => &["log-replay", "log replay"],
        _ => &[],
    };
    let is_recovery = |line: &&str| phrases.iter().any(|phrase| line.contains(phrase));
    lines
        .iter()
        .map(String::as_str)
        .filter(is_recovery)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_record_is_shown_without_its_prefix_and_fields() {
        let record = b"6,339,5140900,-;EXT4-fs (ubda): recovery complete\n SUBSYSTEM=block\n";
        let line = message(record);
        assert_eq!(line.as_deref(), Some("EXT4-fs (ubda): recovery complete"));
        assert_eq!(message(b"no record"), None);
    }

    #[test]
    fn recovery_lines_are_recognized_for_each_file_system() {
        let lines = [
            "NILFS (ubda): mounting unchecked fs",
            "NILFS (ubda): salvaged 3 blocks",
            "EXT4-fs (ubda): recovery complete",
        ]
        .map(str::to_owned);
        assert_eq!(recovery_lines("nilfs2", &lines), [lines[1].as_str()]);
        assert_eq!(recovery_lines("ext4", &lines), [lines[2].as_str()]);
        assert!(recovery_lines("ext2", &lines).is_empty());
    }
}
