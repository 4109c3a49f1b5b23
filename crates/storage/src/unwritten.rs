//! Finds storage that was never written. Reads of it do not access the medium.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::stack::Survey;
use crate::sysfs::{DeviceNumber, block_number, word};

/// A part of a device that was never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnwrittenPart {
    /// The file that holds the device's data, or the device if it holds the data itself.
    pub backing: PathBuf,
    /// Number of bytes examined.
    pub examined_bytes: u64,
    /// Number of these bytes that were never written.
    pub unwritten_bytes: u64,
}

impl UnwrittenPart {
    /// Unwritten share of the bytes examined.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.unwritten_bytes as f64 / self.examined_bytes.max(1) as f64
    }
}

/// The unwritten part of a byte range of a device. `None` if unknown: for disks, for volumes over
/// several devices, and if the file under the device may not be read.
#[must_use]
pub fn blank(device: &Path, bytes: Range<u64>) -> Option<UnwrittenPart> {
    let number = device.to_str().and_then(block_number)?;
    let survey = Survey::new();
    // zram has no file under it, but it counts the bytes that it stores.
    if let Some(blank) = in_zram(&survey, number, device, &bytes) {
        return Some(blank);
    }
    let (backing, start_bytes) = survey.file_under(number, bytes.start)?;
    let length_bytes = bytes.end.checked_sub(bytes.start)?;
    if !std::fs::metadata(&backing).is_ok_and(|found| found.is_file()) {
        return None;
    }
    // If a pipe has replaced the file meanwhile, the open must not block.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(&backing, flags, Mode::empty()).ok()?);
    let end_bytes = start_bytes.checked_add(length_bytes)?;
    let found = engine::find_unwritten(&file, start_bytes..end_bytes).ok()??;
    Some(UnwrittenPart {
        backing,
        examined_bytes: found.examined_bytes,
        unwritten_bytes: found.unwritten_bytes,
    })
}

/// Finds the part of a whole zram device without data.
///
/// Source: Linux, `Documentation/admin-guide/blockdev/zram.rst`: `mm_stat` begins with the bytes
/// stored, before compression.
fn in_zram(
    survey: &Survey,
    number: DeviceNumber,
    device: &Path,
    bytes: &Range<u64>,
) -> Option<UnwrittenPart> {
    let directory = survey.sys.directory(number)?;
    let found = survey.sys.device(number, 0)?;
    // `mm_stat` counts for the whole device and says nothing about a part of it.
    if bytes.start > 0 || bytes.end < found.size_bytes {
        return None;
    }
    let figures = word(&directory.join("mm_stat"))?;
    let stored_bytes: u64 = figures.split_ascii_whitespace().next()?.parse().ok()?;
    Some(UnwrittenPart {
        backing: device.to_owned(),
        examined_bytes: found.size_bytes,
        unwritten_bytes: found.size_bytes.saturating_sub(stored_bytes),
    })
}
