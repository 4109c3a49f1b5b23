//! Rows of a run: prepared before the store is locked, and their SQL.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};

use results::{CellRecord, IntervalRecord, RunRecord, Warning};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::best::Best;
use crate::cell::StoredCell;
use crate::status::RunStatus;

/// Rows that follow from one event. They identify their cell by its position in the run, so that
/// writing them can be repeated after a failure.
#[derive(Debug, Clone)]
pub(crate) enum EventRows {
    /// A cell begins.
    CellStarted {
        /// Position of the cell in running order, 0-based.
        position: u32,
        /// Number of the cell in the plan.
        index: u32,
    },
    /// An interval is complete.
    Interval {
        /// Position of the cell.
        position: u32,
        /// Number of the interval in the cell, 0-based.
        number: u32,
        /// The interval as JSON.
        figures: String,
    },
    CellDone(Box<CompleteCell>),
    /// The plan has additional cells (JSON each).
    CellsAdded(Vec<String>),
    /// The run has a warning.
    Warning {
        /// Number of the warning in the run, 0-based.
        number: u32,
        warning: Warning,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct CompleteCell {
    /// Position of the cell in running order, 0-based.
    pub position: u32,
    /// Number of the cell in the plan.
    pub index: u32,
    /// Its record.
    pub stored: StoredCell,
    /// Number of its intervals that are already stored correctly; further stored ones are removed.
    pub kept_interval_count: u32,
    /// The intervals after those, as JSON.
    pub intervals: Vec<String>,
    /// Best rates of the run so far.
    pub best: Best,
}

impl CompleteCell {
    /// A complete cell. `fingerprints` are the fingerprints of the intervals that are already
    /// stored.
    pub(crate) fn of(
        position: u32,
        record: &CellRecord,
        fingerprints: &[u64],
        best: Best,
    ) -> serde_json::Result<Self> {
        let texts = record.intervals.iter().map(interval_text);
        let mut intervals = texts.collect::<serde_json::Result<Vec<String>>>()?;
        let is_unchanged =
            |(text, fingerprint): &(&String, &u64)| text_fingerprint(text) == **fingerprint;
        // Most intervals are already stored; only those that changed are written again.
        let kept_count = intervals
            .iter()
            .zip(fingerprints)
            .take_while(is_unchanged)
            .count();
        Ok(Self {
            position,
            index: record.index,
            stored: StoredCell::of(record)?,
            kept_interval_count: u32::try_from(kept_count).unwrap_or(u32::MAX),
            intervals: intervals.split_off(kept_count),
            best,
        })
    }
}

/// An interval, as stored.
pub(crate) fn interval_text(interval: &IntervalRecord) -> serde_json::Result<String> {
    units::json_line(interval)
}

/// Fingerprint of a text, to compare it with the stored one.
pub(crate) fn text_fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Writes the rows of an entry. Does nothing if the run was removed.
pub(crate) fn apply(store: &Connection, run: i64, entry: &EventRows) -> rusqlite::Result<()> {
    match entry {
        EventRows::CellStarted { position, index } => begin_cell(store, run, *position, *index),
        EventRows::Interval {
            position,
            number,
            figures,
        } => {
            // A retried write may find its own row.
            let sql = "INSERT OR REPLACE INTO intervals (cell, position, figures) \
                       SELECT key, ?3, ?4 FROM cells WHERE run = ?1 AND position = ?2";
            let mut insert = store.prepare_cached(sql)?;
            insert.execute(params![run, position, number, figures])?;
            Ok(())
        }
        EventRows::CellDone(done) => finish_cell(store, run, done),
        EventRows::CellsAdded(cells) => add_cells(store, run, cells),
        EventRows::Warning { number, warning } => insert_warning(store, run, *number, warning),
    }
}

fn begin_cell(store: &Connection, run: i64, position: u32, index: u32) -> rusqlite::Result<()> {
    // Selects from `runs`, so that nothing is inserted for a run that was removed.
    let sql = "INSERT OR IGNORE INTO cells (run, position, cell_index) \
               SELECT key, ?2, ?3 FROM runs WHERE key = ?1";
    store
        .prepare_cached(sql)?
        .execute(params![run, position, index])?;
    Ok(())
}

/// Adds cells to the plan, so that the record of a killed run describes its cells.
fn add_cells(store: &Connection, run: i64, cells: &[String]) -> rusqlite::Result<()> {
    // `[#]` is the place after the last element (`sqlite.org/json1.html`).
    let sql = "UPDATE headers SET record = json_insert(record, '$.plan.cells[#]', json(?2)) \
               WHERE run = ?1";
    let mut update = store.prepare_cached(sql)?;
    for cell in cells {
        update.execute(params![run, cell])?;
    }
    Ok(())
}

fn finish_cell(store: &Connection, run: i64, done: &CompleteCell) -> rusqlite::Result<()> {
    // Without intervals and without an event of its beginning, the cell has no row yet.
    begin_cell(store, run, done.position, done.index)?;
    let sql = "UPDATE cells SET cell_index = ?3, figures = ?4 WHERE run = ?1 AND position = ?2 \
               RETURNING key";
    let key: Option<i64> = store
        .prepare_cached(sql)?
        .query_row(
            params![run, done.position, done.index, done.stored.figures],
            |row| row.get(0),
        )
        .optional()?;
    // The run was removed meanwhile.
    let Some(cell) = key else { return Ok(()) };
    store
        .prepare_cached("DELETE FROM intervals WHERE cell = ?1 AND position >= ?2")?
        .execute(params![cell, done.kept_interval_count])?;
    let mut insert = store
        .prepare_cached("INSERT INTO intervals (cell, position, figures) VALUES (?1, ?2, ?3)")?;
    for (number, figures) in (done.kept_interval_count..).zip(&done.intervals) {
        insert.execute(params![cell, number, figures])?;
    }
    store
        // A correction may have fewer histograms than the stored cell.
        .prepare_cached("DELETE FROM histograms WHERE cell = ?1")?
        .execute([cell])?;
    let mut insert =
        store.prepare_cached("INSERT INTO histograms (cell, number, bytes) VALUES (?1, ?2, ?3)")?;
    for (number, bytes) in (0_i64..).zip(&done.stored.histograms) {
        insert.execute(params![cell, number, bytes])?;
    }
    let sql = "UPDATE runs SET per_second_max = ?2, bytes_per_second_max = ?3, rate_of = ?4, \
               rate = ?5, cell_count = (SELECT count(DISTINCT cell_index) FROM cells \
                             WHERE run = ?1 AND figures IS NOT NULL) WHERE key = ?1";
    let best = done.best;
    let headline = best.headline;
    store.prepare_cached(sql)?.execute(params![
        run,
        best.per_second_max,
        best.bytes_per_second_max,
        headline.map(|it| it.of.as_str()),
        headline.map(|it| it.per_second),
    ])?;
    Ok(())
}

fn insert_warning(
    store: &Connection,
    run: i64,
    number: u32,
    warning: &Warning,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO warnings (run, position, code, message, cell) \
               SELECT key, ?2, ?3, ?4, ?5 FROM runs WHERE key = ?1";
    let code = warning.code.as_str();
    store.prepare_cached(sql)?.execute(params![
        run,
        number,
        code,
        warning.message,
        warning.cell
    ])?;
    Ok(())
}

/// Writes the end of a run: status, warnings and estimates.
pub(crate) fn finish_run(
    store: &Transaction,
    run: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET status = ?2, finished_at = ?3, owner = NULL, cell_count = ?4, \
               per_second_max = ?5, bytes_per_second_max = ?6, rate_of = ?7, rate = ?8 \
               WHERE key = ?1";
    let best = match &record.import {
        Some(import) => Best::of_import(import),
        None => Best::of(&record.cells),
    };
    let headline = best.headline;
    // A classic program's cell has one record per phase.
    let cells_of_plan: BTreeSet<u32> = record.cells.iter().map(|cell| cell.index).collect();
    let imported = record.import.iter();
    let imported_count: usize = imported.map(|it| it.results.len()).sum();
    store.prepare_cached(sql)?.execute(params![
        run,
        RunStatus::from(record.status).as_str(),
        record.finished_at.map(|time| time.to_string()),
        (cells_of_plan.len() + imported_count) as i64,
        best.per_second_max,
        best.bytes_per_second_max,
        headline.map(|it| it.of.as_str()),
        headline.map(|it| it.per_second),
    ])?;
    // Replaced as a whole, because the final record may have fewer than were reported.
    for table in ["warnings", "estimates"] {
        store.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
    }
    for (number, warning) in (0..).zip(&record.warnings) {
        insert_warning(store, run, number, warning)?;
    }
    let mut insert = store
        .prepare_cached("INSERT INTO estimates (run, position, figures) VALUES (?1, ?2, ?3)")?;
    for (number, estimate) in (0_i64..).zip(&record.estimates) {
        let figures = units::json_line(estimate).map_err(json_error)?;
        insert.execute(params![run, number, figures])?;
    }
    Ok(())
}

/// Wraps a JSON error as a database error.
pub(crate) fn json_error(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
