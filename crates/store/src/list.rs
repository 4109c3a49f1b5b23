//! The runs of a store, in a few words each.

use std::collections::HashMap;
use std::path::Path;

use results::Timestamp;
use rusqlite::{Connection, Row};
use schemars::JsonSchema;
use serde::Serialize;

use crate::StoreError;
use crate::best::{Best, Headline, RateOf};
use crate::column::{damaged, json};
use crate::live::is_live;
use crate::load::load_rows;
use crate::status::RunStatus;
use crate::store::Store;

/// A run in a few words.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    /// The run's name.
    pub id: String,
    /// The shortest beginning of the name that is that of no other run or lab, at least the second
    /// in which the run began.
    pub short_id: String,
    /// When the run began.
    pub started_at: Timestamp,
    /// When the run ended; none while it goes on, and none when it was killed.
    pub finished_at: Option<Timestamp>,
    /// How it ended, if it did.
    pub status: RunStatus,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// The workloads' names, each once.
    pub workloads: Vec<String>,
    /// The targets' paths, each once.
    pub targets: Vec<String>,
    /// The types of the targets' file systems, each once.
    pub file_systems: Vec<String>,
    /// The machine that measured; empty when its name is not known.
    pub host: String,
    /// Release of the kernel that measured; empty when it is not known.
    pub kernel: String,
    /// How many cells are complete.
    pub cell_count: u32,
    /// Operations per second, the best of all cells; of a cell that was repeated, the mean of its
    /// complete repetitions. None when nothing was measured.
    pub per_second_max: Option<f64>,
    /// Bytes per second, as `per_second_max`; none when nothing was measured.
    pub bytes_per_second_max: Option<f64>,
    /// The rate that tells most, in the unit that means something for what was run; none when
    /// nothing was measured.
    pub headline: Option<Headline>,
    /// What somebody noted.
    pub note: String,
    /// Sorted.
    pub tags: Vec<String>,
}

/// Which runs to list; those for which everything holds that is asked.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// A workload's name contains this, in any case.
    pub workload: Option<String>,
    /// A target's path contains this.
    pub target: Option<String>,
    /// It has all of these tags.
    pub tags: Vec<String>,
    /// It ended so.
    pub status: Option<RunStatus>,
    /// It began then or later.
    pub since: Option<Timestamp>,
    /// No more than so many, the newest.
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
    /// The runs that the filter takes, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        list(self.path(), &self.connection, filter)
            .map_err(|error| StoreError::of(self.path(), error))
    }
}

fn list(path: &Path, connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<RunRow>> {
    // All queries see the same state, whatever others write.
    let connection = connection.unchecked_transaction()?;
    let short_ids = short_ids(&connection)?;
    let mut tags = tags(&connection)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE started_us >= ?1 ORDER BY started_us DESC, id DESC"
    );
    let since_us = filter.since.map_or(i64::MIN, Timestamp::as_microsecond);
    let mut query = connection.prepare_cached(&sql)?;
    let rows = query.query_map([since_us], |row| {
        let (key, mut run) = listed_row(path, row)?;
        run.tags = tags.remove(&key).unwrap_or_default();
        if let Some(short_id) = short_ids.get(&run.id) {
            run.short_id.clone_from(short_id);
        }
        add_best(&connection, key, &mut run)?;
        Ok(run)
    })?;
    let wanted = rows.filter(|row| row.as_ref().map_or(true, |row| filter.takes(row)));
    wanted.take(filter.limit.unwrap_or(usize::MAX)).collect()
}

/// The columns that [`listed_row`] reads.
pub(crate) const COLUMNS: &str = "key, id, started_at, finished_at, status, owner, command, \
    workloads, targets, file_systems, cell_count, note, host, per_second_max, \
    bytes_per_second_max, kernel, rate_of, rate";

/// The rates of a killed run that completed no cell, which has intervals at best.
pub(crate) fn add_best(store: &Connection, key: i64, run: &mut RunRow) -> rusqlite::Result<()> {
    if run.status == RunStatus::Interrupted && run.per_second_max.is_none() {
        let best = Best::of(&load_rows(store, key)?.cells);
        run.per_second_max = best.per_second_max;
        run.bytes_per_second_max = best.bytes_per_second_max;
        run.headline = best.headline;
    }
    Ok(())
}

/// A row of [`COLUMNS`] with its key; its tags and what the id is shortened to are elsewhere.
pub(crate) fn listed_row(path: &Path, row: &Row) -> rusqlite::Result<(i64, RunRow)> {
    let key = row.get(0)?;
    let id: String = row.get(1)?;
    let owner: Option<String> = row.get(5)?;
    let status: String = row.get(4)?;
    let status = RunStatus::of(&status, owner.as_deref(), is_live(path, &id));
    let run = RunRow {
        short_id: id.clone(),
        id,
        started_at: parsed(row, 2, |text| text.parse().ok())?,
        finished_at: row
            .get::<_, Option<String>>(3)?
            .map(|_| parsed(row, 3, |text| text.parse().ok()))
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
    };
    Ok((key, run))
}

fn headline(row: &Row) -> rusqlite::Result<Option<Headline>> {
    let (of, per_second): (Option<String>, Option<f64>) = (row.get(16)?, row.get(17)?);
    let Some((of, per_second)) = of.zip(per_second) else {
        return Ok(None);
    };
    let of = RateOf::of(&of).ok_or_else(|| damaged(16, "this is no unit of a rate"))?;
    Ok(Some(Headline { of, per_second }))
}

/// A column of text as what it stands for.
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

/// Length of `20261121-045905`: the second in which a run began.
const SECOND_LENGTH: usize = 15;

/// The shortest beginnings that tell runs and labs from each other.
pub(crate) fn short_ids(connection: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    let sql = "SELECT id FROM runs UNION SELECT id FROM labs ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    let ids = query.query_map([], |row| row.get(0))?;
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
    let short = |index: usize| {
        let id = &ids[index];
        let before = index.checked_sub(1).map(|before| ids[before].as_str());
        let after = ids.get(index + 1).map(String::as_str);
        (id.clone(), shortest(id, before.into_iter().chain(after)))
    };
    Ok((0..ids.len()).map(short).collect())
}

/// The shortest beginning of an id that is that of none of its neighbors.
pub(crate) fn shortest<'a>(id: &str, neighbors: impl Iterator<Item = &'a str>) -> String {
    let alike = |other: &str| {
        let pairs = id.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let common = neighbors.map(alike).max().unwrap_or(0);
    id.chars().take((common + 1).max(SECOND_LENGTH)).collect()
}
