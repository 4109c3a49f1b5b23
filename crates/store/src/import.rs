//! Whole records: taken in at once or not at all.

use results::RunRecord;

use crate::StoreError;
use crate::check::check;
use crate::draft::Draft;
use crate::entry::not_json;
use crate::error::is_name_taken;
use crate::insert::insert;
use crate::store::Store;

/// What became of a record that was to be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// The store has it now.
    New(String),
    /// The store had the same record already.
    AlreadyThere(String),
}

impl Store {
    /// Takes in an exported record and tells its id.
    ///
    /// # Errors
    /// When it is no record, is damaged, or when another run has its id; the store is then as it
    /// was before.
    pub fn import(&mut self, json: &[u8]) -> Result<Imported, StoreError> {
        let record = match std::str::from_utf8(json) {
            Ok(text) => RunRecord::from_json(text)?,
            Err(error) => {
                return Err(StoreError::BadRecord {
                    reason: format!("it is not text: {error}"),
                });
            }
        };
        let id = record.id.clone();
        let entries = Draft::default().corrections(&record);
        let entries = entries.map_err(|error| StoreError::of(self.path(), not_json(error)))?;
        check(&record, &entries)?;
        match insert(&mut self.connection, &record, &entries) {
            Ok(()) => Ok(Imported::New(id)),
            // As text, in which a rate that is not a number is the same as itself.
            Err(error) if is_name_taken(&error) => match self.export(&id)? == record.to_json() {
                true => Ok(Imported::AlreadyThere(id)),
                false => Err(StoreError::OtherRun { id }),
            },
            Err(error) => Err(StoreError::of(self.path(), error)),
        }
    }
}
