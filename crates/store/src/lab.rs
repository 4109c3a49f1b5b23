//! Lab records in the store.

use results::{LabRecord, Timestamp};
use rusqlite::{Connection, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::column::json;
use crate::list::short_ids;
use crate::store::Store;

/// A lab in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabRow {
    /// Id of the lab.
    pub id: String,
    /// Shortest unique prefix of the id among labs and runs, at least up to the second of the
    /// start.
    pub short_id: String,
    /// Start of the lab.
    pub started_at: Timestamp,
    /// Title, one line.
    pub title: String,
    /// The workloads or other topics.
    pub sections: Vec<String>,
    /// The file systems.
    pub columns: Vec<String>,
    /// Ids of its runs, without duplicates. Some runs may have been removed.
    pub run_ids: Vec<String>,
    /// Kernel release of the host.
    pub kernel: String,
    /// Host name.
    pub host: String,
}

/// The part of a lab's record that a list needs; parsing only this keeps long lists fast.
#[derive(Debug, Deserialize)]
struct LabSummary {
    id: String,
    started_at: Timestamp,
    title: String,
    #[serde(default)]
    environment: Machine,
    columns: Vec<NamedColumn>,
    sections: Vec<LabRuns>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Machine {
    kernel: String,
    host: String,
}

#[derive(Debug, Deserialize)]
struct NamedColumn {
    name: String,
}

#[derive(Debug, Deserialize)]
struct LabRuns {
    heading: String,
    #[serde(default)]
    runs: Vec<Vec<String>>,
}

impl Store {
    /// Stores the record of a lab. Its runs are stored separately.
    ///
    /// # Errors
    /// If the store cannot be written, or has a lab with this id.
    pub fn keep_lab(&mut self, record: &LabRecord) -> Result<(), StoreError> {
        let sql = "INSERT INTO labs (id, started_us, record) VALUES (?1, ?2, ?3)";
        let row = params![
            record.id,
            record.started_at.as_microsecond(),
            record.to_json()
        ];
        let result = self.connection.execute(sql, row);
        result.map_err(|error| StoreError::of(self.path(), error))?;
        Ok(())
    }

    /// The record of a lab, by id, by a prefix of the id, or `last` for the newest. If several ids
    /// have the prefix, the newest one.
    ///
    /// # Errors
    /// If there is no such lab, or it cannot be read.
    pub fn lab(&self, selector: &str) -> Result<LabRecord, StoreError> {
        // Every id begins with an empty text, and the newest one comes first.
        let beginning = if selector == "last" { "" } else { selector };
        // Not `LIKE`, which would interpret `%` and `_` of the selector.
        let sql = "SELECT record FROM labs WHERE substr(id, 1, length(?1)) = ?1 \
                   ORDER BY started_us DESC, id DESC LIMIT 1";
        let failed = |error| StoreError::of(self.path(), error);
        let mut query = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = query.query([beginning]).map_err(failed)?;
        let Some(row) = rows.next().map_err(failed)? else {
            return Err(StoreError::NoSuchLab {
                selector: selector.to_owned(),
                path: self.path().to_owned(),
            });
        };
        let text: String = row.get(0).map_err(failed)?;
        Ok(LabRecord::from_json(&text)?)
    }

    /// All labs, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn labs(&self) -> Result<Vec<LabRow>, StoreError> {
        labs(&self.connection).map_err(|error| StoreError::of(self.path(), error))
    }

    /// Removes the record of a lab, but not its runs.
    ///
    /// # Errors
    /// If there is no lab with this id, or the store cannot be written.
    pub fn remove_lab(&mut self, id: &str) -> Result<(), StoreError> {
        let removed = self
            .connection
            .execute("DELETE FROM labs WHERE id = ?1", [id]);
        match removed.map_err(|error| StoreError::of(self.path(), error))? {
            0 => Err(StoreError::NoSuchLab {
                selector: id.to_owned(),
                path: self.path().to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

pub(crate) fn labs(connection: &Connection) -> rusqlite::Result<Vec<LabRow>> {
    // One transaction, so that both queries see the same state.
    let connection = connection.unchecked_transaction()?;
    let short_ids = short_ids(&connection)?;
    let sql = "SELECT record FROM labs ORDER BY started_us DESC, id DESC";
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map([], |row| {
        let outline: LabSummary = json(row, 0)?;
        let short_id = short_ids.get(&outline.id);
        let short_id = short_id.unwrap_or(&outline.id).clone();
        Ok(LabRow::of(outline, short_id))
    })?;
    rows.collect()
}

impl LabRow {
    fn of(outline: LabSummary, short_id: String) -> Self {
        let mut run_ids: Vec<String> = Vec::new();
        for id in outline
            .sections
            .iter()
            .flat_map(|it| it.runs.iter().flatten())
        {
            if !run_ids.contains(id) {
                run_ids.push(id.clone());
            }
        }
        let sections = outline.sections.into_iter().map(|it| it.heading);
        Self {
            short_id,
            id: outline.id,
            started_at: outline.started_at,
            title: outline.title,
            sections: sections.collect(),
            columns: outline.columns.into_iter().map(|it| it.name).collect(),
            run_ids,
            kernel: outline.environment.kernel,
            host: outline.environment.host,
        }
    }
}
