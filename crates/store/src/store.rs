//! The store: one file that is opened to list, load or begin runs.

use std::path::{Path, PathBuf};

use results::RunRecord;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::journal::RunJournal;
use crate::live::is_live;
use crate::location::shares_device;
use crate::status::RunStatus;
use crate::{RunWriter, StoreError, open};

/// Maximum length of a tag, in characters.
const TAG_LENGTH_MAX: usize = 64;

/// The results store: one SQLite file, which several processes may use at the same time.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    pub(crate) connection: Connection,
}

impl Store {
    /// Opens the store; creates it and the directories above it if necessary. Upgrades an older
    /// format.
    ///
    /// # Errors
    /// If the file is not a store, is damaged, comes from a later version, or cannot be written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            path: path.to_owned(),
            connection: open::open(path)?,
        })
    }

    /// Opens an existing store, also if it cannot be written; `None` if it does not exist.
    ///
    /// # Errors
    /// If the file is not a store, is damaged, comes from a later version, or cannot be read.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StoreError> {
        let opened = open::open_to_read(path)?;
        Ok(opened.map(|connection| Self {
            path: path.to_owned(),
            connection,
        }))
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `true` if the store is on the file system of `target`, or on that block device, so that its
    /// writes are measured, too. Partitions of a device and layers above it are not detected.
    #[must_use]
    pub fn shares_storage_with(&self, target: &Path) -> bool {
        shares_device(&self.path, target)
    }

    /// Adds a run that starts now in this process.
    ///
    /// # Errors
    /// If the store cannot be written, or has a run with this id.
    pub fn begin(&self, record: &RunRecord) -> Result<RunWriter, StoreError> {
        // A separate connection, because the run is written by another thread.
        let connection = open::open(&self.path)?;
        let journal = RunJournal::begin(self.path.clone(), connection, record)?;
        RunWriter::start(journal).map_err(|error| StoreError::of_io(&self.path, &error))
    }

    /// Removes a run with all its data and returns its id.
    ///
    /// # Errors
    /// If there is no such run, if it is running and `even_running` is `false`, or if the store
    /// cannot be written.
    pub fn remove(&mut self, selector: &str, even_running: bool) -> Result<String, StoreError> {
        let run = self.select(selector)?;
        let id = run.id.clone();
        let is_live = is_live(&self.path, &id);
        let removed = self.change(|connection| {
            let behavior = TransactionBehavior::Immediate;
            let store = connection.transaction_with_behavior(behavior)?;
            let sql = "SELECT status, owner FROM runs WHERE key = ?1";
            let status = store.query_row(sql, [run.key], |row| {
                let (stored, owner): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                Ok(RunStatus::of(&stored, owner.as_deref(), is_live))
            })?;
            // Checked within the transaction, so that the run cannot begin or end in between.
            if status == Some(RunStatus::Running) && !even_running {
                return Ok(false);
            }
            store.execute("DELETE FROM runs WHERE key = ?1", [run.key])?;
            store.commit()?;
            // Space that cannot be released now remains until the next removal.
            let _ = release_free_pages(connection);
            Ok(true)
        })?;
        match removed {
            true => Ok(id),
            false => Err(StoreError::Running { id }),
        }
    }

    /// Sets the note of a run; an empty text removes it. Returns the run's id.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be written.
    pub fn set_note(&mut self, selector: &str, note: &str) -> Result<String, StoreError> {
        let run = self.select(selector)?;
        let sql = "UPDATE runs SET note = ?2 WHERE key = ?1";
        self.change(|store| store.execute(sql, params![run.key, note]))?;
        Ok(run.id)
    }

    /// Adds a tag to a run, unless it already has it. Returns the run's id.
    ///
    /// # Errors
    /// If it is not a valid tag, there is no such run, or the store cannot be written.
    pub fn add_tag(&mut self, selector: &str, tag: &str) -> Result<String, StoreError> {
        check_tag(tag)?;
        let run = self.select(selector)?;
        let sql = "INSERT OR IGNORE INTO tags (run, tag) VALUES (?1, ?2)";
        self.change(|store| store.execute(sql, params![run.key, tag]))?;
        Ok(run.id)
    }

    /// Removes a tag from a run, if it has it. Returns the run's id.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be written.
    pub fn remove_tag(&mut self, selector: &str, tag: &str) -> Result<String, StoreError> {
        let run = self.select(selector)?;
        let sql = "DELETE FROM tags WHERE run = ?1 AND tag = ?2";
        self.change(|store| store.execute(sql, params![run.key, tag]))?;
        Ok(run.id)
    }

    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        change(&mut self.connection).map_err(|error| StoreError::of(&self.path, error))
    }
}

/// Returns free pages of the file to the file system.
fn release_free_pages(connection: &Connection) -> rusqlite::Result<()> {
    // Each step releases one page.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}

/// Checks a tag. Tags are listed next to each other, so they must not contain separators.
///
/// # Errors
/// If the tag is empty, too long or contains a separator.
pub fn check_tag(tag: &str) -> Result<(), StoreError> {
    let bad = |reason| {
        Err(StoreError::BadTag {
            tag: tag.chars().take(TAG_LENGTH_MAX).collect(),
            reason,
        })
    };
    if tag.is_empty() {
        return bad("it is empty");
    }
    if tag.chars().count() > TAG_LENGTH_MAX {
        return bad("it has more than 64 characters");
    }
    if tag.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == ',') {
        return bad("it has a space, a comma or a control character");
    }
    Ok(())
}
