//! Loop devices and mounts for tests, removed when dropped.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device on a new image, and its mounts.
pub(crate) struct LoopMount {
    pub device: PathBuf,
    pub directory: tempfile::TempDir,
    mounted: Vec<PathBuf>,
}

/// Runs a command; returns its standard output if it succeeds.
pub(crate) fn run(command: &[&str]) -> Option<String> {
    let output = Command::new(command[0]).args(&command[1..]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// `true` if the start of a file is in the page cache.
pub(crate) fn is_cached(path: &Path) -> bool {
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    let file = std::fs::File::open(path).expect("the file");
    let mut byte = [0];
    let mut buffers = [std::io::IoSliceMut::new(&mut byte)];
    match preadv2(&file, &mut buffers, 0, ReadWriteFlags::NOWAIT) {
        Ok(count) => count == 1,
        Err(Errno::AGAIN) => false,
        Err(error) => panic!("{error}"),
    }
}

impl LoopMount {
    /// A loop device of this size. `None`, with the reason printed, if that is not possible.
    pub(crate) fn new(size_mib: u64) -> Option<Self> {
        Self::attach(size_mib, &[])
    }

    /// A read-only loop device.
    pub(crate) fn read_only(size_mib: u64) -> Option<Self> {
        // Not `blockdev --setro`, because the next user of the device would inherit it.
        Self::attach(size_mib, &["--read-only"])
    }

    fn attach(size_mib: u64, options: &[&str]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: loop devices need root");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let image = directory.path().join("image");
        let file = std::fs::File::create(&image).expect("an image");
        file.set_len(size_mib << 20).expect("its size");
        let image = image.to_str().expect("a plain path");
        let Some(device) = run(&[&["losetup", "--find", "--show"], options, &[image]].concat())
        else {
            println!("skipped: no loop device can be had");
            return None;
        };
        Some(Self {
            device: device.into(),
            directory,
            mounted: Vec::new(),
        })
    }

    pub(crate) fn path(&self) -> &str {
        self.device.to_str().expect("a plain path")
    }

    /// Runs a command on the device. `false`, with the reason printed, if the tool is missing.
    pub(crate) fn make(&self, command: &[&str]) -> bool {
        let mut command = command.to_vec();
        command.push(self.path());
        match Command::new(command[0]).args(&command[1..]).output() {
            Ok(output) if output.status.success() => true,
            Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                println!("skipped: `{}`: {error}", command[0]);
                false
            }
        }
    }

    /// Mounts the device and returns the mount point.
    pub(crate) fn mount(&mut self, options: &str) -> Option<PathBuf> {
        let point = self
            .directory
            .path()
            .join(format!("mnt{}", self.mounted.len()));
        std::fs::create_dir(&point).expect("a directory");
        let mounted = run(&["mount", "-o", options, self.path(), point.to_str()?]);
        if mounted.is_none() {
            println!("skipped: this kernel does not mount it");
            return None;
        }
        self.mounted.push(point.clone());
        Some(point)
    }
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        for point in self.mounted.iter().rev() {
            unmount(point);
        }
        let _ = run(&["losetup", "--detach", self.path()]);
    }
}

/// A ring that was just closed keeps its files open for a moment.
fn unmount(point: &Path) {
    for _ in 0..50 {
        if run(&["umount", point.to_str().unwrap_or_default()]).is_some() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
