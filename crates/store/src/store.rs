//! The store: one file, opened by whoever lists, loads or begins runs.

use std::path::{Path, PathBuf};

use results::RunRecord;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::journal::Journal;
use crate::live::is_live;
use crate::place::shares_device;
use crate::status::RunStatus;
use crate::{StoreError, Writer, open};

/// Longer texts are no tags.
const TAG_LENGTH_MAX: usize = 64;

/// The results store: one SQLite file, which several processes may use at once.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    pub(crate) connection: Connection,
}

impl Store {
    /// Opens the store, and makes it and the directories above it where there is none. An older
    /// format is brought up to date.
    ///
    /// # Errors
    /// When the file is something else, damaged, from a later version, or cannot be written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            path: path.to_owned(),
            connection: open::open(path)?,
        })
    }

    /// Opens a store that is there, also where it cannot be written; none where there is none.
    ///
    /// # Errors
    /// When the file is something else, damaged, from a later version, or cannot be read.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StoreError> {
        let opened = open::open_to_read(path)?;
        Ok(opened.map(|connection| Self {
            path: path.to_owned(),
            connection,
        }))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the store is on the file system of `target`, or on that block device, so that
    /// what it writes is measured too. Partitions of a device and layers above it are not seen.
    #[must_use]
    pub fn lies_on(&self, target: &Path) -> bool {
        shares_device(&self.path, target)
    }

    /// Enters a run that begins now in this process.
    ///
    /// # Errors
    /// When the store cannot be written, or has a run of that name.
    pub fn begin(&self, record: &RunRecord) -> Result<Writer, StoreError> {
        let connection = open::open(&self.path)?;
        let journal = Journal::begin(self.path.clone(), connection, record)?;
        Writer::start(journal).map_err(|error| StoreError::of_io(&self.path, &error))
    }

    /// Removes a run with everything that belongs to it, and returns its id.
    ///
    /// # Errors
    /// When there is no such run, when it goes on and that was not allowed for by
    /// `even_running`, or when the store cannot be written.
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
            if status == Some(RunStatus::Running) && !even_running {
                return Ok(false);
            }
            store.execute("DELETE FROM runs WHERE key = ?1", [run.key])?;
            store.commit()?;
            // What cannot be given back now stays for the next run.
            let _ = give_space_back(connection);
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
    /// When there is no such run, or the store cannot be written.
    pub fn set_note(&mut self, selector: &str, note: &str) -> Result<String, StoreError> {
        let run = self.select(selector)?;
        let sql = "UPDATE runs SET note = ?2 WHERE key = ?1";
        self.change(|store| store.execute(sql, params![run.key, note]))?;
        Ok(run.id)
    }

    /// Puts a tag on a run, which may have it already. Returns the run's id.
    ///
    /// # Errors
    /// When it is no tag, there is no such run, or the store cannot be written.
    pub fn add_tag(&mut self, selector: &str, tag: &str) -> Result<String, StoreError> {
        check_tag(tag)?;
        let run = self.select(selector)?;
        let sql = "INSERT OR IGNORE INTO tags (run, tag) VALUES (?1, ?2)";
        self.change(|store| store.execute(sql, params![run.key, tag]))?;
        Ok(run.id)
    }

    /// Takes a tag off a run, which need not have it. Returns the run's id.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be written.
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

/// Makes the file as small as what is in it.
fn give_space_back(connection: &Connection) -> rusqlite::Result<()> {
    // Each step gives back one page.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}

/// Tags stand side by side in lists.
fn check_tag(tag: &str) -> Result<(), StoreError> {
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
