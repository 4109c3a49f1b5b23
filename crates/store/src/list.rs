//! The list of runs in a store.

use std::collections::HashMap;
use std::path::Path;

use results::{ImportOrigin, Timestamp, WarningCode, WarningLevel};
use rusqlite::{Connection, Row};
use schemars::JsonSchema;
use serde::Serialize;

use crate::StoreError;
use crate::best::{Best, Headline, HeadlineUnit};
use crate::column::{damaged, json};
use crate::live::is_live;
use crate::load::load_rows;
use crate::status::RunStatus;
use crate::store::Store;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    /// Id of the run.
    pub id: String,
    /// Shortest unique prefix of the id among runs and labs, at least up to the second of the
    /// start.
    pub short_id: String,
    /// Start of the run. If `origin` has no time, the time of the import.
    pub started_at: Timestamp,
    /// The program whose results were imported; none for a run of pgmeter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<ImportOrigin>,
    /// End of the run; none if it is still running or was killed, and of imported results.
    pub finished_at: Option<Timestamp>,
    /// Status of the run.
    pub status: RunStatus,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// Names of the workloads, or of the imported results, without duplicates.
    pub workloads: Vec<String>,
    /// Paths of the targets, without duplicates.
    pub targets: Vec<String>,
    /// Types of the targets' file systems, without duplicates.
    pub file_systems: Vec<String>,
    /// Host that measured; empty if unknown.
    pub host: String,
    /// Release of the kernel that measured; empty if unknown.
    pub kernel: String,
    /// Number of complete cells, or of imported results.
    pub cell_count: u32,
    /// Operations per second of the best cell. The rate of a repeated cell is the mean of its
    /// complete repetitions. None if nothing was measured.
    pub per_second_max: Option<f64>,
    /// Bytes per second, chosen like `per_second_max`; none if nothing was measured.
    pub bytes_per_second_max: Option<f64>,
    /// The most informative rate, in a unit that suits the workload; none if nothing was measured.
    pub headline: Option<Headline>,
    /// Note of the user.
    pub note: String,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Reasons to doubt the results: the codes of the run's warnings, without notes.
    pub doubts: Vec<WarningCode>,
}

/// Selects runs that meet all conditions.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Text in a workload's name, ignoring case.
    pub workload: Option<String>,
    /// Text in a target's path.
    pub target: Option<String>,
    /// Tags that the run must have.
    pub tags: Vec<String>,
    /// Status of the run.
    pub status: Option<RunStatus>,
    /// Earliest start.
    pub since: Option<Timestamp>,
    /// Maximum number of runs; the newest are kept.
    pub limit: Option<usize>,
}

impl Filter {
    fn takes(&self, row: &RunRow) -> bool {
        let has_workload = |wanted: &String| {
            let wanted = wanted.to_lowercase();
            let mut names = row.workloads.iter();
            names.any(|name| name.to_lowercase().contains(&wanted))
        };
        let has_target = |wanted: &String| {
            row.targets
                .iter()
                .any(|path| path.contains(wanted.as_str()))
        };
        self.workload.as_ref().is_none_or(has_workload)
            && self.target.as_ref().is_none_or(has_target)
            && self.tags.iter().all(|tag| row.tags.contains(tag))
            && self.status.is_none_or(|status| status == row.status)
    }
}

impl Store {
    /// The runs that match the filter, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        list(self.path(), &self.connection, filter)
            .map_err(|error| StoreError::of(self.path(), error))
    }
}

fn list(path: &Path, connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<RunRow>> {
    // One transaction, so that all queries see the same state.
    let connection = connection.unchecked_transaction()?;
    let short_ids = short_ids(&connection)?;
    let mut tags = tags(&connection)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE started_us >= ?1 ORDER BY started_us DESC, id DESC"
    );
    let since_us = filter.since.map_or(i64::MIN, Timestamp::as_microsecond);
    let mut query = connection.prepare_cached(&sql)?;
    let rows = query.query_map([since_us], |row| {
        let (key, mut run) = read_row(path, row)?;
        run.tags = tags.remove(&key).unwrap_or_default();
        if let Some(short_id) = short_ids.get(&run.id) {
            run.short_id.clone_from(short_id);
        }
        add_partial_rates((&connection, path), key, &mut run)?;
        Ok(run)
    })?;
    // Errors pass the filter, so that they are reported instead of hidden.
    let wanted = rows.filter(|row| row.as_ref().map_or(true, |row| filter.takes(row)));
    wanted.take(filter.limit.unwrap_or(usize::MAX)).collect()
}

/// The columns that [`read_row`] reads.
pub(crate) const COLUMNS: &str = "key, id, started_at, finished_at, status, owner, command, \
    workloads, targets, file_systems, cell_count, note, host, per_second_max, \
    bytes_per_second_max, kernel, rate_of, rate, origin, \
    (SELECT json_group_array(DISTINCT code) FROM warnings WHERE warnings.run = key)";

/// Adds the rates of a killed run that completed no cell, from its intervals.
pub(crate) fn add_partial_rates(
    at: (&Connection, &Path),
    key: i64,
    run: &mut RunRow,
) -> rusqlite::Result<()> {
    // Only these runs, because loading all rows of a run is slow.
    if run.status == RunStatus::Interrupted && run.per_second_max.is_none() {
        let best = Best::of(&load_rows(at, key)?.cells);
        run.per_second_max = best.per_second_max;
        run.bytes_per_second_max = best.bytes_per_second_max;
        run.headline = best.headline;
    }
    Ok(())
}

/// A row of [`COLUMNS`] with its key. Tags and the short id are filled in elsewhere.
pub(crate) fn read_row(path: &Path, row: &Row) -> rusqlite::Result<(i64, RunRow)> {
    let key = row.get(0)?;
    let id: String = row.get(1)?;
    let owner: Option<String> = row.get(5)?;
    let status: String = row.get(4)?;
    let status = RunStatus::of(&status, owner.as_deref(), is_live(path, &id));
    let mut doubts: Vec<WarningCode> = json(row, 19)?;
    doubts.retain(|code| code.level() == WarningLevel::Warning);
    let run = RunRow {
        short_id: id.clone(),
        id,
        started_at: stored_time(row, 2)?,
        origin: match row.get::<_, Option<String>>(18)? {
            Some(_) => Some(json(row, 18)?),
            None => None,
        },
        finished_at: row
            .get::<_, Option<String>>(3)?
            .map(|_| stored_time(row, 3))
            .transpose()?,
        status: status.ok_or_else(|| damaged(4, "this is not the status of a run"))?,
        command: json(row, 6)?,
        workloads: json(row, 7)?,
        targets: json(row, 8)?,
        file_systems: json(row, 9)?,
        cell_count: row.get(10)?,
        note: row.get(11)?,
        host: row.get(12)?,
        per_second_max: row.get(13)?,
        bytes_per_second_max: row.get(14)?,
        kernel: row.get(15)?,
        headline: headline(row)?,
        tags: Vec::new(),
        doubts,
    };
    Ok((key, run))
}

fn headline(row: &Row) -> rusqlite::Result<Option<Headline>> {
    let (of, per_second): (Option<String>, Option<f64>) = (row.get(16)?, row.get(17)?);
    let Some((of, per_second)) = of.zip(per_second) else {
        return Ok(None);
    };
    let of = HeadlineUnit::of(&of).ok_or_else(|| damaged(16, "this is no unit of a rate"))?;
    Ok(Some(Headline { of, per_second }))
}

/// Parses a column with a time.
pub(crate) fn stored_time(row: &Row, column: usize) -> rusqlite::Result<Timestamp> {
    parsed(row, column, |text| text.parse().ok())
}

/// Parses a text column.
fn parsed<T>(row: &Row, column: usize, parse: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| damaged(column, format!("`{text}` is not a time")))
}

fn tags(connection: &Connection) -> rusqlite::Result<HashMap<i64, Vec<String>>> {
    let mut query = connection.prepare_cached("SELECT run, tag FROM tags ORDER BY run, tag")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut tags: HashMap<i64, Vec<String>> = HashMap::new();
    for row in rows {
        let (run, tag) = row?;
        tags.entry(run).or_default().push(tag);
    }
    Ok(tags)
}

/// Length of `20261121-045905`, the start of a run to the second.
const SECOND_LENGTH: usize = 15;

/// The shortest unique prefix of each id of a run or lab.
pub(crate) fn short_ids(connection: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    let sql = "SELECT id FROM runs UNION SELECT id FROM labs ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    let ids = query.query_map([], |row| row.get(0))?;
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
    // In sorted order, only the two neighbors can share the longest prefix.
    let short = |index: usize| {
        let id = &ids[index];
        let before = index.checked_sub(1).map(|before| ids[before].as_str());
        let after = ids.get(index + 1).map(String::as_str);
        (id.clone(), shortest(id, before.into_iter().chain(after)))
    };
    Ok((0..ids.len()).map(short).collect())
}

/// The shortest prefix of an id that none of its neighbors has.
pub(crate) fn shortest<'a>(id: &str, neighbors: impl Iterator<Item = &'a str>) -> String {
    let common_length = |other: &str| {
        let pairs = id.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let common = neighbors.map(common_length).max().unwrap_or(0);
    id.chars().take((common + 1).max(SECOND_LENGTH)).collect()
}
