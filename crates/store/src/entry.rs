//! What is written about a run: rows made ready before the store is locked, and how they get in.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};

use results::{CellRecord, IntervalRecord, RunRecord, Warning};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::best::Best;
use crate::cell::StoredCell;
use crate::status::RunStatus;

/// Rows that follow from one event. They name their cell by its place in the run, so that they
/// can be tried again after a failure.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// A cell begins.
    CellBegun {
        /// 0-based, in the order of running.
        position: u32,
        /// The cell's number in the plan.
        index: u32,
    },
    /// An interval is complete.
    Interval {
        /// Of the cell.
        position: u32,
        /// 0-based within the cell.
        number: u32,
        /// JSON.
        figures: String,
    },
    /// A cell is complete.
    CellDone(Box<DoneCell>),
    /// The plan has more cells (JSON each).
    CellsAdded(Vec<String>),
    /// There is a doubt.
    Warning {
        /// 0-based within the run.
        number: u32,
        /// Which.
        warning: Warning,
    },
}

/// A complete cell.
#[derive(Debug, Clone)]
pub(crate) struct DoneCell {
    /// 0-based, in the order of running.
    pub position: u32,
    /// The cell's number in the plan.
    pub index: u32,
    /// Its record.
    pub stored: StoredCell,
    /// How many of its intervals are in the store as they should be; others there are removed.
    pub kept_interval_count: u32,
    /// The intervals behind those (JSON).
    pub intervals: Vec<String>,
    /// Of the run until here.
    pub best: Best,
}

impl DoneCell {
    /// A complete cell; `told` are the fingerprints of the intervals that the store has.
    pub(crate) fn of(
        position: u32,
        record: &CellRecord,
        told: &[u64],
        best: Best,
    ) -> serde_json::Result<Self> {
        let texts = record.intervals.iter().map(interval_text);
        let mut intervals = texts.collect::<serde_json::Result<Vec<String>>>()?;
        let alike = |(text, told): &(&String, &u64)| text_fingerprint(text) == **told;
        let kept = intervals.iter().zip(told).take_while(alike).count();
        Ok(Self {
            position,
            index: record.index,
            stored: StoredCell::of(record)?,
            kept_interval_count: u32::try_from(kept).unwrap_or(u32::MAX),
            intervals: intervals.split_off(kept),
            best,
        })
    }
}

/// An interval as the store keeps it.
pub(crate) fn interval_text(interval: &IntervalRecord) -> serde_json::Result<String> {
    units::json_line(interval)
}

/// Tells whether a text is the one that was stored.
pub(crate) fn text_fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Writes the rows of an entry; nothing happens when the run is not there any more.
pub(crate) fn apply(store: &Connection, run: i64, entry: &Entry) -> rusqlite::Result<()> {
    match entry {
        Entry::CellBegun { position, index } => begin_cell(store, run, *position, *index),
        Entry::Interval {
            position,
            number,
            figures,
        } => {
            let sql = "INSERT OR REPLACE INTO intervals (cell, position, figures) \
                       SELECT key, ?3, ?4 FROM cells WHERE run = ?1 AND position = ?2";
            let mut insert = store.prepare_cached(sql)?;
            insert.execute(params![run, position, number, figures])?;
            Ok(())
        }
        Entry::CellDone(done) => finish_cell(store, run, done),
        Entry::CellsAdded(cells) => add_cells(store, run, cells),
        Entry::Warning { number, warning } => insert_warning(store, run, *number, warning),
    }
}

fn begin_cell(store: &Connection, run: i64, position: u32, index: u32) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO cells (run, position, cell_index) \
               SELECT key, ?2, ?3 FROM runs WHERE key = ?1";
    store
        .prepare_cached(sql)?
        .execute(params![run, position, index])?;
    Ok(())
}

/// Adds cells to the plan, so that a killed run's record tells what its cells were.
fn add_cells(store: &Connection, run: i64, cells: &[String]) -> rusqlite::Result<()> {
    let sql = "UPDATE headers SET record = json_insert(record, '$.plan.cells[#]', json(?2)) \
               WHERE run = ?1";
    let mut update = store.prepare_cached(sql)?;
    for cell in cells {
        update.execute(params![run, cell])?;
    }
    Ok(())
}

fn finish_cell(store: &Connection, run: i64, done: &DoneCell) -> rusqlite::Result<()> {
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

/// Writes what is known of a run when it is over: its end, warnings and estimates.
pub(crate) fn finish_run(
    store: &Transaction,
    run: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET status = ?2, finished_at = ?3, owner = NULL, cell_count = ?4, \
               per_second_max = ?5, bytes_per_second_max = ?6, rate_of = ?7, rate = ?8 \
               WHERE key = ?1";
    let best = Best::of(&record.cells);
    let headline = best.headline;
    // A classic program's cell has a record for each phase.
    let cells_of_plan: BTreeSet<u32> = record.cells.iter().map(|cell| cell.index).collect();
    store.prepare_cached(sql)?.execute(params![
        run,
        RunStatus::from(record.status).as_str(),
        record.finished_at.map(|time| time.to_string()),
        cells_of_plan.len() as i64,
        best.per_second_max,
        best.bytes_per_second_max,
        headline.map(|it| it.of.as_str()),
        headline.map(|it| it.per_second),
    ])?;
    for table in ["warnings", "estimates"] {
        store.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
    }
    for (number, warning) in (0..).zip(&record.warnings) {
        insert_warning(store, run, number, warning)?;
    }
    let mut insert = store
        .prepare_cached("INSERT INTO estimates (run, position, figures) VALUES (?1, ?2, ?3)")?;
    for (number, estimate) in (0_i64..).zip(&record.estimates) {
        let figures = units::json_line(estimate).map_err(not_json)?;
        insert.execute(params![run, number, figures])?;
    }
    Ok(())
}

/// A record that cannot be written as JSON, as an error of the store's own language.
pub(crate) fn not_json(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
