//! The record in the format of fio's `--output-format=json`, with one job per cell.
//!
//! Values that pgmeter does not measure are omitted, so that no zero looks like a result. The only
//! exception is the submission latency: as in fio, zero means that it was not measured.
//!
//! Source: fio 3.33, `stat.c` and its output.

mod group;
mod job;
mod options;

use results::RunRecord;
use serde::{Serialize, Serializer};

use job::JobJson;

/// Returns the document, with a final line break.
#[must_use]
pub fn render(record: &RunRecord) -> String {
    units::json_page(&FioDocument::of(record)).expect("every key of the document is text")
}

#[derive(Debug, Serialize)]
struct FioDocument {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    jobs: Vec<JobJson>,
    disk_util: Vec<Disk>,
}

impl FioDocument {
    fn of(record: &RunRecord) -> Self {
        // fio takes the time when it prints its results. A killed run has no end.
        let end = record.finished_at.unwrap_or(record.started_at);
        Self {
            // fio's own tools only print the version. The name prevents confusion with results of
            // fio.
            version: format!("pgmeter-{}", record.pgmeter.version),
            timestamp: end.as_second(),
            timestamp_ms: end.as_millisecond(),
            // The format of `ctime`, which fio uses.
            time: end.strftime("%a %b %e %H:%M:%S %Y").to_string(),
            jobs: record
                .cells
                .iter()
                .map(|cell| JobJson::of(record, cell))
                .collect(),
            disk_util: disks(record),
        }
    }
}

/// Activity of a block device over all cells.
#[derive(Debug, Serialize)]
struct Disk {
    name: String,
    read_ios: u64,
    write_ios: u64,
    /// Percent of the time.
    util: f64,
    #[serde(skip)]
    time_ns: u64,
}

fn disks(record: &RunRecord) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    for cell in &record.cells {
        let Some(device) = &cell.device else { continue };
        let new = Disk {
            name: device.source.clone(),
            read_ios: device.reads,
            write_ios: device.writes,
            util: 100.0 * device.utilization.unwrap_or(0.0),
            time_ns: cell.run_time_ns,
        };
        match disks.iter_mut().find(|disk| disk.name == new.name) {
            Some(disk) => disk.merge(&new),
            None => disks.push(new),
        }
    }
    disks
}

impl Disk {
    fn merge(&mut self, other: &Self) {
        let time_ns = self.time_ns.saturating_add(other.time_ns);
        // Weighted by time, to get the share of the total time of all cells.
        let busy = self.util * self.time_ns as f64 + other.util * other.time_ns as f64;
        self.util = busy / time_ns.max(1) as f64;
        self.time_ns = time_ns;
        self.read_ios = self.read_ios.saturating_add(other.read_ios);
        self.write_ios = self.write_ios.saturating_add(other.write_ios);
    }
}

/// A JSON object that keeps the order of its keys.
#[derive(Debug, Clone)]
// A map would sort the keys of percentiles as text, with 10 before 5.
struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests;
