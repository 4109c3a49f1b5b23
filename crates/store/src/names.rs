//! Names in a store for shell completion. They are found quickly or not at all.

use std::path::Path;
use std::time::Duration;

use results::Timestamp;
use rusqlite::{Connection, OpenFlags};

use crate::column::json;
use crate::format::{APPLICATION_ID, FORMAT_NUMBER, number};
use crate::list::short_ids;
use crate::open::immutable_uri;

/// Users do not wait longer for a completion.
const BUSY_TIMEOUT: Duration = Duration::from_millis(20);

/// Names that can be completed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreNames {
    /// The newest runs and labs, newest first.
    pub runs: Vec<NamedRun>,
    /// All tags, sorted.
    pub tags: Vec<String>,
}

/// A run or lab to complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRun {
    /// Shortest unique prefix of the id.
    pub short_id: String,
    /// Start of the run or lab.
    pub started_at: Timestamp,
    /// Names of the workloads; for a lab, its title.
    pub titles: Vec<String>,
    /// `true` for a lab, `false` for a run.
    pub is_lab: bool,
}

/// The names in the store at `path`, at most `count` runs and labs. Does not create or upgrade the
/// store and does not wait for locks. `None` if there is no store, or it cannot be read this way.
#[must_use]
pub fn names(path: &Path, count: usize) -> Option<StoreNames> {
    let found = std::fs::metadata(path).ok()?;
    if !found.is_file() {
        return None;
    }
    read(&connect(path).ok()?, count).ok()
}

/// Opens the file read-only. If no log is in use, SQLite then creates no files next to it.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    // An immutable file is read without its log, so newer runs would be missing.
    let has_log = std::fs::metadata(log).is_ok_and(|found| found.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match has_log {
        true => Connection::open_with_flags(path, flags)?,
        false => Connection::open_with_flags(
            Path::new(&immutable_uri(path)),
            flags | OpenFlags::SQLITE_OPEN_URI,
        )?,
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

fn read(store: &Connection, count: usize) -> rusqlite::Result<StoreNames> {
    let mark: i32 = store.pragma_query_value(None, "application_id", |row| row.get(0))?;
    // An upgrade is not the task of a completion.
    if i64::from(mark) != APPLICATION_ID || number(store)? != FORMAT_NUMBER {
        return Ok(StoreNames::default());
    }
    let short_ids = short_ids(store)?;
    let sql = "SELECT id, started_us, workloads, 0 FROM runs UNION ALL \
               SELECT id, started_us, json_array(record ->> '$.title'), 1 FROM labs \
               ORDER BY started_us DESC, id DESC LIMIT ?1";
    let mut query = store.prepare(sql)?;
    let runs = query.query_map([i64::try_from(count).unwrap_or(i64::MAX)], |row| {
        let id: String = row.get(0)?;
        Ok(NamedRun {
            short_id: short_ids.get(&id).unwrap_or(&id).clone(),
            started_at: Timestamp::from_microsecond(row.get(1)?).unwrap_or_default(),
            titles: json(row, 2)?,
            is_lab: row.get(3)?,
        })
    })?;
    let runs = runs.collect::<rusqlite::Result<_>>()?;
    let mut query = store.prepare("SELECT DISTINCT tag FROM tags ORDER BY tag")?;
    let tags = query.query_map([], |row| row.get(0))?;
    let tags = tags.collect::<rusqlite::Result<_>>()?;
    Ok(StoreNames { runs, tags })
}
