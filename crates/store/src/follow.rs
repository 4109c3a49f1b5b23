//! Follows a running run: events stored since the last read.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use results::{
    IntervalRecord, Percentiles, ProcessIdentity, RunRecord, Status, Timestamp, Warning,
    upgrade_cell,
};
use rusqlite::{Connection, OptionalExtension};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::column::{damaged, json};
use crate::live::{is_live, live_ids};
use crate::load::load_header;
use crate::status::RunStatus;
use crate::store::Store;

/// Read position in a run. Later positions compare greater.
///
/// As text `CELL.STEP.WARNINGS`, each a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RunCursor {
    /// Position of the cell in running order, 0-based.
    pub cell: u32,
    /// 0 before the cell begins, 1 after its beginning, 2 after its first interval, and so on.
    pub step: u32,
    /// Number of warnings read.
    pub warnings: u32,
}

impl fmt::Display for RunCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.cell, self.step, self.warnings)
    }
}

impl FromStr for RunCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers = text.split('.').map(|number| number.parse::<u32>().ok());
        let mut next = || numbers.next().flatten().ok_or(());
        let it = Self {
            cell: next()?,
            step: next()?,
            warnings: next()?,
        };
        // A fourth number is an error: the text comes from a request.
        numbers.next().is_none().then_some(it).ok_or(())
    }
}

/// A stored event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredEvent {
    /// A cell begins.
    CellStarted {
        /// Position of the cell in running order, 0-based.
        position: u32,
        /// Number of the cell in the plan.
        index: u32,
    },
    /// An interval of the cell being measured is complete.
    Interval {
        /// Position of the cell in running order, 0-based.
        position: u32,
        /// Number of the cell in the plan.
        index: u32,
        /// Number of the interval in the cell, 0-based.
        number: u32,
        /// Results of the interval.
        interval: IntervalRecord,
    },
    /// A cell is complete.
    CellDone(Box<CellView>),
    /// The run has a warning.
    Warning(Warning),
}

/// Events of a run after a read position.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvents {
    /// Each event with the read position after it.
    pub events: Vec<(RunCursor, StoredEvent)>,
    /// Status of the run.
    pub status: RunStatus,
    /// End of the run; `None` before it.
    pub finished_at: Option<Timestamp>,
    /// `true` if the limit was reached, so that more events may follow.
    pub is_truncated: bool,
}

/// Main results of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellView {
    /// Position of the cell in running order, 0-based.
    #[serde(default)]
    pub position: u32,
    /// Number of the cell in the plan.
    pub index: u32,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, if all workers used the same one.
    #[serde(default)]
    pub access_spec: Option<String>,
    /// The target's path; several are separated by `, `.
    pub target: String,
    /// Engine that issued the I/O.
    pub engine: String,
    /// Use of the page cache.
    pub cache: String,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// Number of workers.
    pub workers: u32,
    /// Number of the repetition, 0-based.
    pub repetition: u32,
    /// Phase that was measured: `measure`, or a program's own phase.
    pub phase: String,
    /// How the cell ended.
    pub status: Status,
    /// Measured time, in nanoseconds.
    pub run_time_ns: u64,
    /// Results per operation.
    pub operations: BTreeMap<String, OperationView>,
    /// The operations that move bytes together, or all operations if none moves bytes.
    pub total: OperationView,
}

/// Results of one operation of a cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperationView {
    /// Successful operations.
    pub count: u64,
    /// Failed operations.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations per second.
    pub per_second: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Latencies.
    pub latency: LatencyView,
}

/// Latencies of one operation of a cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LatencyView {
    /// The arithmetic mean, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The largest, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Percentiles: latencies that this share of operations did not exceed.
    pub percentiles_ns: Percentiles,
}

/// Intervals of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredIntervals {
    /// Position of the cell in running order, 0-based.
    pub position: u32,
    /// Number of the cell in the plan.
    pub index: u32,
    /// `true` if the cell is complete, so that these are all its intervals.
    pub is_complete: bool,
    /// The intervals, in time order.
    pub intervals: Vec<IntervalRecord>,
}

/// A running run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    /// Id of the run.
    pub id: String,
    /// Process that makes the run.
    pub owner: ProcessIdentity,
}

impl Store {
    /// Events of a run after the read position `cursor`, at most `count_max`.
    ///
    /// # Errors
    /// If there is no such run, or its rows are damaged.
    pub fn since(
        &self,
        selector: &str,
        cursor: RunCursor,
        count_max: usize,
    ) -> Result<StoredEvents, StoreError> {
        let run = self.select(selector)?;
        let read = || {
            // Checked before reading the rows: if the run is over by now, they contain all of it.
            let is_live = is_live(self.path(), &run.id);
            let store = self.connection.unchecked_transaction()?;
            let mut reading = FollowedRows {
                store: &store,
                run: run.key,
                cursor,
                left: count_max,
                events: Vec::new(),
            };
            // First, because their position does not depend on a cell.
            reading.warnings()?;
            reading.cells()?;
            let (status, finished_at) = end(&store, run.key, is_live)?;
            Ok(StoredEvents {
                is_truncated: reading.left == 0,
                events: reading.events,
                status,
                finished_at,
            })
        };
        read().map_err(|error| StoreError::of(self.path(), error))
    }

    /// Read position after all events of a run stored so far.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be read.
    pub fn end_cursor(&self, selector: &str) -> Result<RunCursor, StoreError> {
        let run = self.select(selector)?;
        let cursor = end_cursor(&self.connection, run.key);
        cursor.map_err(|error| StoreError::of(self.path(), error))
    }

    /// The record of a run without its cells and estimates: plan and environment.
    ///
    /// # Errors
    /// Same as [`Store::load`].
    pub fn outline(&self, selector: &str) -> Result<RunRecord, StoreError> {
        let run = self.select(selector)?;
        let read = || {
            let store = self.connection.unchecked_transaction()?;
            Ok(load_header((&store, self.path()), run.key)?.0)
        };
        read().map_err(|error| StoreError::of(self.path(), error))
    }

    /// The intervals of a run after the read position `cursor`, and the read position after them.
    /// With `only`, the intervals of the cell at that position in running order. A complete cell
    /// returns all of its intervals, because they differ from those stored during the measurement.
    ///
    /// # Errors
    /// Same as [`Store::since`].
    pub fn intervals(
        &self,
        selector: &str,
        cursor: RunCursor,
        only: Option<u32>,
    ) -> Result<(Vec<StoredIntervals>, RunCursor), StoreError> {
        let run = self.select(selector)?;
        let read = || -> rusqlite::Result<(Vec<StoredIntervals>, RunCursor)> {
            let sql = "SELECT key, position, cell_index, figures IS NOT NULL FROM cells \
                       WHERE run = ?1 AND position >= ?2 AND position <= ?3 ORDER BY position";
            let (first, last) = (only.unwrap_or(cursor.cell), only.unwrap_or(u32::MAX));
            let store = self.connection.unchecked_transaction()?;
            // Read in the same transaction, so that no interval is skipped or returned twice.
            let next = end_cursor(&store, run.key)?;
            let mut query = store.prepare_cached(sql)?;
            let rows = query.query_map((run.key, first, last), |row| {
                let (key, position): (i64, u32) = (row.get(0)?, row.get(1)?);
                let is_complete = row.get(3)?;
                // Step 1 is the beginning of the cell, so interval N is step N + 2.
                let skipped = match is_complete || position > cursor.cell {
                    true => 0,
                    false => cursor.step.saturating_sub(1),
                };
                let sql = "SELECT figures FROM intervals WHERE cell = ?1 AND position >= ?2 \
                           ORDER BY position";
                let mut query = store.prepare_cached(sql)?;
                let intervals = query.query_map((key, skipped), |row| json(row, 0))?;
                Ok(StoredIntervals {
                    position,
                    index: row.get(2)?,
                    is_complete,
                    intervals: intervals.collect::<rusqlite::Result<_>>()?,
                })
            })?;
            Ok((rows.collect::<rusqlite::Result<_>>()?, next))
        };
        read().map_err(|error| StoreError::of(self.path(), error))
    }

    /// The complete cells of a run, in running order.
    ///
    /// # Errors
    /// Same as [`Store::since`].
    pub fn cells(&self, selector: &str) -> Result<Vec<CellView>, StoreError> {
        let run = self.select(selector)?;
        let read = || -> rusqlite::Result<Vec<CellView>> {
            let sql = "SELECT position, figures FROM cells WHERE run = ?1 \
                       AND figures IS NOT NULL ORDER BY position";
            let mut query = self.connection.prepare_cached(sql)?;
            let rows = query.query_map([run.key], |row| {
                cell_view(row.get(0)?, &row.get::<_, String>(1)?)
            })?;
            rows.collect()
        };
        read().map_err(|error| StoreError::of(self.path(), error))
    }

    /// The running runs, oldest first. Runs whose process is unknown are omitted.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn live_runs(&self) -> Result<Vec<LiveRun>, StoreError> {
        let read = || -> rusqlite::Result<Vec<LiveRun>> {
            let sql = "SELECT owner FROM runs WHERE id = ?1 AND owner IS NOT NULL";
            let mut query = self.connection.prepare_cached(sql)?;
            let mut found = Vec::new();
            for id in live_ids(self.path(), &self.connection)? {
                let owner: Option<Option<ProcessIdentity>> = query
                    .query_row([&id], |row| Ok(json(row, 0).ok()))
                    .optional()?;
                if let Some(owner) = owner.flatten() {
                    found.push(LiveRun { id, owner });
                }
            }
            Ok(found)
        };
        read().map_err(|error| StoreError::of(self.path(), error))
    }

    /// `true` if the run is still running.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be read.
    pub fn is_live(&self, selector: &str) -> Result<bool, StoreError> {
        let run = self.select(selector)?;
        let is_live = is_live(self.path(), &run.id);
        let end = end(&self.connection, run.key, is_live);
        let (status, _) = end.map_err(|error| StoreError::of(self.path(), error))?;
        Ok(status == RunStatus::Running)
    }

    /// A number that changes after each change of the store by another process.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        let number = self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0));
        number.map_err(|error| StoreError::of(self.path(), error))
    }
}

fn end_cursor(store: &Connection, run: i64) -> rusqlite::Result<RunCursor> {
    let sql = "SELECT count(*), (SELECT max(position) FROM cells WHERE run = ?1) \
               FROM warnings WHERE run = ?1";
    let (warnings, last): (u32, Option<u32>) = store
        .prepare_cached(sql)?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some(last) = last else {
        let start = RunCursor::default();
        return Ok(RunCursor { warnings, ..start });
    };
    let sql = "SELECT figures IS NOT NULL, (SELECT count(*) FROM intervals WHERE cell = key) \
               FROM cells WHERE run = ?1 AND position = ?2";
    let (is_complete, count): (bool, u32) = store
        .prepare_cached(sql)?
        .query_row((run, last), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match is_complete {
        true => RunCursor {
            cell: last.saturating_add(1),
            step: 0,
            warnings,
        },
        false => RunCursor {
            cell: last,
            step: count.saturating_add(1),
            warnings,
        },
    })
}

fn end(
    store: &Connection,
    run: i64,
    is_live: Option<bool>,
) -> rusqlite::Result<(RunStatus, Option<Timestamp>)> {
    let sql = "SELECT status, owner, finished_at FROM runs WHERE key = ?1";
    store.prepare_cached(sql)?.query_row([run], |row| {
        let (stored, owner): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let status = RunStatus::of(&stored, owner.as_deref(), is_live);
        let status = status.ok_or_else(|| damaged(0, "this is not the status of a run"))?;
        let finished_at: Option<String> = row.get(2)?;
        Ok((status, finished_at.and_then(|text| text.parse().ok())))
    })
}

/// Reads the rows after a read position.
struct FollowedRows<'a> {
    store: &'a Connection,
    run: i64,
    cursor: RunCursor,
    left: usize,
    events: Vec<(RunCursor, StoredEvent)>,
}

impl FollowedRows<'_> {
    fn push(&mut self, event: StoredEvent) {
        self.left = self.left.saturating_sub(1);
        self.events.push((self.cursor, event));
    }

    fn warnings(&mut self) -> rusqlite::Result<()> {
        let sql = "SELECT code, message, cell FROM warnings WHERE run = ?1 AND position >= ?2 \
                   ORDER BY position LIMIT ?3";
        let mut query = self.store.prepare_cached(sql)?;
        let limit = i64::try_from(self.left).unwrap_or(i64::MAX);
        let rows = query.query_map((self.run, self.cursor.warnings, limit), |row| {
            Ok(Warning {
                code: row.get::<_, String>(0)?.into(),
                message: row.get(1)?,
                cell: row.get(2)?,
            })
        })?;
        for warning in rows {
            self.cursor.warnings += 1;
            self.push(StoredEvent::Warning(warning?));
        }
        Ok(())
    }

    fn cells(&mut self) -> rusqlite::Result<()> {
        let sql = "SELECT key, position, cell_index, figures FROM cells \
                   WHERE run = ?1 AND position >= ?2 ORDER BY position";
        let mut query = self.store.prepare_cached(sql)?;
        let mut rows = query.query((self.run, self.cursor.cell))?;
        while self.left > 0
            && let Some(row) = rows.next()?
        {
            let (key, position, index): (i64, u32, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if position > self.cursor.cell {
                (self.cursor.cell, self.cursor.step) = (position, 0);
            }
            if self.cursor.step == 0 {
                self.cursor.step = 1;
                self.push(StoredEvent::CellStarted { position, index });
            }
            let figures: Option<String> = row.get(3)?;
            // The intervals of a complete cell replace those stored during the measurement. Most
            // are finer, so they do not continue the ones already read.
            if figures.is_none() {
                self.intervals(key, position, index)?;
            }
            // At the limit, the end of the cell stays for the next read.
            if let (Some(figures), true) = (figures, self.left > 0) {
                let view = cell_view(position, &figures)?;
                (self.cursor.cell, self.cursor.step) = (position + 1, 0);
                self.push(StoredEvent::CellDone(Box::new(view)));
            }
        }
        Ok(())
    }

    fn intervals(&mut self, cell: i64, position: u32, index: u32) -> rusqlite::Result<()> {
        let sql = "SELECT position, figures FROM intervals WHERE cell = ?1 AND position >= ?2 \
                   ORDER BY position LIMIT ?3";
        let mut query = self.store.prepare_cached(sql)?;
        let limit = i64::try_from(self.left).unwrap_or(i64::MAX);
        let first = self.cursor.step.saturating_sub(1);
        let rows = query.query_map((cell, first, limit), |row| Ok((row.get(0)?, json(row, 1)?)))?;
        for row in rows {
            let (number, interval): (u32, IntervalRecord) = row?;
            // From the row's number instead of a count, because intervals may have been replaced
            // meanwhile.
            self.cursor.step = number.saturating_add(2);
            self.push(StoredEvent::Interval {
                position,
                index,
                number,
                interval,
            });
        }
        Ok(())
    }
}

/// Main results of a stored cell.
fn cell_view(position: u32, figures: &str) -> rusqlite::Result<CellView> {
    let read = || -> serde_json::Result<CellView> {
        let mut value = units::parse_json(figures)?;
        upgrade_cell(&mut value);
        CellView::deserialize(value)
    };
    let view = read().map_err(|error| damaged(3, error))?;
    Ok(CellView { position, ..view })
}
