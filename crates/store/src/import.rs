//! Import of whole records, in one transaction.

use results::RunRecord;

use crate::StoreError;
use crate::check::check;
use crate::draft::RunDraft;
use crate::entry::json_error;
use crate::error::is_name_taken;
use crate::insert::insert;
use crate::store::Store;

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// The record was added.
    New(String),
    /// The store already had the same record.
    AlreadyStored(String),
}

impl Store {
    /// Imports an exported record.
    ///
    /// # Errors
    /// If it is not a record, is damaged, or another run has its id. The store is then unchanged.
    pub fn import(&mut self, json: &[u8]) -> Result<Imported, StoreError> {
        let record = match std::str::from_utf8(json) {
            Ok(text) => RunRecord::from_json(text)?,
            Err(error) => {
                return Err(StoreError::BadRecord {
                    reason: format!("it is not text: {error}"),
                });
            }
        };
        self.add(&record)
    }

    /// Adds a complete record.
    ///
    /// # Errors
    /// If it is damaged, or another run has its id. The store is then unchanged.
    pub fn add(&mut self, record: &RunRecord) -> Result<Imported, StoreError> {
        let id = record.id.clone();
        let entries = RunDraft::default().corrections(record);
        let entries = entries.map_err(|error| StoreError::of(self.path(), json_error(error)))?;
        // Before the store is locked, so that a bad record costs other processes nothing.
        check(record, &entries)?;
        match insert(&mut self.connection, record, &entries) {
            Ok(()) => Ok(Imported::New(id)),
            Err(error) if is_name_taken(&error) => match is_same(&self.load(&id)?, record) {
                true => Ok(Imported::AlreadyStored(id)),
                false => Err(StoreError::DuplicateId { id }),
            },
            Err(error) => Err(StoreError::of(self.path(), error)),
        }
    }
}

/// `true` if both records are equal, or have the same results of another program.
fn is_same(stored: &RunRecord, record: &RunRecord) -> bool {
    match (&stored.import, &record.import) {
        // The time of the import may differ, and a later version may read more of the text.
        (Some(stored), Some(import)) => stored.sources == import.sources,
        // Compared as text, in which a rate that is not a number equals itself.
        _ => stored.to_json() == record.to_json(),
    }
}
