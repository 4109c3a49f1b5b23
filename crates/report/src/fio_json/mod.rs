//! The record as fio prints its results with `--output-format=json`: one job for each cell.
//!
//! What pgmeter does not measure is left out, so that no zero looks like a result. The one
//! exception is the submission latency, whose zeros mean here what they mean in fio: not measured.
//!
//! Source: fio 3.33, `stat.c` and its output.

mod group;
mod job;
mod options;

use results::RunRecord;
use serde::{Serialize, Serializer};

use job::Job;

/// The document with a final line break.
#[must_use]
pub fn render(record: &RunRecord) -> String {
    units::json_page(&Document::of(record)).expect("every key of the document is text")
}

#[derive(Debug, Serialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    jobs: Vec<Job>,
    disk_util: Vec<Disk>,
}

impl Document {
    fn of(record: &RunRecord) -> Self {
        let end = record.finished_at.unwrap_or(record.started_at);
        Self {
            // fio's own readers only print it; nobody shall take these figures for fio's.
            version: format!("pgmeter-{}", record.pgmeter.version),
            timestamp: end.as_second(),
            timestamp_ms: end.as_millisecond(),
            time: end.strftime("%a %b %e %H:%M:%S %Y").to_string(),
            jobs: record
                .cells
                .iter()
                .map(|cell| Job::of(record, cell))
                .collect(),
            disk_util: disks(record),
        }
    }
}

/// What a block device did in all cells together.
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
        let busy = self.util * self.time_ns as f64 + other.util * other.time_ns as f64;
        self.util = busy / time_ns.max(1) as f64;
        self.time_ns = time_ns;
        self.read_ios = self.read_ios.saturating_add(other.read_ios);
        self.write_ios = self.write_ios.saturating_add(other.write_ios);
    }
}

/// An object whose keys stand in their own order.
#[derive(Debug, Clone)]
struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests;
