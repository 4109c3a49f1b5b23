//! A block device in compressed memory. Needs root.

use std::path::{Path, PathBuf};

use crate::FixtureError;

const CONTROL: &str = "/sys/class/zram-control";

/// A zram device of its own; taken away when dropped.
#[derive(Debug)]
pub struct Zram {
    number: String,
    device: PathBuf,
}

impl Zram {
    /// A device of `size_bytes`.
    ///
    /// # Errors
    /// `Unavailable` without root or zram.
    pub fn new(size_bytes: u64) -> Result<Zram, FixtureError> {
        // Reading this makes a device, which only root may.
        let number = std::fs::read_to_string(format!("{CONTROL}/hot_add"));
        let number = number.map_err(|error| {
            FixtureError::Unavailable(format!("no zram device can be made: {error}"))
        })?;
        let number = number.trim().to_owned();
        let zram = Zram {
            device: PathBuf::from(format!("/dev/zram{number}")),
            number,
        };
        let size = PathBuf::from(format!("/sys/block/zram{}/disksize", zram.number));
        std::fs::write(&size, size_bytes.to_string()).map_err(FixtureError::file(&size))?;
        Ok(zram)
    }

    /// The device's path.
    pub fn path(&self) -> &Path {
        &self.device
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(format!("{CONTROL}/hot_remove"), &self.number) {
            eprintln!("warning: zram{} stays: {error}", self.number);
        }
    }
}
