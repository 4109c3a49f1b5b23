//! Detects running runs. Each holds a lock on a file next to the store, which the kernel releases
//! when the process ends in any way. Process IDs have no meaning in another container; locks do.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, params};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::check::is_id;
use crate::status::RunStatus;

/// Number of attempts when another process interferes.
const ATTEMPTS: u32 = 16;
/// Pause before another attempt.
const PAUSE: Duration = Duration::from_millis(2);

/// The lock of a run that this process makes.
#[derive(Debug)]
pub(crate) struct RunLock {
    path: PathBuf,
    _locked: File,
}

impl RunLock {
    /// Takes the lock. `None` if locking is not possible; then the owner's process ID is used.
    pub(crate) fn begin(store: &Path, id: &str) -> Option<Self> {
        let path = lock_path(store, id)?;
        for _ in 0..ATTEMPTS {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                // The store may be in a directory where other users can create links.
                .custom_flags(OFlags::NOFOLLOW.bits() as i32)
                .open(&path)
                .ok()?;
            // fcntl(2) would not do: its locks end when this process closes any descriptor of the
            // file, as `is_live` does.
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                // A process that checks for ended runs holds the lock for a moment.
                Err(Errno::WOULDBLOCK) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(_) => return None,
            }
            // A process that cleans up after ended runs may have removed the file meanwhile.
            if is_same_file(&file, &path) {
                return Some(Self {
                    path,
                    _locked: file,
                });
            }
        }
        None
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A remaining unlocked file is removed later.
        let _ = fs::remove_file(&self.path);
    }
}

/// `true` if a run's process holds its lock; `None` if there is no lock file.
pub(crate) fn is_live(store: &Path, id: &str) -> Option<bool> {
    let file = open(&lock_path(store, id)?)?;
    // Shared, so that several readers can check at the same time without seeing each other.
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Some(false),
        Err(Errno::WOULDBLOCK) => Some(true),
        Err(_) => None,
    }
}

/// The running runs, oldest first.
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

/// Clears the owners of runs whose processes were killed, and removes their locks.
pub(crate) fn clear_ended_owners(store: &Path, connection: &Connection) -> rusqlite::Result<()> {
    let mut query = connection.prepare("SELECT id FROM runs WHERE owner IS NOT NULL")?;
    let ids = query.query_map([], |row| row.get(0))?;
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
    for id in ids {
        let Some(path) = lock_path(store, &id) else {
            continue;
        };
        let Some(file) = open(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && is_same_file(&file, &path)
        {
            connection.execute("UPDATE runs SET owner = NULL WHERE id = ?1", params![id])?;
            let _ = fs::remove_file(&path);
        }
    }
    remove_stray_locks(store);
    Ok(())
}

/// Removes lock files that no process holds and that belong to no stored run. They remain if a
/// process is killed before it stores its run, or between clearing an owner and removing the lock.
fn remove_stray_locks(store: &Path) {
    let directory = match store.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Some(name) = store.file_name() else {
        return;
    };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let lock = entry.file_name();
        let rest = lock.as_bytes().strip_prefix(name.as_bytes());
        let id = rest.and_then(|rest| rest.strip_prefix(b"-run-"));
        let Some(path) = id
            .and_then(|id| std::str::from_utf8(id).ok())
            .and_then(|id| lock_path(store, id))
        else {
            continue;
        };
        let Some(file) = open(&path) else { continue };
        // A process that is about to take the lock checks afterwards that the file still exists.
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && is_same_file(&file, &path)
        {
            let _ = fs::remove_file(&path);
        }
    }
}

fn lock_path(store: &Path, id: &str) -> Option<PathBuf> {
    // A store from elsewhere may contain any text as an id.
    if !is_id(id) {
        return None;
    }
    let mut path = OsString::from(store);
    path.push(format!("-run-{id}"));
    Some(PathBuf::from(path))
}

fn open(path: &Path) -> Option<File> {
    // A pipe with this name must not block the open.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags).open(path).ok()
}

fn is_same_file(file: &File, path: &Path) -> bool {
    let (Ok(opened), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (opened.dev(), opened.ino()) == (named.dev(), named.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_runs_that_were_never_stored_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("runs.db");
        let connection = Connection::open(&store).unwrap();
        connection
            .execute("CREATE TABLE runs (id TEXT, owner TEXT)", [])
            .unwrap();
        let id = |last: char| format!("20260101T000000Z-00000000000{last}");
        let ids = [id('1'), id('2')];
        assert!(ids.iter().all(|id| is_id(id)), "{ids:?}");
        let live = RunLock::begin(&store, &ids[0]).unwrap();
        fs::write(lock_path(&store, &ids[1]).unwrap(), "").unwrap();
        fs::write(directory.path().join("runs.db-run-notes"), "mine").unwrap();
        clear_ended_owners(&store, &connection).unwrap();
        assert!(live.path.exists());
        assert!(!lock_path(&store, &ids[1]).unwrap().exists());
        assert!(directory.path().join("runs.db-run-notes").exists());
    }
}
