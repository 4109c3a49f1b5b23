//! Kernel counters of the block devices under a target.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::mounts::mounts;
use crate::sysfs::{BlockDevice, Sysfs, top_devices};

/// The kernel counts units of 512 bytes, regardless of the device's block size.
const SECTOR_BYTES: u64 = 512;
/// Enough for counters of 20 digits each.
const STAT_BYTES_MAX: usize = 512;

/// Counters since the device appeared, or the difference of two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceSample {
    /// Read requests completed.
    pub reads: u64,
    /// Bytes read from the device.
    pub read_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time with requests in flight, in nanoseconds (counted in ms); for several devices, the sum.
    pub busy_ns: u64,
    /// Current number of requests in flight; not a difference.
    pub in_flight: u64,
}

impl DeviceSample {
    /// Difference to an earlier reading. Counters that decreased, for example because a device was
    /// removed and added again, give 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            writes: self.writes.saturating_sub(earlier.writes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            busy_ns: self.busy_ns.saturating_sub(earlier.busy_ns),
            in_flight: self.in_flight,
        }
    }

    /// Adds the counters of another device.
    pub fn merge(&mut self, other: &Self) {
        self.reads = self.reads.saturating_add(other.reads);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.writes = self.writes.saturating_add(other.writes);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
        self.busy_ns = self.busy_ns.saturating_add(other.busy_ns);
        self.in_flight = self.in_flight.saturating_add(other.in_flight);
    }
}

/// Open counters of the devices under one or more targets.
#[derive(Debug)]
pub struct DeviceCounters {
    counted: Vec<CountedDevice>,
}

#[derive(Debug)]
struct CountedDevice {
    device: BlockDevice,
    stat: File,
}

impl DeviceCounters {
    /// Opens the counters of all devices under the targets, each device once. `None` without a
    /// block device (tmpfs, FUSE, NFS), or if the device does not count.
    #[must_use]
    pub fn open<'a>(targets: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
        let table = mounts();
        let mut top = Vec::new();
        for target in targets {
            let below = top_devices(target, &table);
            // A sum over only a part of the targets would look like the I/O of all.
            if below.is_empty() {
                return None;
            }
            top.extend(below);
        }
        let sys = Sysfs::default();
        let open = |device: BlockDevice| {
            if !sys.counts(device.number) {
                return None;
            }
            let stat = File::open(sys.stat_path(device.number)).ok()?;
            Some(CountedDevice { device, stat })
        };
        let counted: Vec<_> = sys
            .stack(&top, &table)
            .into_iter()
            .filter_map(open)
            .collect();
        let has_top = counted.iter().any(|counted| counted.device.depth == 0);
        // Only devices at depth 0 are summed, because their lower layers count the same bytes
        // again.
        has_top.then_some(Self { counted })
    }

    /// Names of the devices that [`sample`](Self::sample) sums up.
    #[must_use]
    pub fn source(&self) -> String {
        let top = self.top().map(|counted| counted.device.name.as_str());
        top.collect::<Vec<_>>().join(", ")
    }

    /// Number of devices that [`sample`](Self::sample) sums up, to calculate their mean busy time.
    #[must_use]
    pub fn device_count(&self) -> usize {
        self.top().count()
    }

    /// Reads and sums up the devices directly under the targets, with one system call per device
    /// and no allocation.
    ///
    /// # Errors
    /// If a device has disappeared.
    pub fn sample(&self) -> io::Result<DeviceSample> {
        let mut sum = DeviceSample::default();
        for counted in self.top() {
            sum.merge(&counted.read()?);
        }
        Ok(sum)
    }

    /// Reads every device, including lower layers such as the disk of a partition or the device
    /// that holds the file of a loop device.
    pub fn sample_each(&self) -> impl Iterator<Item = (&BlockDevice, io::Result<DeviceSample>)> {
        self.counted
            .iter()
            .map(|counted| (&counted.device, counted.read()))
    }

    fn top(&self) -> impl Iterator<Item = &CountedDevice> {
        self.counted
            .iter()
            .filter(|counted| counted.device.depth == 0)
    }
}

impl CountedDevice {
    fn read(&self) -> io::Result<DeviceSample> {
        let mut text = [0; STAT_BYTES_MAX];
        let length = self.stat.read_at(&mut text, 0)?;
        parse(&text[..length]).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }
}

/// Source: the kernel's `Documentation/block/stat.rst`.
fn parse(text: &[u8]) -> Option<DeviceSample> {
    // Newer kernels append fields for discards and flushes; the first 11 have not changed.
    let mut fields = [0_u64; 11];
    let mut count = 0;
    let text = std::str::from_utf8(text).ok()?;
    for (value, field) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
        *value = field.parse().ok()?;
        count += 1;
    }
    let [
        reads,
        _,
        read_sectors,
        _,
        writes,
        _,
        write_sectors,
        _,
        in_flight,
        busy_ms,
        _,
    ] = fields;
    (count == fields.len()).then_some(DeviceSample {
        reads,
        read_bytes: read_sectors.saturating_mul(SECTOR_BYTES),
        writes,
        write_bytes: write_sectors.saturating_mul(SECTOR_BYTES),
        busy_ns: busy_ms.saturating_mul(1_000_000),
        in_flight,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counters_are_read_from_their_columns() {
        let text =
            b"  33370  9068  4699890  12790  8307  22151  1432432  2746  3  5172  15860  5 6\n";
        let sample = parse(text).expect("counters");
        assert_eq!(
            sample,
            DeviceSample {
                reads: 33370,
                read_bytes: 4_699_890 * 512,
                writes: 8307,
                write_bytes: 1_432_432 * 512,
                busy_ns: 5_172_000_000,
                in_flight: 3,
            }
        );
        assert_eq!(parse(b"1 2 3"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn a_difference_never_goes_below_zero() {
        let late = DeviceSample {
            reads: 5,
            in_flight: 2,
            ..DeviceSample::default()
        };
        let early = DeviceSample {
            reads: 9,
            in_flight: 7,
            ..DeviceSample::default()
        };
        assert_eq!(late.since(&early).reads, 0);
        assert_eq!(late.since(&early).in_flight, 2);
    }

    #[test]
    fn memory_has_no_device() {
        let shared = Path::new("/dev/shm");
        if crate::probe(shared).is_ok_and(|facts| facts.file_system == "tmpfs") {
            assert!(DeviceCounters::open([shared]).is_none());
        } else {
            println!("skipped: /dev/shm is not a tmpfs");
        }
    }

    proptest! {
        #[test]
        fn parsing_counters_never_panics(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
        }

        #[test]
        fn merging_is_the_same_in_any_order(a in any::<[u32; 6]>(), b in any::<[u32; 6]>()) {
            let sample = |it: [u32; 6]| DeviceSample {
                reads: it[0].into(), read_bytes: it[1].into(), writes: it[2].into(),
                write_bytes: it[3].into(), busy_ns: it[4].into(), in_flight: it[5].into(),
            };
            let (mut one, mut two) = (sample(a), sample(b));
            one.merge(&sample(b));
            two.merge(&sample(a));
            prop_assert_eq!(one, two);
        }
    }
}
