//! Which runs go on: each holds a lock on a file beside the store until its process has ended,
//! however that ends. Numbers of processes mean nothing in another container; locks do.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::check::is_id;
use crate::status::RunStatus;

/// So often is tried again what raced with another process.
const ATTEMPTS: u32 = 16;

/// The lock of a run that goes on in this process.
#[derive(Debug)]
pub(crate) struct LiveRun {
    path: PathBuf,
    _locked: File,
}

impl LiveRun {
    /// Locks; none where no lock can be had, so that the owner's process must tell.
    pub(crate) fn begin(store: &Path, id: &str) -> Option<Self> {
        let path = lock_path(store, id)?;
        for _ in 0..ATTEMPTS {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(OFlags::NOFOLLOW.bits() as i32)
                .open(&path)
                .ok()?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                return None;
            }
            // Whoever forgets ended runs may have removed it meanwhile.
            if is_at(&file, &path) {
                return Some(Self {
                    path,
                    _locked: file,
                });
            }
        }
        None
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        // An unlocked file that stays is forgotten later.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a run's process holds its lock; none where there is no lock to ask.
pub(crate) fn is_live(store: &Path, id: &str) -> Option<bool> {
    let file = open(&lock_path(store, id)?)?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Some(false),
        Err(Errno::WOULDBLOCK) => Some(true),
        Err(_) => None,
    }
}

/// The runs that go on, the oldest first.
pub(crate) fn live_ids(store: &Path, connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT id, owner FROM runs WHERE owner IS NOT NULL AND status = 'running' \
               ORDER BY started_us, id";
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut live = Vec::new();
    for row in rows {
        let (id, owner): (String, String) = row?;
        let status = RunStatus::of("running", Some(&owner), is_live(store, &id));
        if status == Some(RunStatus::Running) {
            live.push(id);
        }
    }
    Ok(live)
}

/// Forgets who made the runs whose processes were killed, and removes their locks.
pub(crate) fn forget_ended(store: &Path, connection: &Connection) -> rusqlite::Result<()> {
    let mut query = connection.prepare("SELECT id FROM runs WHERE owner IS NOT NULL")?;
    let ids = query.query_map([], |row| row.get(0))?;
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
    for id in ids {
        let Some(path) = lock_path(store, &id) else {
            continue;
        };
        let Some(file) = open(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() && is_at(&file, &path) {
            connection.execute("UPDATE runs SET owner = NULL WHERE id = ?1", params![id])?;
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

fn lock_path(store: &Path, id: &str) -> Option<PathBuf> {
    // A store from elsewhere may hold anything for a name.
    if !is_id(id) {
        return None;
    }
    let mut path = OsString::from(store);
    path.push(format!("-run-{id}"));
    Some(PathBuf::from(path))
}

fn open(path: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags).open(path).ok()
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(opened), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (opened.dev(), opened.ino()) == (named.dev(), named.ino())
}
