//! The names in a store, for shells that complete words: found in no time, or not at all.

use std::path::Path;
use std::time::Duration;

use results::Timestamp;
use rusqlite::{Connection, OpenFlags};

use crate::column::json;
use crate::format::{APPLICATION_ID, FORMAT_NUMBER, number};
use crate::list::short_ids;
use crate::open::immutable_uri;

/// Nobody waits longer for the end of a word.
const WAIT: Duration = Duration::from_millis(20);

/// What can be named in a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The newest runs and labs, newest first.
    pub runs: Vec<NamedRun>,
    /// All tags, sorted.
    pub tags: Vec<String>,
}

/// A run or a lab that can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRun {
    /// The shortest beginning of the name that is clear.
    pub short_id: String,
    /// When it began.
    pub started_at: Timestamp,
    /// What was run; of a lab, its title.
    pub what: Vec<String>,
    /// Whether it is a lab.
    pub is_lab: bool,
}

/// The names in the store at `path`, `count` runs and labs at most. Nothing is made, brought up to
/// date or waited for: none where there is no store, or where it cannot be read like that.
#[must_use]
pub fn names(path: &Path, count: usize) -> Option<Names> {
    let found = std::fs::metadata(path).ok()?;
    if !found.is_file() {
        return None;
    }
    read(&connect(path).ok()?, count).ok()
}

/// Opens the file for reading alone. Without a log that is in use, nothing is written beside it.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    let has_log = std::fs::metadata(log).is_ok_and(|found| found.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match has_log {
        true => Connection::open_with_flags(path, flags)?,
        false => Connection::open_with_flags(
            Path::new(&immutable_uri(path)),
            flags | OpenFlags::SQLITE_OPEN_URI,
        )?,
    };
    connection.busy_timeout(WAIT)?;
    Ok(connection)
}

fn read(store: &Connection, count: usize) -> rusqlite::Result<Names> {
    let mark: i32 = store.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if i64::from(mark) != APPLICATION_ID || number(store)? != FORMAT_NUMBER {
        return Ok(Names::default());
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
            what: json(row, 2)?,
            is_lab: row.get(3)?,
        })
    })?;
    let runs = runs.collect::<rusqlite::Result<_>>()?;
    let mut query = store.prepare("SELECT DISTINCT tag FROM tags ORDER BY tag")?;
    let tags = query.query_map([], |row| row.get(0))?;
    let tags = tags.collect::<rusqlite::Result<_>>()?;
    Ok(Names { runs, tags })
}
