//! Block devices and file systems made from files. Needs root.

use std::path::{Path, PathBuf};

use crate::mount::Mount;
use crate::{FixtureError, Scratch, run_tool};

/// A block device whose content is a file; detached when dropped.
#[derive(Debug)]
pub struct LoopDevice {
    device: PathBuf,
    image: PathBuf,
    _scratch: Scratch,
}

impl LoopDevice {
    /// A device of `size_bytes`, its image sparse.
    ///
    /// # Errors
    /// `Unavailable` without root or loop devices.
    pub fn new(size_bytes: u64) -> Result<LoopDevice, FixtureError> {
        LoopDevice::on(Scratch::new()?, size_bytes, &[])
    }

    /// A device whose logical blocks have `block_bytes`.
    ///
    /// # Errors
    /// `Unavailable` without root or loop devices, or where they have no such blocks.
    pub fn with_blocks(size_bytes: u64, block_bytes: u32) -> Result<LoopDevice, FixtureError> {
        let block_bytes = block_bytes.to_string();
        let options = ["--sector-size", &block_bytes];
        LoopDevice::on(Scratch::new()?, size_bytes, &options)
            .map_err(|error| FixtureError::Unavailable(error.to_string()))
    }

    /// A device of `size_bytes` whose image lies in memory, sparse.
    ///
    /// # Errors
    /// `Unavailable` without root, loop devices or `/dev/shm`.
    pub fn in_memory(size_bytes: u64) -> Result<LoopDevice, FixtureError> {
        LoopDevice::on(Scratch::in_memory()?, size_bytes, &[])
    }

    fn on(scratch: Scratch, size_bytes: u64, options: &[&str]) -> Result<LoopDevice, FixtureError> {
        require_root()?;
        if !Path::new("/dev/loop-control").exists() {
            return Err(FixtureError::Unavailable(
                "there are no loop devices".to_owned(),
            ));
        }
        let image = scratch.join("image");
        std::fs::File::create(&image)
            .and_then(|file| file.set_len(size_bytes))
            .map_err(FixtureError::file(&image))?;
        let device = attach(&image, options)?;
        Ok(LoopDevice {
            device,
            image,
            _scratch: scratch,
        })
    }

    /// The device's path.
    pub fn path(&self) -> &Path {
        &self.device
    }

    /// The image's path.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// The device's number as `major:minor`, as the block cgroup wants it.
    ///
    /// # Errors
    /// The device is gone.
    pub fn number(&self) -> Result<String, FixtureError> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(&self.device).map_err(FixtureError::file(&self.device))?;
        let (major, minor) = (
            rustix::fs::major(metadata.rdev()),
            rustix::fs::minor(metadata.rdev()),
        );
        Ok(format!("{major}:{minor}"))
    }

    /// Makes a file system on the device.
    ///
    /// # Errors
    /// `Unavailable` where its `mkfs` is not installed.
    pub fn format(&self, file_system: FileSystem) -> Result<(), FixtureError> {
        let device = self.device.to_string_lossy();
        let (program, arguments) = file_system.mkfs();
        run_tool(program, &[arguments, &[device.as_ref()]].concat()).map(drop)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let device = self.device.to_string_lossy().into_owned();
        if let Err(error) = run_tool("losetup", &["--detach", &device]) {
            eprintln!("warning: {error}");
        }
    }
}

fn attach(image: &Path, options: &[&str]) -> Result<PathBuf, FixtureError> {
    let image = image.to_string_lossy();
    let common = [&["--find", "--show"], options].concat();
    let direct = [&common[..], &["--direct-io=on", &image]].concat();
    // Some file systems cannot hold an image that is read directly.
    let output = run_tool("losetup", &direct)
        .or_else(|_| run_tool("losetup", &[&common[..], &[&image]].concat()))?;
    Ok(PathBuf::from(output.trim()))
}

fn require_root() -> Result<(), FixtureError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(FixtureError::Unavailable("needs root".to_owned()))
}

/// A file system that tests make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// ext4, from 64 MiB.
    Ext4,
    /// XFS, from 300 MiB.
    Xfs,
    /// Btrfs, from 256 MiB.
    Btrfs,
}

impl FileSystem {
    fn mkfs(self) -> (&'static str, &'static [&'static str]) {
        match self {
            FileSystem::Ext4 => ("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0"]),
            FileSystem::Xfs => ("mkfs.xfs", &["-q", "-f"]),
            FileSystem::Btrfs => ("mkfs.btrfs", &["-q", "-f"]),
        }
    }
}

/// A file system on a loop device, mounted; taken down in that order when dropped.
#[derive(Debug)]
pub struct MountedImage {
    mount: Mount,
    device: LoopDevice,
    _scratch: Scratch,
}

impl MountedImage {
    /// A new, empty file system.
    ///
    /// # Errors
    /// `Unavailable` without root, loop devices, or the file system's tools.
    pub fn new(file_system: FileSystem, size_bytes: u64) -> Result<MountedImage, FixtureError> {
        MountedImage::on(LoopDevice::new(size_bytes)?, file_system)
    }

    /// A new, empty file system whose device lies in memory.
    ///
    /// # Errors
    /// `Unavailable` without root, loop devices, `/dev/shm`, or the file system's tools.
    pub fn in_memory(
        file_system: FileSystem,
        size_bytes: u64,
    ) -> Result<MountedImage, FixtureError> {
        MountedImage::on(LoopDevice::in_memory(size_bytes)?, file_system)
    }

    fn on(device: LoopDevice, file_system: FileSystem) -> Result<MountedImage, FixtureError> {
        device.format(file_system)?;
        let scratch = Scratch::new()?;
        let mount = Mount::new(device.path(), &scratch.directory("mount")?, "noatime")?;
        Ok(MountedImage {
            mount,
            device,
            _scratch: scratch,
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.mount.path()
    }

    /// Mount of the image; unmounted when dropped.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// The device below it.
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::need;

    #[test]
    fn a_loop_device_has_the_requested_size_and_is_removed() {
        let device = need!(LoopDevice::new(1 << 20));
        let path = device.path().to_path_buf();
        let size = run_tool("blockdev", &["--getsize64", &path.to_string_lossy()]).unwrap();
        assert_eq!(size.trim(), "1048576");
        assert!(device.number().unwrap().starts_with("7:"));
        let image = device.image().to_path_buf();
        drop(device);
        assert!(!image.exists());
    }

    #[test]
    fn a_mounted_image_holds_files_and_is_unmounted() {
        let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
        std::fs::write(mounted.path().join("a"), "b").unwrap();
        let path = mounted.path().to_path_buf();
        drop(mounted);
        assert!(crate::mount::mounts_below(&path).is_empty());
    }

    #[test]
    fn a_read_only_remount_refuses_writes() {
        let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
        mounted.mount().remount("ro").unwrap();
        assert!(std::fs::write(mounted.path().join("a"), "b").is_err());
    }
}
