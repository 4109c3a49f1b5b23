//! Finds the devices to record.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use storage::{BlockDevice, devices_under, disk_extent};

use crate::error::RecordError;
use crate::layer::{RecordLayer, RecordedDevice};

impl RecordedDevice {
    /// The block device at a path.
    ///
    /// # Errors
    /// If there is none.
    pub fn at(path: &Path) -> Result<Self, RecordError> {
        let found = fs::metadata(path).map_err(|source| RecordError::Missing {
            path: path.to_owned(),
            source,
        })?;
        let not_a_device = || RecordError::NotADevice {
            path: path.to_owned(),
        };
        if !found.file_type().is_block_device() {
            return Err(not_a_device());
        }
        let device = devices_under(path).into_iter().next();
        device.and_then(Self::of).ok_or_else(not_a_device)
    }

    /// The devices directly under the file system of a path, usually one.
    ///
    /// # Errors
    /// If there are none.
    pub fn under(path: &Path) -> Result<Vec<Self>, RecordError> {
        fs::metadata(path).map_err(|source| RecordError::Missing {
            path: path.to_owned(),
            source,
        })?;
        let devices = devices_under(path).into_iter();
        let top = devices.filter(|device| device.depth == 0);
        let found: Vec<Self> = top.filter_map(Self::of).collect();
        match found.is_empty() {
            true => Err(RecordError::NoDevice {
                path: path.to_owned(),
                stack: storage::stack(path).map_or_else(
                    || "nothing is known about it".to_owned(),
                    |stack| stack.text,
                ),
            }),
            false => Ok(found),
        }
    }

    fn of(device: BlockDevice) -> Option<Self> {
        Some(Self {
            extent: disk_extent(device.number)?,
            number: device.number,
            name: device.name,
        })
    }
}

/// The layer to record: the wanted one, or else requests to drivers if all devices have them.
///
/// # Errors
/// If a device has no requests at the wanted layer.
pub fn choose_layer(
    wanted: Option<RecordLayer>,
    devices: &[RecordedDevice],
) -> Result<RecordLayer, RecordError> {
    let without = devices.iter().find(|device| !device.extent.has_requests);
    match (wanted, without) {
        (Some(RecordLayer::Issue), Some(device)) => Err(RecordError::NoRequests {
            name: device.name.clone(),
        }),
        (Some(layer), _) => Ok(layer),
        (None, Some(_)) => Ok(RecordLayer::Queue),
        (None, None) => Ok(RecordLayer::Issue),
    }
}

/// Checks that writing a file does not cause requests to the recorded devices.
///
/// # Errors
/// If the file is on one of them.
pub fn check_output(output: &Path, devices: &[RecordedDevice]) -> Result<(), RecordError> {
    // Not only the nearest: a loop device is on the disk of its file.
    for below in devices_under(output) {
        let disk = disk_extent(below.number).map(|extent| extent.disk);
        let shared = devices.iter().find(|device| {
            device.number == below.number
                || device.number == device.extent.disk && disk == Some(device.extent.disk)
        });
        if let Some(device) = shared {
            return Err(RecordError::OutputOnDevice {
                output: output.to_owned(),
                name: device.name.clone(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use storage::DiskExtent;

    use super::*;

    fn device(has_requests: bool) -> RecordedDevice {
        RecordedDevice {
            number: (252, 0),
            name: "zram0".to_owned(),
            extent: DiskExtent {
                disk: (252, 0),
                disk_name: "zram0".to_owned(),
                partition_bytes: None,
                has_requests,
            },
        }
    }

    #[test]
    fn the_layer_follows_the_device() {
        let layer = |wanted, has| choose_layer(wanted, &[device(true), device(has)]);
        assert_eq!(layer(None, true).unwrap(), RecordLayer::Issue);
        assert_eq!(layer(None, false).unwrap(), RecordLayer::Queue);
        let queue = Some(RecordLayer::Queue);
        assert_eq!(layer(queue, true).unwrap(), RecordLayer::Queue);
        let refused = layer(Some(RecordLayer::Issue), false).unwrap_err();
        assert!(refused.to_string().contains("zram0"), "{refused}");
        assert!(refused.help().contains("--layer queue"));
    }

    #[test]
    fn other_paths_than_devices_are_refused() {
        let refused = RecordedDevice::at(Path::new("/proc/version")).unwrap_err();
        assert!(matches!(refused, RecordError::NotADevice { .. }));
        let refused = RecordedDevice::at(Path::new("/no/such/device")).unwrap_err();
        assert!(matches!(refused, RecordError::Missing { .. }));
        let refused = RecordedDevice::under(Path::new("/proc")).unwrap_err();
        assert!(matches!(refused, RecordError::NoDevice { .. }));
    }
}
