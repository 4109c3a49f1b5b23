//! Costs of a job in addition to its workload.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::age::{AgedState, ExtentLayout};

/// Costs of a job in addition to its workload.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobCosts {
    /// Time to create the file system.
    pub mkfs: Option<Duration>,
    /// Time to sync the data that the workload wrote.
    pub sync: Option<Duration>,
    /// Time to unmount.
    pub unmount: Option<Duration>,
    /// Bytes that the device wrote, from the mount to the end of the sync.
    pub device_written_bytes: Option<u64>,
    /// Bytes that the workload wrote in this time; `None` if they were not all counted.
    pub user_written_bytes: Option<u64>,
    /// Log segments cleaned, during the workload and after it.
    pub cleaned_segments: Option<u64>,
    /// Bytes that the device wrote while the log was cleaned after the workload.
    pub cleaning_written_bytes: Option<u64>,
    /// Bytes discarded at the end; `None` if the file system does not support it.
    pub trimmed_bytes: Option<u64>,
    /// State of the file system before the workload, if it was aged.
    pub aged: Option<AgedState>,
}

impl JobCosts {
    /// Bytes written by the device per byte written by the workload.
    #[must_use]
    pub fn device_bytes_per_user_byte(&self) -> Option<f64> {
        let (device, user) = self.device_written_bytes.zip(self.user_written_bytes)?;
        (user > 0).then(|| device as f64 / user as f64)
    }

    /// Layout of the files that aged the file system.
    #[must_use]
    pub fn layout(&self) -> Option<ExtentLayout> {
        self.aged.and_then(|aged| aged.layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_writes_per_user_byte_need_both_counts() {
        let costs = |device_written_bytes, user_written_bytes| JobCosts {
            device_written_bytes,
            user_written_bytes,
            ..JobCosts::default()
        };
        assert_eq!(
            costs(Some(300), Some(200)).device_bytes_per_user_byte(),
            Some(1.5)
        );
        for unknown in [
            costs(Some(1), None),
            costs(None, Some(1)),
            costs(Some(1), Some(0)),
        ] {
            assert_eq!(unknown.device_bytes_per_user_byte(), None);
        }
    }
}
