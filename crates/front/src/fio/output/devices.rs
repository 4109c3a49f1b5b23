//! I/O of block devices during the run.

use results::RunRecord;

use super::super::JobSet;

/// I/O of the devices with the same name over all waves.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DeviceUse<'a> {
    pub(super) name: &'a str,
    pub(super) reads: u64,
    pub(super) writes: u64,
    read_bytes: u64,
    write_bytes: u64,
    /// Time with requests in flight, and total time, in nanoseconds.
    busy_ns: f64,
    time_ns: f64,
}

/// Size of a sector in the kernel's statistics, in bytes.
const SECTOR_BYTES: u64 = 512;

impl DeviceUse<'_> {
    pub(super) fn read_sectors(&self) -> u64 {
        self.read_bytes / SECTOR_BYTES
    }

    pub(super) fn write_sectors(&self) -> u64 {
        self.write_bytes / SECTOR_BYTES
    }

    /// Time with requests in flight, in percent of the total time.
    pub(super) fn busy_percent(&self) -> f64 {
        match self.time_ns > 0.0 {
            true => self.busy_ns * 100.0 / self.time_ns,
            false => 0.0,
        }
    }
}

/// The devices in the record; empty if any job has `disk_util=0`.
pub(super) fn devices<'a>(set: &JobSet, record: &'a RunRecord) -> Vec<DeviceUse<'a>> {
    let mut found: Vec<DeviceUse<'a>> = Vec::new();
    if set.jobs.iter().any(|job| !job.settings.results.disk_util) {
        return found;
    }
    for cell in &record.cells {
        let Some(figures) = &cell.device else {
            continue;
        };
        let name = figures.source.as_str();
        let at = found.iter().position(|it| it.name == name);
        let at = at.unwrap_or_else(|| {
            found.push(DeviceUse {
                name,
                ..DeviceUse::default()
            });
            found.len() - 1
        });
        let device = &mut found[at];
        device.reads = device.reads.saturating_add(figures.reads);
        device.writes = device.writes.saturating_add(figures.writes);
        device.read_bytes = device.read_bytes.saturating_add(figures.read_bytes);
        device.write_bytes = device.write_bytes.saturating_add(figures.write_bytes);
        // The record has a utilization for each wave, which is weighted by the wave's time.
        let time_ns = cell.run_time_ns as f64;
        device.time_ns += time_ns;
        device.busy_ns += time_ns * figures.utilization.unwrap_or_default();
    }
    found
}
