//! What a job costs beside its workload.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::age::{Aged, Layout};

/// What a job cost beside the workload.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Making the file system.
    pub mkfs: Option<Duration>,
    /// Making durable what the workload wrote.
    pub sync: Option<Duration>,
    /// Unmounting.
    pub unmount: Option<Duration>,
    /// Bytes that reached the device from mounting to the end of the sync.
    pub device_written_bytes: Option<u64>,
    /// Bytes that the workload wrote meanwhile, where all of them were counted.
    pub user_written_bytes: Option<u64>,
    /// Segments of a log that were cleaned, during the workload and after it.
    pub cleaned_segments: Option<u64>,
    /// Bytes that reached the device while the log was cleaned after the workload.
    pub cleaning_written_bytes: Option<u64>,
    /// Bytes of which the device was told that they are free, after all that.
    pub trimmed_bytes: Option<u64>,
    /// What the file system was before the workload, where it was aged.
    pub aged: Option<Aged>,
}

impl Costs {
    /// Bytes that reached the device for each that the workload wrote.
    #[must_use]
    pub fn device_per_user_byte(&self) -> Option<f64> {
        let (device, user) = self.device_written_bytes.zip(self.user_written_bytes)?;
        (user > 0).then(|| device as f64 / user as f64)
    }

    /// How the files lay that aged the file system.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        self.aged.and_then(|aged| aged.layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_the_device_are_held_against_those_of_the_workload_where_both_are_known() {
        let costs = |device_written_bytes, user_written_bytes| Costs {
            device_written_bytes,
            user_written_bytes,
            ..Costs::default()
        };
        assert_eq!(
            costs(Some(300), Some(200)).device_per_user_byte(),
            Some(1.5)
        );
        for unknown in [
            costs(Some(1), None),
            costs(None, Some(1)),
            costs(Some(1), Some(0)),
        ] {
            assert_eq!(unknown.device_per_user_byte(), None);
        }
    }
}
