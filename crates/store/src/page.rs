//! Pages of the list of runs, sorted and filtered by the database, for a scrolled web page.

use std::path::Path;

use results::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use schemars::JsonSchema;
use serde::Serialize;

use crate::StoreError;
use crate::list::{COLUMNS, RunRow, add_partial_rates, read_row};
use crate::live::live_ids;
use crate::select::IS_LAB_TAG;
use crate::status::RunStatus;
use crate::store::Store;

/// Sort key of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunOrder {
    /// Start time.
    #[default]
    Started,
    /// Workload names.
    Workload,
    /// Target paths.
    Target,
    /// File system names.
    FileSystem,
    /// Status.
    Status,
    /// Most informative rate.
    Rate,
    /// Operations per second of the best cell.
    Operations,
    /// Bytes per second of the best cell.
    Bytes,
    /// Number of complete cells.
    Cells,
    /// Host name.
    Host,
    /// Kernel release.
    Kernel,
    /// Note.
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

/// Selects and sorts runs. A run must meet all conditions.
#[derive(Debug, Clone, Default)]
pub struct RunQuery {
    /// Words, each in the id, a workload, a target, a file system, the host, the kernel, the
    /// command, the note or a tag, ignoring case.
    pub words: Vec<String>,
    /// Text in a workload's name, ignoring case.
    pub workload: Option<String>,
    /// Exact name of a workload, or of the workload of a cell: the cells of a pack have the names
    /// of its workloads.
    pub workload_name: Option<String>,
    /// Text in a target's path, ignoring case.
    pub target: Option<String>,
    /// Exact paths of all targets, in their order.
    pub target_paths: Option<Vec<String>>,
    /// Exact types of the file systems, in their order.
    pub file_system_types: Option<Vec<String>>,
    /// Exact name of the host.
    pub host: Option<String>,
    /// Tags that the run must have.
    pub tags: Vec<String>,
    /// Status of the run.
    pub status: Option<RunStatus>,
    /// Earliest start.
    pub since: Option<Timestamp>,
    /// The run started before this time.
    pub until: Option<Timestamp>,
    /// Sort key.
    pub order: RunOrder,
    /// `true` for ascending order.
    pub is_ascending: bool,
    /// Number of runs to skip at the beginning.
    pub offset: usize,
    /// Maximum number of runs.
    pub limit: usize,
    /// Of the matching runs of a lab, only the newest one, which stands for the lab. The runs of a
    /// lab are found by their tag.
    pub folds_labs: bool,
}

/// SQL of the tag of a run's lab, or the id of a run that belongs to none.
fn lab_or_run() -> String {
    format!("coalesce((SELECT min(tag) FROM tags WHERE tags.run = runs.key AND {IS_LAB_TAG}), id)")
}

/// One page of the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunPage {
    /// Number of runs in the store. If labs are folded, the runs of a lab count as one, here and
    /// below.
    pub total_count: u64,
    /// Number of runs that meet the conditions.
    pub matching_count: u64,
    /// Number of matching runs skipped at the beginning.
    pub offset: u64,
    /// The runs, in the requested order.
    pub runs: Vec<RunRow>,
}

impl Store {
    /// One page of the list of runs.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn page(&self, query: &RunQuery) -> Result<RunPage, StoreError> {
        page(self.path(), &self.connection, query)
            .map_err(|error| StoreError::of(self.path(), error))
    }

    /// The list row of a run.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be read.
    pub fn row(&self, selector: &str) -> Result<RunRow, StoreError> {
        let run = self.select(selector)?;
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE key = ?1");
        let row = || {
            let store = self.connection.unchecked_transaction()?;
            let mut query = store.prepare_cached(&sql)?;
            let row = query.query_row([run.key], |row| read_row(self.path(), row))?;
            complete((&store, self.path()), row)
        };
        row().map_err(|error| StoreError::of(self.path(), error))
    }
}

fn page(path: &Path, connection: &Connection, query: &RunQuery) -> rusqlite::Result<RunPage> {
    // One transaction, so that all queries see the same state.
    let store = connection.unchecked_transaction()?;
    let condition = Condition::of(query, || live_ids(path, &store))?;
    let count = |sql: &str, values: &[Value]| -> rusqlite::Result<u64> {
        let mut query = store.prepare_cached(sql)?;
        let count: i64 = query.query_row(params_from_iter(values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    };
    let row = lab_or_run();
    let counted = if query.folds_labs { &row } else { "id" };
    let sql = format!("SELECT count(DISTINCT {counted}) FROM runs");
    let total_count = count(&sql, &[])?;
    let sql = format!("{sql} WHERE {}", condition.sql);
    let matching_count = count(&sql, &condition.values)?;
    let direction = if query.is_ascending { "ASC" } else { "DESC" };
    let rows = match query.folds_labs {
        true => format!(
            "(SELECT *, row_number() OVER (PARTITION BY {row} \
             ORDER BY started_us DESC, id DESC) AS place FROM runs WHERE {}) WHERE place = 1",
            condition.sql
        ),
        false => format!("runs WHERE {}", condition.sql),
    };
    // Runs without a value come last in both directions.
    let sql = format!(
        "SELECT {COLUMNS} FROM {rows} ORDER BY {column} IS NULL, {column} {direction}, \
         started_us {direction}, id {direction} LIMIT ? OFFSET ?",
        column = query.order.column(),
    );
    let number = |count: usize| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let mut values = condition.values;
    values.extend([number(query.limit), number(query.offset)]);
    let mut statement = store.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(&values), |row| read_row(path, row))?;
    let rows = rows.map(|row| complete((&store, path), row?));
    Ok(RunPage {
        total_count,
        matching_count,
        offset: query.offset as u64,
        runs: rows.collect::<rusqlite::Result<_>>()?,
    })
}

/// Adds the values of a run that are in other tables.
fn complete(
    (store, path): (&Connection, &Path),
    listed: (i64, RunRow),
) -> rusqlite::Result<RunRow> {
    let (key, mut row) = listed;
    let mut tags = store.prepare_cached("SELECT tag FROM tags WHERE run = ?1 ORDER BY tag")?;
    row.tags = tags
        .query_map([key], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    row.short_id = short_id(store, &row.id)?;
    add_partial_rates((store, path), key, &mut row)?;
    Ok(row)
}

/// The shortest prefix that distinguishes a run from its neighbors.
fn short_id(store: &Connection, id: &str) -> rusqlite::Result<String> {
    let neighbors = [
        // Four lookups in an index, instead of reading all ids for a page of few rows.
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

/// The conditions of a query, as SQL.
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
                // The columns hold JSON, in which quotes and backslashes are escaped.
                it.and(&sql, [Value::Text(in_json(text))]);
            }
        }
        if let Some(name) = &query.workload_name {
            let sql = "(EXISTS (SELECT 1 FROM json_each(workloads) WHERE value = ?) \
                       OR EXISTS (SELECT 1 FROM cells WHERE cells.run = runs.key \
                                  AND cells.workload = ?))";
            it.and(sql, [Value::Text(name.clone()), Value::Text(name.clone())]);
        }
        let lists = [
            ("targets", &query.target_paths),
            ("file_systems", &query.file_system_types),
        ];
        for (column, list) in lists {
            if let Some(list) = list {
                let text = serde_json::Value::from(list.clone()).to_string();
                it.and(&format!("{column} = ?"), [Value::Text(text)]);
            }
        }
        if let Some(host) = &query.host {
            it.and("host = ?", [Value::Text(host.clone())]);
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

    /// Killed runs are stored as running.
    fn status(
        &mut self,
        status: RunStatus,
        live: impl FnOnce() -> rusqlite::Result<Vec<String>>,
    ) -> rusqlite::Result<()> {
        let stored = Value::Text(status.as_str().to_owned());
        // Locks are examined only if the answer depends on them.
        let lists_live = matches!(status, RunStatus::Running | RunStatus::Interrupted);
        let live = if lists_live { live()? } else { Vec::new() };
        // Bound as values, because ids of imported runs come from elsewhere.
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

/// A text in lower case, as escaped in the JSON of a column.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text.to_lowercase()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
