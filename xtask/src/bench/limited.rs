//! A file system on a loop device of known speed, with one file for fio and one for pgmeter.

use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{FileSystem, Limit, MountedImage, Throttle};

use super::programs::{Figures, Pgmeter, fio, fio_measure};
use crate::error::Failure;

const IMAGE_BYTES: u64 = 1 << 30;
/// Number of bytes used by each program.
pub const FILE_BYTES: u64 = 256 << 20;

/// The device, unlimited until [`LimitedDevice::limit`].
pub struct LimitedDevice {
    mounted: MountedImage,
    fio_file: PathBuf,
}

impl LimitedDevice {
    /// Creates the file system and both programs' files, at full speed.
    pub fn new(pgmeter: &Pgmeter) -> Result<LimitedDevice, Failure> {
        let mounted = MountedImage::new(FileSystem::Ext4, IMAGE_BYTES)?;
        let fio_file = mounted.path().join("fio.dat");
        let device = LimitedDevice { mounted, fio_file };
        let options = [
            "--rw=write",
            "--bs=1m",
            "--refill_buffers",
            // The common options set it, but this file must be written exactly once.
            "--time_based=0",
            // Dirty data would otherwise be written under the limit of the first measurement.
            "--end_fsync=1",
        ];
        let given = options.map(str::to_owned).to_vec();
        fio_measure(&mut fio(&[given, device.fio_options()].concat()))?;
        let prepare = format!(
            "size = {FILE_BYTES}\noperations = 1\nramp_time = 0\n\
             [[access_spec]]\nline = [{{ size = \"4k\" }}]\n"
        );
        // The file is kept, so that no later run prepares it at the limited speed.
        pgmeter.measure(&prepare, Some(device.path()))?;
        Ok(device)
    }

    /// Mount point of the device.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// Limits the device for commands wrapped by the result.
    pub fn limit(&self, limit: Limit) -> Result<Throttle, Failure> {
        Ok(Throttle::new(&self.mounted.device().number()?, limit)?)
    }

    /// Measures fio on its file with direct I/O and a limit.
    pub fn fio(&self, options: &[String], throttle: &Throttle) -> Result<Figures, Failure> {
        let all = [
            options.to_vec(),
            self.fio_options(),
            vec!["--direct=1".to_owned()],
        ]
        .concat();
        let command: Command = fio(&all);
        fio_measure(&mut throttle.wrap(&command))
    }

    fn fio_options(&self) -> Vec<String> {
        vec![
            format!("--filename={}", self.fio_file.display()),
            format!("--size={FILE_BYTES}"),
        ]
    }
}
