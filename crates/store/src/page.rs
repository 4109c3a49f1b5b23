//! A part of the list of runs, found by the database: what a page that is scrolled asks for.

use std::path::Path;

use results::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::StoreError;
use crate::list::{COLUMNS, RunRow, add_best, listed_row};
use crate::live::live_ids;
use crate::status::RunStatus;
use crate::store::Store;

/// What runs are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunOrder {
    /// When they began.
    #[default]
    Started,
    /// Names of their workloads.
    Workload,
    /// Paths of their targets.
    Target,
    /// Names of the file systems.
    FileSystem,
    /// How they ended.
    Status,
    /// The rate that tells most.
    Rate,
    /// Operations per second, the best of all cells.
    Operations,
    /// Bytes per second, the best of all cells.
    Bytes,
    /// How many cells are complete.
    Cells,
    /// The machine.
    Host,
    /// The kernel's release.
    Kernel,
    /// Their note.
    Note,
}

impl RunOrder {
    const fn column(self) -> &'static str {
        match self {
            Self::Started => "started_us",
            Self::Workload => "workloads",
            Self::Target => "targets",
            Self::FileSystem => "file_systems",
            Self::Status => "status",
            Self::Rate => "rate",
            Self::Operations => "per_second_max",
            Self::Bytes => "bytes_per_second_max",
            Self::Cells => "cell_count",
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::Note => "note",
        }
    }
}

/// Which runs a part of the list has; those for which everything holds that is asked.
#[derive(Debug, Clone, Default)]
pub struct RunQuery {
    /// Each of these words is in the id, a workload, a target, a file system, the machine, the
    /// kernel, the command, the note or a tag, in any case.
    pub words: Vec<String>,
    /// A workload's name contains this, in any case.
    pub workload: Option<String>,
    /// A target's path contains this, in any case.
    pub target: Option<String>,
    /// It has all of these tags.
    pub tags: Vec<String>,
    /// It ended so.
    pub status: Option<RunStatus>,
    /// It began then or later.
    pub since: Option<Timestamp>,
    /// It began before.
    pub until: Option<Timestamp>,
    /// What it is sorted by.
    pub order: RunOrder,
    /// Whether the smallest comes first.
    pub is_rising: bool,
    /// So many are left out at the beginning.
    pub offset: usize,
    /// No more than so many.
    pub limit: usize,
}

/// A part of the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunPage {
    /// How many runs the store has.
    pub total_count: u64,
    /// How many of them are as asked.
    pub matching_count: u64,
    /// How many of these are left out at the beginning.
    pub offset: u64,
    /// The runs, in the order that was asked for.
    pub runs: Vec<RunRow>,
}

impl JsonDocument for RunPage {
    const FORMAT: &'static str = "pgmeter-serve-runs/1";
}

impl Store {
    /// A part of the list of runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn page(&self, query: &RunQuery) -> Result<RunPage, StoreError> {
        page(self.path(), &self.connection, query)
            .map_err(|error| StoreError::of(self.path(), error))
    }

    /// A run in a few words.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub fn row(&self, selector: &str) -> Result<RunRow, StoreError> {
        let run = self.select(selector)?;
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE key = ?1");
        let row = || {
            let store = self.connection.unchecked_transaction()?;
            let mut query = store.prepare_cached(&sql)?;
            let row = query.query_row([run.key], |row| listed_row(self.path(), row))?;
            complete(&store, row)
        };
        row().map_err(|error| StoreError::of(self.path(), error))
    }
}

fn page(path: &Path, connection: &Connection, query: &RunQuery) -> rusqlite::Result<RunPage> {
    // All queries see the same state, whatever others write.
    let store = connection.unchecked_transaction()?;
    let condition = Condition::of(query, || live_ids(path, &store))?;
    let count = |sql: &str, values: &[Value]| -> rusqlite::Result<u64> {
        let mut query = store.prepare_cached(sql)?;
        let count: i64 = query.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    };
    let total_count = count("SELECT count(*) FROM runs", &[])?;
    let sql = format!("SELECT count(*) FROM runs WHERE {}", condition.sql);
    let matching_count = count(&sql, &condition.values)?;
    let direction = if query.is_rising { "ASC" } else { "DESC" };
    // Runs without a figure come last either way.
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE {} ORDER BY {column} IS NULL, {column} {direction}, \
         started_us {direction}, id {direction} LIMIT ? OFFSET ?",
        condition.sql,
        column = query.order.column(),
    );
    let number = |count: usize| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let mut values = condition.values;
    values.extend([number(query.limit), number(query.offset)]);
    let mut statement = store.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(&values), |row| listed_row(path, row))?;
    let rows = rows.map(|row| complete(&store, row?));
    Ok(RunPage {
        total_count,
        matching_count,
        offset: query.offset as u64,
        runs: rows.collect::<rusqlite::Result<_>>()?,
    })
}

/// Adds what other tables know of a run.
fn complete(store: &Connection, listed: (i64, RunRow)) -> rusqlite::Result<RunRow> {
    let (key, mut row) = listed;
    let mut tags = store.prepare_cached("SELECT tag FROM tags WHERE run = ?1 ORDER BY tag")?;
    row.tags = tags
        .query_map([key], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    row.short_id = short_id(store, &row.id)?;
    add_best(store, key, &mut row)?;
    Ok(row)
}

/// The shortest beginning that tells a run from its neighbors.
fn short_id(store: &Connection, id: &str) -> rusqlite::Result<String> {
    let neighbors = [
        "SELECT max(id) FROM runs WHERE id < ?1",
        "SELECT min(id) FROM runs WHERE id > ?1",
        "SELECT max(id) FROM labs WHERE id < ?1",
        "SELECT min(id) FROM labs WHERE id > ?1",
    ];
    let mut others: Vec<String> = Vec::new();
    for sql in neighbors {
        let mut query = store.prepare_cached(sql)?;
        let found: Option<Option<String>> = query.query_row([id], |row| row.get(0)).optional()?;
        others.extend(found.flatten());
    }
    let others = others.iter().map(String::as_str);
    Ok(crate::list::shortest(id, others))
}

/// What is asked of a row, as SQL.
struct Condition {
    sql: String,
    values: Vec<Value>,
}

impl Condition {
    fn of(
        query: &RunQuery,
        live: impl FnOnce() -> rusqlite::Result<Vec<String>>,
    ) -> rusqlite::Result<Self> {
        let mut it = Self {
            sql: "1".to_owned(),
            values: Vec::new(),
        };
        for word in &query.words {
            it.word(word);
        }
        for (column, text) in [("workloads", &query.workload), ("targets", &query.target)] {
            if let Some(text) = text {
                let sql = format!("instr(lower({column}), ?) > 0");
                it.and(&sql, [Value::Text(in_json(text))]);
            }
        }
        for tag in &query.tags {
            let sql = "EXISTS (SELECT 1 FROM tags WHERE tags.run = runs.key AND tag = ?)";
            it.and(sql, [Value::Text(tag.clone())]);
        }
        let limits = [(">=", query.since), ("<", query.until)];
        for (relation, time) in limits {
            if let Some(time) = time {
                let sql = format!("started_us {relation} ?");
                it.and(&sql, [Value::Integer(time.as_microsecond())]);
            }
        }
        if let Some(status) = query.status {
            it.status(status, live)?;
        }
        Ok(it)
    }

    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }

    fn word(&mut self, word: &str) {
        let plain = Value::Text(word.to_lowercase());
        let quoted = Value::Text(in_json(word));
        let sql = "(instr(id, ?) > 0 OR instr(lower(workloads), ?) > 0 \
                   OR instr(lower(targets), ?) > 0 OR instr(lower(command), ?) > 0 \
                   OR instr(lower(file_systems), ?) > 0 OR instr(lower(host), ?) > 0 \
                   OR instr(lower(kernel), ?) > 0 OR instr(lower(note), ?) > 0 \
                   OR EXISTS (SELECT 1 FROM tags WHERE tags.run = runs.key \
                              AND instr(lower(tag), ?) > 0))";
        let mut values = vec![plain.clone()];
        values.extend(std::iter::repeat_n(quoted, 4));
        values.extend(std::iter::repeat_n(plain, 4));
        self.and(sql, values);
    }

    /// Runs that were killed are stored as going on.
    fn status(
        &mut self,
        status: RunStatus,
        live: impl FnOnce() -> rusqlite::Result<Vec<String>>,
    ) -> rusqlite::Result<()> {
        let stored = Value::Text(status.as_str().to_owned());
        let lists_live = matches!(status, RunStatus::Running | RunStatus::Interrupted);
        let live = if lists_live { live()? } else { Vec::new() };
        let marks = vec!["?"; live.len()].join(", ");
        let live = live.into_iter().map(Value::Text);
        match status {
            RunStatus::Running => self.and(&format!("id IN ({marks})"), live),
            RunStatus::Interrupted => {
                let sql = format!("(status = ? OR status = 'running' AND id NOT IN ({marks}))");
                self.and(&sql, std::iter::once(stored).chain(live));
            }
            RunStatus::Complete | RunStatus::Failed => self.and("status = ?", [stored]),
        }
        Ok(())
    }
}

/// A text as it stands within the JSON of a column, in small letters.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text.to_lowercase()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
