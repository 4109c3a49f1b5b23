//! Files that are no store, and places that cannot be written.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use store::{FORMAT_NUMBER, Filter, Store, StoreError};

use crate::bed::{TestStore, beginning, record, store_run};

/// How opening is refused, for writing and for reading; the file stays as it was.
fn refusal(path: &Path) -> StoreError {
    let before = std::fs::read(path).ok();
    let to_read = Store::open_to_read(path).unwrap_err();
    let to_write = Store::open(path).unwrap_err();
    assert_eq!(to_read.to_string(), to_write.to_string());
    assert_eq!(std::fs::read(path).ok(), before);
    to_write
}

#[test]
fn a_file_that_is_not_sqlite_is_refused() {
    let bed = TestStore::new();
    std::fs::write(
        bed.path(),
        "not a database, but long enough to be looked at\n".repeat(100),
    )
    .unwrap();
    let error = refusal(&bed.path());
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
}

#[test]
fn a_database_of_another_program_is_refused() {
    for sql in [
        "CREATE TABLE cookies (name)",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 7; CREATE TABLE t (x)",
    ] {
        let bed = TestStore::new();
        Connection::open(bed.path())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        let error = refusal(&bed.path()).to_string();
        assert!(error.contains("of another program"), "{sql}: {error}");
    }
}

#[test]
fn only_a_regular_file_can_be_a_store() {
    let bed = TestStore::new();
    std::fs::create_dir(bed.path()).unwrap();
    assert!(matches!(refusal(&bed.path()), StoreError::NotAStore { .. }));
    let error = refusal(Path::new("/dev/null"));
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
}

#[test]
fn a_newer_format_is_refused() {
    let bed = TestStore::new();
    store_run(&bed.store(), &record(1));
    let newer = FORMAT_NUMBER + 1;
    let connection = Connection::open(bed.path()).unwrap();
    connection
        .pragma_update(None, "user_version", newer)
        .unwrap();
    drop(connection);
    let error = refusal(&bed.path());
    assert!(
        matches!(error, StoreError::Newer { seen, .. } if seen == newer),
        "{error:?}"
    );
    assert!(
        error.to_string().contains(&format!("format {newer}")),
        "{error}"
    );
}

#[test]
fn an_empty_file_becomes_a_store() {
    let bed = TestStore::new();
    std::fs::write(bed.path(), "").unwrap();
    store_run(&bed.store(), &record(1));
    assert_eq!(bed.store().load("last").unwrap(), record(1));
}

#[test]
fn a_damaged_page_is_reported_or_loses_nothing() {
    let bed = TestStore::new();
    let records = [record(0), record(1), record(2)];
    for record in &records {
        store_run(&bed.store(), record);
    }
    let original = std::fs::read(bed.path()).unwrap();
    let mut reported_count = 0;
    for page in 0..original.len() / 4096 {
        let mut damaged = original.clone();
        // After the file header, without which the file would not be an SQLite database at all.
        let start = page * 4096 + usize::from(page == 0) * 100;
        damaged[start..start + 2000].fill(0xa5);
        std::fs::write(bed.path(), &damaged).unwrap();
        let look = |store: Store| {
            store.list(&Filter::default())?;
            records.iter().try_for_each(|wanted| {
                assert_eq!(&store.load(&wanted.id)?, wanted, "page {page}");
                Ok(())
            })
        };
        match Store::open(&bed.path()).and_then(look) {
            Ok(()) => {}
            Err(StoreError::Damaged { .. } | StoreError::NoSuchRun { .. }) => reported_count += 1,
            Err(other) => panic!("page {page}: {other:?}"),
        }
    }
    assert!(
        reported_count > original.len() / 4096 / 2,
        "{reported_count}"
    );
}

#[test]
fn a_truncated_store_is_reported_as_damaged() {
    let bed = TestStore::new();
    store_run(&bed.store(), &record(1));
    let original = std::fs::read(bed.path()).unwrap();
    std::fs::write(bed.path(), &original[..original.len() / 2]).unwrap();
    let loaded = Store::open(&bed.path()).and_then(|store| store.load("last"));
    assert!(
        matches!(loaded, Err(StoreError::Damaged { .. })),
        "{loaded:?}"
    );
}

#[test]
fn inconsistent_rows_are_reported_as_damage() {
    for (sql, wanted) in [
        ("UPDATE headers SET record = '{'", "not a pgmeter record"),
        (
            "UPDATE cells SET figures = '{}' WHERE position = 0",
            "missing field",
        ),
        ("DELETE FROM histograms", "no histogram 0"),
        (
            "UPDATE intervals SET figures = '{' WHERE position = 1",
            "EOF",
        ),
        ("UPDATE runs SET finished_at = 'yesterday'", "not a time"),
    ] {
        let bed = TestStore::new();
        store_run(&bed.store(), &record(1));
        Connection::open(bed.path())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        let error = bed.store().load("last").unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn a_locked_store_does_not_hold_up_a_run() {
    let bed = TestStore::new();
    let store = bed.store();
    let wanted = record(1);
    let writer = store.begin(&beginning(&wanted)).unwrap();
    let blocker = Connection::open(bed.path()).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = std::time::Instant::now();
    for cell in &wanted.cells {
        crate::bed::write_cell(&writer, cell);
    }
    // Waiting for the lock would take 5 s.
    assert!(start.elapsed().as_secs() < 4, "{:?}", start.elapsed());
    std::thread::sleep(std::time::Duration::from_millis(1500));
    blocker.execute_batch("ROLLBACK").unwrap();
    writer.finish(&wanted).unwrap();
    assert_eq!(store.load("last").unwrap(), wanted);
}

#[test]
fn a_store_in_a_read_only_directory_can_be_read_but_not_opened_for_writing() {
    let bed = TestStore::new();
    store_run(&bed.store(), &record(1));
    let directory = bed.path().parent().unwrap().to_owned();
    let set = |mode| {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o500);
    let is_root = std::fs::write(directory.join("probe"), "").is_ok();
    if is_root {
        set(0o700);
        println!("skipped: root may write everywhere");
        return;
    }
    let error = Store::open(&bed.path()).unwrap_err();
    let loaded = Store::open_to_read(&bed.path()).map(|store| store.unwrap().load("last"));
    set(0o700);
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert_eq!(loaded.unwrap().unwrap(), record(1));
}

#[test]
fn a_home_that_is_a_file_is_reported() {
    let bed = TestStore::new();
    std::fs::write(bed.path(), "").unwrap();
    let error = Store::open(&bed.path().join("pgmeter/results.db")).unwrap_err();
    assert!(matches!(error, StoreError::System { .. }), "{error:?}");
}
