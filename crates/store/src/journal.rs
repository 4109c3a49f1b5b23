//! What is to be written of a run, and when: gathered for a moment, then written all at once.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use results::RunRecord;
use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;
use crate::draft::{Draft, Told};
use crate::entry::{Entry, apply, finish_run, not_json};
use crate::error::is_name_taken;
use crate::header::Header;
use crate::insert::insert_record;
use crate::live::{LiveRun, forget_ended};
use crate::open::bring_in;
use crate::place::identity;

/// How long events are gathered; what a killed process loses at most, besides the interval that
/// it measured.
const GATHER: Duration = Duration::from_millis(400);
/// The longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// A longer write-ahead log is brought into the file between two cells.
const LOG_BYTES_MAX: u64 = 256 << 20;

/// What is written of one run, by one connection.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// The file as it was when the run began.
    identity: Option<(u64, u64)>,
    connection: Connection,
    /// Held until the run has ended; none where there are no locks.
    live: Option<LiveRun>,
    run: i64,
    draft: Draft,
    pending: Vec<Entry>,
    /// When the pending entries are written.
    due: Option<Instant>,
    /// After a failure, until it works again.
    pause: Option<Duration>,
    /// What cannot be mended by trying again.
    broken: Option<rusqlite::Error>,
}

impl Journal {
    /// Enters the run, which goes on from now.
    pub(crate) fn begin(
        path: PathBuf,
        mut connection: Connection,
        record: &RunRecord,
    ) -> Result<Self, StoreError> {
        let failed = |error| match is_name_taken(&error) {
            true => StoreError::OtherRun {
                id: record.id.clone(),
            },
            false => StoreError::of(&path, error),
        };
        // Before it can be listed.
        let live = LiveRun::begin(&path, &record.id);
        let begin = |connection: &mut Connection| -> rusqlite::Result<i64> {
            // Bringing the log into the file flushes it: not while a cell is measured.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            let header = Header::of(record).map_err(not_json)?;
            let owner = units::json_line(&results::Owner::current()).map_err(not_json)?;
            let store = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            forget_ended(&path, &store)?;
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
            draft: Draft::default(),
            pending: Vec::new(),
            due: None,
            pause: None,
            broken: None,
        })
    }

    /// Writes what is told until nobody can tell any more.
    pub(crate) fn keep(mut self, told: &Receiver<Told>) -> Self {
        loop {
            let received = match self.due {
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => told.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match received {
                Ok(told) => self.take(told),
                Err(RecvTimeoutError::Timeout) => self.write_pending(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if !self.pending.is_empty() {
            self.write_pending();
        }
        self
    }

    fn take(&mut self, told: Told) {
        let cell_is_done = matches!(told, Told::CellDone(_));
        match self.draft.entries(told) {
            Ok(entries) => self.pending.extend(entries),
            Err(error) => self.broken = Some(not_json(error)),
        }
        let now = Instant::now();
        let due = *self.due.get_or_insert(now + GATHER);
        // Whoever tells much and often does not put off the writing.
        if due <= now {
            self.write_pending();
        }
        if cell_is_done {
            self.shorten_log();
        }
    }

    /// Writes the pending entries, or keeps them for later.
    fn write_pending(&mut self) {
        match self.write(&[]) {
            Ok(()) => {
                self.pending.clear();
                (self.due, self.pause) = (None, None);
            }
            Err(_) => {
                let pause = self.pause.map_or(Duration::from_secs(1), |pause| pause * 2);
                let pause = pause.min(PAUSE_MAX);
                self.due = Some(Instant::now() + pause);
                self.pause = Some(pause);
            }
        }
    }

    fn write(&mut self, more: &[Entry]) -> rusqlite::Result<()> {
        let behavior = TransactionBehavior::Immediate;
        let store = self.connection.transaction_with_behavior(behavior)?;
        for entry in self.pending.iter().chain(more) {
            apply(&store, self.run, entry)?;
        }
        store.commit()
    }

    /// Between two cells a flush of the log disturbs nothing, where it has grown large.
    fn shorten_log(&mut self) {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        if std::fs::metadata(log).is_ok_and(|found| found.len() > LOG_BYTES_MAX) {
            self.write_pending();
            bring_in(&self.connection);
        }
    }

    /// Ends the run: makes what is stored the same as the record.
    pub(crate) fn finish(mut self, record: &RunRecord) -> Result<(), StoreError> {
        if identity(&self.path) != self.identity {
            return Err(StoreError::Gone {
                path: self.path.clone(),
            });
        }
        let finished = match self.broken.take() {
            Some(error) => Err(error),
            None => self.write_end(record),
        };
        finished.map_err(|error| StoreError::of(&self.path, error))?;
        self.live.take();
        bring_in(&self.connection);
        Ok(())
    }

    fn write_end(&mut self, record: &RunRecord) -> rusqlite::Result<()> {
        let corrections = self.draft.corrections(record).map_err(not_json)?;
        let header = Header::of(record).map_err(not_json)?;
        let behavior = TransactionBehavior::Immediate;
        let store = self.connection.transaction_with_behavior(behavior)?;
        let is_there = store
            .prepare_cached("SELECT 1 FROM runs WHERE key = ?1 AND id = ?2")?
            .exists(rusqlite::params![self.run, record.id])?;
        if !is_there {
            // Removed while it went on; what was measured is kept all the same.
            drop(store);
            return insert_record(&mut self.connection, record);
        }
        for entry in self.pending.iter().chain(&corrections) {
            apply(&store, self.run, entry)?;
        }
        store.execute(
            "DELETE FROM cells WHERE run = ?1 AND position >= ?2",
            rusqlite::params![self.run, record.cells.len() as i64],
        )?;
        header.update(&store, self.run)?;
        finish_run(&store, self.run, record)?;
        store.commit()
    }
}
