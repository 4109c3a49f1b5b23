//! Writes the events of a run: collects them for a short time, then writes all in one transaction.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use results::RunRecord;
use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;
use crate::draft::{PersistedEvent, RunDraft};
use crate::entry::{EventRows, apply, finish_run, json_error};
use crate::error::is_name_taken;
use crate::header::RunHeader;
use crate::insert::insert_record;
use crate::live::{RunLock, clear_ended_owners};
use crate::location::identity;
use crate::open::checkpoint;

/// Time for which events are collected. A killed process loses at most this much, in addition to
/// the interval being measured.
const BATCH_TIME: Duration = Duration::from_millis(400);
/// Maximum pause after a failure.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// A longer write-ahead log is checkpointed between two cells.
const LOG_BYTES_MAX: u64 = 256 << 20;

/// Writes one run over one connection.
#[derive(Debug)]
pub(crate) struct RunJournal {
    path: PathBuf,
    /// Device and inode of the file at the start of the run.
    identity: Option<(u64, u64)>,
    connection: Connection,
    /// Lock held until the run ends; `None` if locks are not available.
    live: Option<RunLock>,
    run: i64,
    draft: RunDraft,
    pending: Vec<EventRows>,
    /// Time at which the pending entries are written.
    due: Option<Instant>,
    /// Pause between attempts after a failure; `None` while writing works.
    pause: Option<Duration>,
    /// An error that retrying cannot fix.
    fatal_error: Option<rusqlite::Error>,
}

impl RunJournal {
    /// Adds the run, marked as running.
    pub(crate) fn begin(
        path: PathBuf,
        mut connection: Connection,
        record: &RunRecord,
    ) -> Result<Self, StoreError> {
        let failed = |error| match is_name_taken(&error) {
            true => StoreError::DuplicateId {
                id: record.id.clone(),
            },
            false => StoreError::of(&path, error),
        };
        // Before other processes can see the run.
        let live = RunLock::begin(&path, &record.id);
        let begin = |connection: &mut Connection| -> rusqlite::Result<i64> {
            // A checkpoint flushes the file, so it must not run while a cell is measured.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            let header = RunHeader::of(record).map_err(json_error)?;
            let owner =
                units::json_line(&results::ProcessIdentity::current()).map_err(json_error)?;
            // A lock taken at the first write would fail immediately if another process has written
            // meanwhile.
            let store = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            clear_ended_owners(&path, &store)?;
            let run = header.insert(&store, &owner)?;
            store.commit()?;
            Ok(run)
        };
        let run = begin(&mut connection).map_err(failed)?;
        Ok(Self {
            identity: identity(&path),
            path,
            connection,
            live,
            run,
            draft: RunDraft::default(),
            pending: Vec::new(),
            due: None,
            pause: None,
            fatal_error: None,
        })
    }

    /// Writes events until the sender is gone.
    pub(crate) fn keep(mut self, events: &Receiver<PersistedEvent>) -> Self {
        loop {
            let received = match self.due {
                // Without pending entries, the thread sleeps until an event, to avoid disturbing
                // the workers.
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match received {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => self.write_pending(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if !self.pending.is_empty() {
            self.write_pending();
        }
        self
    }

    fn take(&mut self, event: PersistedEvent) {
        let cell_is_done = matches!(event, PersistedEvent::CellDone(_));
        match self.draft.entries(event) {
            Ok(entries) => self.pending.extend(entries),
            Err(error) => self.fatal_error = Some(json_error(error)),
        }
        let now = Instant::now();
        // The first event sets the time: the following ones are collected until then.
        let due = *self.due.get_or_insert(now + BATCH_TIME);
        // Frequent events do not postpone the writing.
        if due <= now {
            self.write_pending();
        }
        if cell_is_done {
            self.checkpoint_log();
        }
    }

    /// Writes the pending entries; keeps them for later if that fails.
    fn write_pending(&mut self) {
        match self.write(&[]) {
            Ok(()) => {
                self.pending.clear();
                (self.due, self.pause) = (None, None);
            }
            Err(_) => {
                // A full disk may take long to be freed; the entries stay in memory until then.
                let pause = self.pause.map_or(Duration::from_secs(1), |pause| pause * 2);
                let pause = pause.min(PAUSE_MAX);
                self.due = Some(Instant::now() + pause);
                self.pause = Some(pause);
            }
        }
    }

    fn write(&mut self, more: &[EventRows]) -> rusqlite::Result<()> {
        let behavior = TransactionBehavior::Immediate;
        let store = self.connection.transaction_with_behavior(behavior)?;
        for entry in self.pending.iter().chain(more) {
            apply(&store, self.run, entry)?;
        }
        store.commit()
    }

    /// Checkpoints a large log. Between two cells, this flush does not disturb a measurement.
    fn checkpoint_log(&mut self) {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        if std::fs::metadata(log).is_ok_and(|found| found.len() > LOG_BYTES_MAX) {
            self.write_pending();
            checkpoint(&self.connection);
        }
    }

    /// Ends the run: makes the stored data equal to the record.
    pub(crate) fn finish(mut self, record: &RunRecord) -> Result<(), StoreError> {
        // Writes to a removed file succeed, but nobody would find them.
        if identity(&self.path) != self.identity {
            return Err(StoreError::Removed {
                path: self.path.clone(),
            });
        }
        let finished = match self.fatal_error.take() {
            Some(error) => Err(error),
            None => self.write_end(record),
        };
        finished.map_err(|error| StoreError::of(&self.path, error))?;
        // After the commit, so that no process sees the run without lock and without end.
        self.live.take();
        checkpoint(&self.connection);
        Ok(())
    }

    fn write_end(&mut self, record: &RunRecord) -> rusqlite::Result<()> {
        let corrections = self.draft.corrections(record).map_err(json_error)?;
        let header = RunHeader::of(record).map_err(json_error)?;
        let behavior = TransactionBehavior::Immediate;
        let store = self.connection.transaction_with_behavior(behavior)?;
        let is_stored = store
            .prepare_cached("SELECT 1 FROM runs WHERE key = ?1 AND id = ?2")?
            .exists(rusqlite::params![self.run, record.id])?;
        if !is_stored {
            // The run was removed while running; its results are stored anyway.
            drop(store);
            return insert_record(&mut self.connection, record);
        }
        for entry in self.pending.iter().chain(&corrections) {
            apply(&store, self.run, entry)?;
        }
        store.execute(
            // A cell that was begun but not measured is not in the record.
            "DELETE FROM cells WHERE run = ?1 AND position >= ?2",
            rusqlite::params![self.run, record.cells.len() as i64],
        )?;
        header.update(&store, self.run)?;
        finish_run(&store, self.run, record)?;
        store.commit()
    }
}
