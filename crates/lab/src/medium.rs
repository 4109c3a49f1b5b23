//! Storage for file systems.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::LabError;

/// Kind of storage for file systems.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MediumKind {
    /// A loop device with direct I/O on a preallocated image.
    #[default]
    Loop,
    /// A block device in compressed memory.
    Zram,
    /// A device that the user named; its content is lost.
    Device(PathBuf),
}

impl MediumKind {
    /// Smallest unit of direct I/O, in bytes; 512 if unknown.
    ///
    /// Source: Linux, `drivers/block/zram/zram_drv.h`, `ZRAM_LOGICAL_BLOCK_SIZE`.
    #[must_use]
    pub fn block_bytes(&self) -> u32 {
        match self {
            Self::Zram => 4096,
            Self::Loop => 512,
            Self::Device(path) => storage::probe(path).map_or(512, |it| it.logical_block_bytes),
        }
    }
}

impl FromStr for MediumKind {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        match text {
            "loop" => Ok(Self::Loop),
            "zram" => Ok(Self::Zram),
            path if path.contains('/') => Ok(Self::Device(PathBuf::from(path))),
            _ => Err(LabError::BadMedium {
                seen: text.to_owned(),
            }),
        }
    }
}

impl fmt::Display for MediumKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loop => formatter.write_str("loop"),
            Self::Zram => formatter.write_str("zram"),
            Self::Device(path) => write!(formatter, "{}", path.display()),
        }
    }
}

/// Storage for file systems, the same for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabMedium {
    /// Kind of the storage.
    pub kind: MediumKind,
    /// Size of the image or memory in bytes; a named device is used completely.
    pub size_bytes: u64,
    /// Devices whose content may be destroyed.
    pub overwrite_devices: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_medium_is_a_word_or_a_path() {
        for text in ["loop", "zram", "/dev/vdb"] {
            assert_eq!(text.parse::<MediumKind>().unwrap().to_string(), text);
        }
        assert!("floppy".parse::<MediumKind>().is_err());
    }
}
