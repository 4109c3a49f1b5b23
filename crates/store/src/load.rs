//! Converts rows back to a record.

use std::path::Path;

use results::{
    CellRecord, EstimateRecord, IntervalRecord, RunRecord, Status, Warning, WarningCode, doubt,
    estimates,
};
use rusqlite::Connection;

use crate::StoreError;
use crate::cell::StoredCell;
use crate::column::{damaged, json};
use crate::live::is_live;
use crate::status::RunStatus;
use crate::store::Store;

impl Store {
    /// The record of a run, equal to the stored one.
    ///
    /// A run that is still running or was killed is returned as interrupted, with the results so
    /// far. The cell being measured has only the values that its intervals provide.
    ///
    /// # Errors
    /// If there is no such run, or its rows are damaged.
    pub fn load(&self, selector: &str) -> Result<RunRecord, StoreError> {
        let run = self.select(selector)?;
        load((&self.connection, self.path()), run.key)
            .map_err(|error| StoreError::of(self.path(), error))
    }

    /// The record of a run as one JSON document, the same as `pgmeter run --json` writes.
    ///
    /// # Errors
    /// Same as [`Store::load`].
    pub fn export(&self, selector: &str) -> Result<String, StoreError> {
        Ok(self.load(selector)?.to_json())
    }
}

/// The cell that was being measured when the run last wrote to the store.
struct InterruptedCell {
    index: u32,
    intervals: Vec<IntervalRecord>,
}

fn load((connection, path): (&Connection, &Path), run: i64) -> rusqlite::Result<RunRecord> {
    // One transaction, so that all queries see the same state.
    load_rows((&*connection.unchecked_transaction()?, path), run)
}

/// The record, read within one transaction.
pub(crate) fn load_rows(
    (store, path): (&Connection, &Path),
    run: i64,
) -> rusqlite::Result<RunRecord> {
    let (mut record, stored, status) = load_header((store, path), run)?;
    let (cells, open) = cells(store, run)?;
    record.cells = cells;
    // By the stored status: estimates are written only at the end of a run.
    if stored == RunStatus::Running.as_str() {
        record.fill_in_keys();
        record.estimates = estimates(&record.cells);
        add_open_cell(&mut record, open, status);
    } else {
        record.estimates = stored_estimates(store, run)?;
        record.fill_in_keys();
    }
    Ok(record)
}

/// The record without cells and estimates, the stored status, and the actual status.
pub(crate) fn load_header(
    (store, path): (&Connection, &Path),
    run: i64,
) -> rusqlite::Result<(RunRecord, String, RunStatus)> {
    let sql = "SELECT record, finished_at, status, owner FROM runs \
               JOIN headers ON headers.run = runs.key WHERE key = ?1";
    let mut query = store.prepare_cached(sql)?;
    let (mut record, stored, status) = query.query_row([run], |row| {
        let header: String = row.get(0)?;
        let mut record = RunRecord::from_json(&header).map_err(|error| damaged(0, error))?;
        let finished_at: Option<String> = row.get(1)?;
        let finished_at = finished_at.map(|text| text.parse()).transpose();
        record.finished_at = finished_at.map_err(|_| damaged(1, "this is not a time"))?;
        let (stored, owner): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        // The record of a running run has the status interrupted.
        let status = RunStatus::of(&stored, owner.as_deref(), is_live(path, &record.id));
        Ok((record, stored, status))
    })?;
    let status = status.ok_or_else(|| damaged(2, "this is not the status of a run"))?;
    record.status = match status {
        RunStatus::Complete => Status::Complete,
        RunStatus::Failed => Status::Failed,
        RunStatus::Interrupted | RunStatus::Running => Status::Interrupted,
    };
    record.warnings = warnings(store, run)?;
    Ok((record, stored, status))
}

/// Adds the results of the incomplete cell, with a warning.
fn add_open_cell(record: &mut RunRecord, open: Option<InterruptedCell>, status: RunStatus) {
    let text = match status {
        RunStatus::Running => "the run is still running; these are its results so far",
        _ => "the run was killed; its record has what was stored until then",
    };
    let code = WarningCode::CellCutShort;
    record.warnings.push(Warning::of_run(code.clone(), text));
    let Some(open) = open.filter(|open| !open.intervals.is_empty()) else {
        return;
    };
    let Some(planned) = record.plan.cell(open.index) else {
        return;
    };
    let cell = CellRecord::of_intervals(planned, &record.plan, open.intervals);
    let doubts = doubt(&cell, &record.environment, &record.plan);
    record.warnings.extend(doubts);
    let message = "the results are sums over the intervals, so percentiles are missing";
    record
        .warnings
        .push(Warning::of_cell(code, cell.index, message));
    record.cells.push(cell);
}

fn warnings(store: &Connection, run: i64) -> rusqlite::Result<Vec<Warning>> {
    let sql = "SELECT code, message, cell FROM warnings WHERE run = ?1 ORDER BY position";
    let mut query = store.prepare_cached(sql)?;
    let rows = query.query_map([run], |row| {
        Ok(Warning {
            code: row.get::<_, String>(0)?.into(),
            message: row.get(1)?,
            cell: row.get(2)?,
        })
    })?;
    rows.collect()
}

fn stored_estimates(store: &Connection, run: i64) -> rusqlite::Result<Vec<EstimateRecord>> {
    let sql = "SELECT figures FROM estimates WHERE run = ?1 ORDER BY position";
    let mut query = store.prepare_cached(sql)?;
    query.query_map([run], |row| json(row, 0))?.collect()
}

/// The complete cells, and the last one if it is incomplete.
fn cells(
    store: &Connection,
    run: i64,
) -> rusqlite::Result<(Vec<CellRecord>, Option<InterruptedCell>)> {
    let sql = "SELECT key, cell_index, figures FROM cells WHERE run = ?1 ORDER BY position";
    let mut query = store.prepare_cached(sql)?;
    let mut rows = query.query([run])?;
    let mut complete = Vec::new();
    let mut open = None;
    while let Some(row) = rows.next()? {
        let key = row.get(0)?;
        let intervals = intervals(store, key)?;
        match row.get::<_, Option<String>>(2)? {
            Some(figures) => {
                let histograms = histograms(store, key)?;
                let stored = StoredCell {
                    figures,
                    histograms,
                };
                complete.push(
                    stored
                        .record(intervals)
                        .map_err(|error| damaged(2, error))?,
                );
            }
            None => {
                open = Some(InterruptedCell {
                    index: row.get(1)?,
                    intervals,
                });
            }
        }
    }
    Ok((complete, open))
}

fn intervals(store: &Connection, cell: i64) -> rusqlite::Result<Vec<IntervalRecord>> {
    let sql = "SELECT figures FROM intervals WHERE cell = ?1 ORDER BY position";
    let mut query = store.prepare_cached(sql)?;
    query.query_map([cell], |row| json(row, 0))?.collect()
}

fn histograms(store: &Connection, cell: i64) -> rusqlite::Result<Vec<Vec<u8>>> {
    let sql = "SELECT bytes FROM histograms WHERE cell = ?1 ORDER BY number";
    let mut query = store.prepare_cached(sql)?;
    query.query_map([cell], |row| row.get(0))?.collect()
}
