//! Loop and zram devices, through the kernel's interfaces.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::error::LabError;
use crate::journal::Journal;
use crate::tools;

const ZRAM_CONTROL: &str = "/sys/class/zram-control";
/// Suffix that the kernel adds to the name of a removed file.
const DELETED: &str = " (deleted)";

/// `true` if the system supports loop devices.
pub(crate) fn has_loop() -> bool {
    Path::new("/dev/loop-control").exists()
}

/// `true` if the system supports zram devices.
pub(crate) fn has_zram() -> bool {
    Path::new(ZRAM_CONTROL).exists()
}

/// Attaches a loop device to an image. Returns its path, and whether it uses direct I/O.
pub(crate) fn attach(journal: &mut Journal, image: &Path) -> Result<(String, bool), LabError> {
    let image = image.display().to_string();
    let arguments = ["--find", "--show", "--direct-io=on", &image].map(str::to_owned);
    match tools::run_journaled(journal, "losetup", &arguments) {
        Ok(path) => Ok((path.trim().to_owned(), true)),
        // Some file systems do not support direct I/O on the image.
        Err(LabError::Failed { .. }) => {
            let arguments = ["--find", "--show", &image].map(str::to_owned);
            let path = tools::run_journaled(journal, "losetup", &arguments)?;
            Ok((path.trim().to_owned(), false))
        }
        Err(error) => Err(error),
    }
}

/// Names of the loop devices on an image.
pub(crate) fn loops_on(image: &Path) -> Vec<String> {
    let is_on = |name: &String| {
        let file = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        let file = file.unwrap_or_default();
        let file = file.trim_end_matches('\n');
        // The device must be found even if its image was removed first.
        Path::new(file.strip_suffix(DELETED).unwrap_or(file)) == image
    };
    blocks("loop").into_iter().filter(is_on).collect()
}

/// Numbers of all zram devices.
pub(crate) fn zrams() -> Vec<u32> {
    let names = blocks("zram").into_iter();
    names
        .filter_map(|name| name["zram".len()..].parse().ok())
        .collect()
}

/// Names in `/sys/block` with this prefix.
fn blocks(prefix: &str) -> Vec<String> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// Creates a zram device; returns its number.
pub(crate) fn create_zram() -> io::Result<u32> {
    let output = fs::read_to_string(format!("{ZRAM_CONTROL}/hot_add"))?;
    output.trim().parse().map_err(io::Error::other)
}

/// Sets the size of a new zram device.
pub(crate) fn set_zram_size(number: u32, size_bytes: u64) -> io::Result<()> {
    fs::write(
        format!("/sys/block/zram{number}/disksize"),
        size_bytes.to_string(),
    )
}

/// Size of a zram device in bytes; `None` if it does not exist.
pub(crate) fn zram_size_bytes(number: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/sys/block/zram{number}/disksize")).ok()?;
    text.trim().parse().ok()
}

/// When the device node of a zram device was created; `None` if it does not exist.
pub(crate) fn zram_created_at(number: u32) -> Option<SystemTime> {
    fs::metadata(format!("/dev/zram{number}"))
        .ok()?
        .created()
        .ok()
}

/// Removes a zram device and its content.
pub(crate) fn remove_zram(number: u32) -> io::Result<()> {
    if zram_size_bytes(number).is_none() {
        return Ok(());
    }
    // The kernel refuses to reset a device in use, so a mounted one keeps its content.
    fs::write(format!("/sys/block/zram{number}/reset"), "1")?;
    fs::write(format!("{ZRAM_CONTROL}/hot_remove"), number.to_string())
}
