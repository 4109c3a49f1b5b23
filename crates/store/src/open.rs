//! Opens the store: checks the kind of file and sets up the connection in the same way everywhere.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;
use crate::format::{APPLICATION_ID, FORMAT_NUMBER, migrate, number};
use crate::location::{make_parents, regular_file};

/// Maximum time to wait for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Kind of an SQLite file.
enum DatabaseKind {
    /// Empty file.
    Empty,
    /// A store with this format number, current or older.
    Store(i64),
}

/// Opens the store for reading and writing; creates it if there is none.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    if regular_file(path)?.is_none() {
        make_parents(path)?;
    }
    let failed = |error| StoreError::of(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(path, flags).map_err(failed)?;
    // Before any setting is changed: a file of another program must stay as it is.
    let kind = kind(path, &connection)?;
    // SQLite falls back to read-only if it cannot open a file for writing.
    if connection.is_readonly("main").map_err(failed)? {
        return Err(StoreError::ReadOnly {
            path: path.to_owned(),
            reason: "only reading is allowed".to_owned(),
        });
    }
    set_up(&mut connection, &kind).map_err(failed)?;
    Ok(connection)
}

/// Opens an existing store, also for writing if possible; `None` if there is no file.
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
        ) => open_read_only(path, error).map(Some),
        Err(error) => Err(error),
    }
}

/// Opens a store whose files cannot be written, such as on read-only media.
fn open_read_only(path: &Path, why: StoreError) -> Result<Connection, StoreError> {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    // The log cannot be read without writing, and without it the file would be out of date.
    if std::fs::metadata(log).is_ok_and(|found| found.len() > 0) {
        return Err(why);
    }
    let failed = |error| StoreError::of(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = connect(Path::new(&immutable_uri(path)), flags).map_err(failed)?;
    match kind(path, &connection)? {
        DatabaseKind::Store(FORMAT_NUMBER) => Ok(connection),
        DatabaseKind::Store(seen) => Err(StoreError::OlderReadOnly {
            path: path.to_owned(),
            seen,
        }),
        DatabaseKind::Empty => Err(why),
    }
}

/// The file's name for SQLite, declared immutable.
pub(crate) fn immutable_uri(path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            // These would end the path within a URI, or change it.
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").bytes()),
            _ => uri.push(*byte),
        }
    }
    // Otherwise SQLite would create files next to the store even for reading
    // (`sqlite.org/uri.html`).
    uri.extend(b"?immutable=1");
    std::ffi::OsString::from_vec(uri)
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // A `Connection` is used by one thread at a time, so SQLite needs no lock for it.
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // SQLite ignores `ON DELETE CASCADE` unless each connection enables it.
    connection.pragma_update(None, "foreign_keys", true)?;
    // The file may come from anywhere, so its schema must not call functions or be rewritten.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // SQLite's own function changes only the letters A to Z.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("lower", 1, flags, |context| {
        let text: Option<String> = context.get(0)?;
        Ok(text.map(|text| text.to_lowercase()))
    })?;
    Ok(connection)
}

/// Determines the kind of file before changing anything.
fn kind(path: &Path, connection: &Connection) -> Result<DatabaseKind, StoreError> {
    let look = || {
        // One transaction, because another process may be creating the store.
        let store = connection.unchecked_transaction()?;
        let mark: i64 = store.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let tables = "SELECT count(*) FROM sqlite_schema";
        let table_count: i64 = store.query_row(tables, [], |row| row.get(0))?;
        Ok((mark, number(&store)?, table_count))
    };
    let (mark, seen, table_count) = look().map_err(|error| StoreError::of(path, error))?;
    match (mark, seen, table_count) {
        (0, 0, 0) => Ok(DatabaseKind::Empty),
        (APPLICATION_ID, seen, _) if seen > FORMAT_NUMBER => Err(StoreError::Newer {
            path: path.to_owned(),
            seen,
            known: FORMAT_NUMBER,
        }),
        (APPLICATION_ID, 1.., 1..) => Ok(DatabaseKind::Store(seen)),
        _ => Err(StoreError::NotAStore {
            path: path.to_owned(),
            reason: "it is an SQLite file of another program".to_owned(),
        }),
    }
}

/// Upgrades the file to the newest format, and makes it safe against killed processes.
fn set_up(connection: &mut Connection, kind: &DatabaseKind) -> rusqlite::Result<()> {
    if matches!(kind, DatabaseKind::Empty) {
        // SQLite accepts this setting only before the first table exists.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    enable_wal(connection)?;
    // With a log, this flushes at checkpoints only, not after every change.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    if !matches!(kind, DatabaseKind::Store(FORMAT_NUMBER)) {
        migrate(connection)?;
    }
    Ok(())
}

/// Switches to a write-ahead log, so that readers and writers do not wait for each other.
///
/// If two processes do this at the same time, SQLite refuses one of them without waiting for the
/// busy timeout.
fn enable_wal(connection: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// Checkpoints: copies the log into the file and flushes both, unless other processes prevent it.
/// If it fails, the log remains.
pub(crate) fn checkpoint(connection: &Connection) {
    let _ = connection.pragma_query(None, "wal_checkpoint", |_| Ok(()));
}
