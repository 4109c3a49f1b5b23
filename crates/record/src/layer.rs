//! Devices to record, and the layer at which their requests are recorded.

use std::ops::Range;

use storage::{DeviceNumber, DiskExtent};
use trace::TraceLayer;

/// Point on the way of requests at which they are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordLayer {
    /// Requests that are issued to the driver, with their completions.
    Issue,
    /// Requests of file systems and programs, before the block layer merges and splits them.
    Queue,
}

impl RecordLayer {
    /// Name in messages and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Queue => "queue",
        }
    }

    /// The events to record: name, layer, and `false` for one that old kernels lack.
    pub(crate) fn events(self) -> &'static [(&'static str, TraceLayer)] {
        match self {
            Self::Issue => &[
                ("block_rq_issue", TraceLayer::Issue),
                ("block_rq_complete", TraceLayer::Complete),
                ("block_rq_requeue", TraceLayer::Requeue),
            ],
            // The kernel changes the place of a queued request until its completion, so the two
            // cannot be joined.
            Self::Queue => &[("block_bio_queue", TraceLayer::Queue)],
        }
    }

    /// Layer of the events that count as requests.
    pub(crate) fn counted(self) -> TraceLayer {
        match self {
            Self::Issue => TraceLayer::Issue,
            Self::Queue => TraceLayer::Queue,
        }
    }
}

/// A device to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedDevice {
    /// Number of the device.
    pub number: DeviceNumber,
    /// Name without `/dev/`.
    pub name: String,
    /// Its disk, and its part of the disk.
    pub extent: DiskExtent,
}

/// A filter of the kernel that passes events of these devices only.
pub(crate) fn filter(devices: &[RecordedDevice]) -> String {
    let parts: Vec<String> = devices.iter().map(device_filter).collect();
    parts.join(" || ")
}

fn device_filter(device: &RecordedDevice) -> String {
    let disk = kernel_number(device.extent.disk);
    match &device.extent.partition_bytes {
        None => format!("(dev=={disk})"),
        // Requests have the number of the disk, and queued requests that of the partition. Flushes
        // have no place, so flushes of all partitions pass.
        Some(Range { start, end }) => format!(
            "(dev=={} || (dev=={disk} && (nr_sector==0 || (sector>={} && sector<{}))))",
            kernel_number(device.number),
            start / 512,
            end / 512
        ),
    }
}

/// A device number as the kernel stores it in events.
fn kernel_number((major, minor): DeviceNumber) -> u32 {
    major << 20 | minor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(number: DeviceNumber, partition_bytes: Option<Range<u64>>) -> RecordedDevice {
        RecordedDevice {
            number,
            name: "sda1".to_owned(),
            extent: DiskExtent {
                disk: (8, 0),
                disk_name: "sda".to_owned(),
                partition_bytes,
                has_requests: true,
            },
        }
    }

    #[test]
    fn filters_pass_disks_and_parts_of_disks() {
        assert_eq!(filter(&[device((8, 0), None)]), "(dev==8388608)");
        let both = filter(&[device((8, 0), None), device((8, 1), Some(512..5120))]);
        assert_eq!(
            both,
            "(dev==8388608) || (dev==8388609 || (dev==8388608 && (nr_sector==0 || (sector>=1 && \
             sector<10))))"
        );
    }
}
