//! Labs in the list of runs: all runs of a lab as one row.

use results::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use schemars::JsonSchema;
use serde::Serialize;

use crate::StoreError;
use crate::list::stored_time;
use crate::store::Store;

/// A lab with all its runs, as one row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoldedLab {
    /// Tag of its runs.
    pub tag: String,
    /// Id of its record; null if the lab has not ended, was killed, or repeats a published
    /// experiment.
    pub id: Option<String>,
    /// Title in its record.
    pub title: Option<String>,
    /// Names of the workloads of its runs, sorted.
    pub workloads: Vec<String>,
    /// File systems of its runs, sorted.
    pub file_systems: Vec<String>,
    /// Number of its runs so far.
    pub run_count: u32,
    /// Number of its runs that have ended.
    pub ended_count: u32,
    /// Start of its first run.
    pub started_at: Timestamp,
    /// End of its newest ended run.
    pub finished_at: Option<Timestamp>,
}

impl Store {
    /// The lab whose runs have this tag; `None` if there are none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn folded_lab(&self, tag: &str) -> Result<Option<FoldedLab>, StoreError> {
        let lab = || {
            // One transaction, so that all queries see the same state.
            let store = self.connection.unchecked_transaction()?;
            folded(&store, tag)
        };
        lab().map_err(|error| StoreError::of(self.path(), error))
    }
}

fn folded(store: &Connection, tag: &str) -> rusqlite::Result<Option<FoldedLab>> {
    let sql = "SELECT count(*), count(finished_at), min(started_us), \
               min(started_at), max(finished_at) \
               FROM runs JOIN tags ON tags.run = runs.key WHERE tag = ?1";
    let mut query = store.prepare_cached(sql)?;
    let found = query.query_row([tag], |row| {
        let run_count: u32 = row.get(0)?;
        let has_runs = run_count > 0;
        has_runs.then(|| counted(row, tag)).transpose()
    })?;
    let Some((mut lab, started_us)) = found else {
        return Ok(None);
    };
    lab.workloads = distinct(store, "workloads", tag)?;
    lab.file_systems = distinct(store, "file_systems", tag)?;
    (lab.id, lab.title) = record_of(store, tag, started_us)?.unzip();
    Ok(Some(lab))
}

fn counted(row: &Row, tag: &str) -> rusqlite::Result<(FoldedLab, i64)> {
    let finished: Option<String> = row.get(4)?;
    let lab = FoldedLab {
        tag: tag.to_owned(),
        id: None,
        title: None,
        workloads: Vec::new(),
        file_systems: Vec::new(),
        run_count: row.get(0)?,
        ended_count: row.get(1)?,
        started_at: stored_time(row, 3)?,
        finished_at: finished.map(|_| stored_time(row, 4)).transpose()?,
    };
    Ok((lab, row.get(2)?))
}

/// The values in a column with JSON arrays of all runs with the tag.
fn distinct(store: &Connection, column: &str, tag: &str) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT DISTINCT value FROM runs JOIN tags ON tags.run = runs.key, json_each({column}) \
         WHERE tag = ?1 ORDER BY value"
    );
    let mut query = store.prepare_cached(&sql)?;
    query.query_map([tag], |row| row.get(0))?.collect()
}

/// Id and title of the record that contains a run with the tag, the first of which started then.
fn record_of(
    store: &Connection,
    tag: &str,
    first_started_us: i64,
) -> rusqlite::Result<Option<(String, String)>> {
    // A lab begins before its first run. Only the last few labs before it are searched, because
    // the list is polled and records are long. Several, because labs may run at the same time.
    let sql = "SELECT id, coalesce(record ->> '$.title', '') FROM ( \
                   SELECT id, record FROM labs WHERE started_us <= ?2 \
                   ORDER BY started_us DESC LIMIT 4) \
               WHERE EXISTS (SELECT 1 FROM runs JOIN tags ON tags.run = runs.key \
                             WHERE tag = ?1 AND instr(record, runs.id) > 0) LIMIT 1";
    let mut query = store.prepare_cached(sql)?;
    query
        .query_row((tag, first_started_us), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
}
