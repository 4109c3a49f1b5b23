//! What labs came to.

use results::LabRecord;
use rusqlite::params;

use crate::StoreError;
use crate::store::Store;

impl Store {
    /// Keeps the record of a lab, whose runs are kept by themselves.
    ///
    /// # Errors
    /// When the store cannot be written, or has a lab of that name.
    pub fn keep_lab(&mut self, record: &LabRecord) -> Result<(), StoreError> {
        let sql = "INSERT INTO labs (id, started_us, record) VALUES (?1, ?2, ?3)";
        let row = params![
            record.id,
            record.started_at.as_microsecond(),
            record.to_json()
        ];
        let kept = self.connection.execute(sql, row);
        kept.map_err(|error| StoreError::of(self.path(), error))?;
        Ok(())
    }

    /// The record of a lab: by its id, by the beginning of that, where several begin so the newest
    /// of them, or the newest of all as `last`.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn lab(&self, selector: &str) -> Result<LabRecord, StoreError> {
        let beginning = if selector == "last" { "" } else { selector };
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
}
