//! Opening: what the file is, and a connection that is set up alike wherever it is used.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;
use crate::format::{APPLICATION_ID, FORMAT_NUMBER, migrate, number};
use crate::place::{make_parents, regular_file};

/// How long another process may keep the store locked.
const WAIT: Duration = Duration::from_secs(5);

/// What an SQLite file is to us.
enum Kind {
    /// Nothing was written to it yet.
    Empty,
    /// A store of this format or an older one.
    Store(i64),
}

/// Opens the store for reading and writing; makes it where there is none.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    if regular_file(path)?.is_none() {
        make_parents(path)?;
    }
    let failed = |error| StoreError::of(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(path, flags).map_err(failed)?;
    let kind = kind(path, &connection)?;
    // SQLite opens for reading what it cannot open for writing.
    if connection.is_readonly("main").map_err(failed)? {
        return Err(StoreError::ReadOnly {
            path: path.to_owned(),
            reason: "only reading is allowed".to_owned(),
        });
    }
    set_up(&mut connection, &kind).map_err(failed)?;
    Ok(connection)
}

/// Opens a store that is there, for writing too where that is possible; none where there is no
/// file.
pub(crate) fn open_to_read(path: &Path) -> Result<Option<Connection>, StoreError> {
    if regular_file(path)?.is_none() {
        return Ok(None);
    }
    match open(path) {
        Ok(connection) => Ok(Some(connection)),
        Err(
            error @ (StoreError::ReadOnly { .. }
            | StoreError::Full { .. }
            | StoreError::System { .. }),
        ) => open_unwritable(path, error).map(Some),
        Err(error) => Err(error),
    }
}

/// Opens a store where no file can be written, as on a medium for reading only.
fn open_unwritable(path: &Path, why: StoreError) -> Result<Connection, StoreError> {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    // Without its log, which cannot be read without writing, the file alone would be out of date.
    if std::fs::metadata(log).is_ok_and(|found| found.len() > 0) {
        return Err(why);
    }
    let failed = |error| StoreError::of(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = connect(Path::new(&immutable_uri(path)), flags).map_err(failed)?;
    match kind(path, &connection)? {
        Kind::Store(FORMAT_NUMBER) => Ok(connection),
        Kind::Store(seen) => Err(StoreError::OlderReadOnly {
            path: path.to_owned(),
            seen,
        }),
        Kind::Empty => Err(why),
    }
}

/// The file's name for SQLite, with the promise that nobody changes it.
pub(crate) fn immutable_uri(path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").bytes()),
            _ => uri.push(*byte),
        }
    }
    uri.extend(b"?immutable=1");
    std::ffi::OsString::from_vec(uri)
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(WAIT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The file may come from anywhere: its schema is not to call functions or to be rewritten.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(connection)
}

/// Looks at the file before anything is changed.
fn kind(path: &Path, connection: &Connection) -> Result<Kind, StoreError> {
    let look = || {
        // All of one moment: another process may be making the store.
        let store = connection.unchecked_transaction()?;
        let mark: i64 = store.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let tables = "SELECT count(*) FROM sqlite_schema";
        let table_count: i64 = store.query_row(tables, [], |row| row.get(0))?;
        Ok((mark, number(&store)?, table_count))
    };
    let (mark, seen, table_count) = look().map_err(|error| StoreError::of(path, error))?;
    match (mark, seen, table_count) {
        (0, 0, 0) => Ok(Kind::Empty),
        (APPLICATION_ID, seen, _) if seen > FORMAT_NUMBER => Err(StoreError::Newer {
            path: path.to_owned(),
            seen,
            known: FORMAT_NUMBER,
        }),
        (APPLICATION_ID, 1.., 1..) => Ok(Kind::Store(seen)),
        _ => Err(StoreError::NotAStore {
            path: path.to_owned(),
            reason: "it is an SQLite file of another program".to_owned(),
        }),
    }
}

/// Brings the file to the newest format and makes sure that a killed process harms nothing.
fn set_up(connection: &mut Connection, kind: &Kind) -> rusqlite::Result<()> {
    if matches!(kind, Kind::Empty) {
        // Only before the first table can be told that the file is to shrink.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    use_log(connection)?;
    // With a log, this flushes when the log is brought into the file, not with every change.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    if !matches!(kind, Kind::Store(FORMAT_NUMBER)) {
        migrate(connection)?;
    }
    Ok(())
}

/// Switches to a write-ahead log, with which readers and writers do not wait for each other.
///
/// Two processes that do so at once do not wait for each other either: one of them is refused,
/// whatever waiting was asked for.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < WAIT =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// Brings the log into the file and flushes both, as far as others do not hold it up; the log
/// stays where that fails.
pub(crate) fn bring_in(connection: &Connection) {
    let _ = connection.pragma_query(None, "wal_checkpoint", |_| Ok(()));
}
