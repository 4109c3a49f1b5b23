//! A store in a directory of its own, and runs to put into it.

use std::path::PathBuf;

use results::{CellRecord, IntervalRecord, RunEvent, RunRecord, Status};
use store::{RunWriter, Store};

use crate::sample;

pub struct TestStore {
    directory: tempfile::TempDir,
}

impl TestStore {
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// Where the disk's other users cannot hold up who writes.
    pub fn in_memory() -> Self {
        let directory = match std::path::Path::new("/dev/shm") {
            memory if memory.is_dir() => tempfile::tempdir_in(memory),
            _ => tempfile::tempdir(),
        };
        Self {
            directory: directory.unwrap(),
        }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("results.db")
    }

    /// Leaves a run as a killed process does: the lock file exists, but no process holds the lock.
    pub fn kill(&self, writer: RunWriter, record: &RunRecord) {
        drop(writer);
        let mut lock = self.path().into_os_string();
        lock.push(format!("-run-{}", record.id));
        std::fs::write(lock, "").unwrap();
    }

    pub fn store(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }
}

/// A complete run with a name of its own; later numbers begin later.
pub fn record(number: u32) -> RunRecord {
    let mut record = sample::record();
    record.started_at = format!("2026-11-21T02:{:02}:{:02}.042Z", number / 60, number % 60)
        .parse()
        .unwrap();
    record.id = format!("20261121-02{:02}{:02}-042-1f", number / 60, number % 60);
    record.cells[0].intervals = (0..5).map(interval).collect();
    record.estimates = results::estimates(&record.cells);
    record
}

pub fn interval(number: u64) -> IntervalRecord {
    let mut interval = sample::totals(100 + number, true);
    interval.at_ns = number * sample::SECOND;
    interval.length_ns = sample::SECOND;
    IntervalRecord::of(&interval, sample::NAMES)
}

/// The record as it is when its run begins.
pub fn beginning(record: &RunRecord) -> RunRecord {
    RunRecord {
        finished_at: None,
        status: Status::Interrupted,
        warnings: Vec::new(),
        cells: Vec::new(),
        estimates: Vec::new(),
        ..record.clone()
    }
}

pub fn begun(index: u32) -> RunEvent {
    RunEvent::CellStarted {
        index,
        count: 2,
        what: "a cell".into(),
        budget_left_ns: None,
    }
}

pub fn interval_event(cell: u32, interval: &IntervalRecord) -> RunEvent {
    RunEvent::Interval {
        cell,
        interval: interval.clone(),
    }
}

/// Tells all of a cell.
pub fn write_cell(writer: &RunWriter, cell: &CellRecord) {
    writer.event(&begun(cell.index));
    for interval in &cell.intervals {
        writer.event(&interval_event(cell.index, interval));
    }
    writer.event(&RunEvent::CellDone {
        record: Box::new(cell.clone()),
    });
}

/// Runs as a session does: begins, tells everything, finishes.
pub fn store_run(store: &Store, record: &RunRecord) {
    let writer = store.begin(&beginning(record)).unwrap();
    for cell in &record.cells {
        write_cell(&writer, cell);
    }
    for warning in &record.warnings {
        writer.event(&RunEvent::Warning {
            warning: warning.clone(),
        });
    }
    writer.finish(record).unwrap();
}
