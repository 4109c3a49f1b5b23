//! Stores of earlier formats: each has a fixture, which is never changed.

use results::{FORMAT, ProcessIdentity, RunRecord};
use rusqlite::Connection;
use store::{FORMAT_NUMBER, Filter, HeadlineUnit, Imported, RunStatus, Store, StoreError};

use crate::bed::{TestStore, record, store_run};

/// The formats that have been, each with a complete run and one that was killed.
const FIXTURES: [(i64, &str, &str); 5] = [
    (
        1,
        include_str!("../formats/1.sql"),
        include_str!("../formats/1.json"),
    ),
    (
        2,
        include_str!("../formats/2.sql"),
        include_str!("../formats/1.json"),
    ),
    (
        3,
        include_str!("../formats/3.sql"),
        include_str!("../formats/1.json"),
    ),
    (
        4,
        include_str!("../formats/4.sql"),
        include_str!("../formats/1.json"),
    ),
    (
        5,
        include_str!("../formats/5.sql"),
        include_str!("../formats/1.json"),
    ),
];

/// Makes the file of an earlier version.
fn old(bed: &TestStore, sql: &str) {
    let sql = sql.replace("@HOST@", &ProcessIdentity::current().host);
    Connection::open(bed.path())
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
}

fn format_of(bed: &TestStore) -> i64 {
    let connection = Connection::open(bed.path()).unwrap();
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

fn schema_of(bed: &TestStore) -> Vec<String> {
    let connection = Connection::open(bed.path()).unwrap();
    let sql = "SELECT type || ' ' || name FROM sqlite_schema UNION ALL \
               SELECT m.name || '.' || c.name || ' ' || c.type FROM sqlite_schema AS m, \
               pragma_table_xinfo(m.name) AS c ORDER BY 1";
    let mut query = connection.prepare(sql).unwrap();
    let rows = query.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_earlier_format_has_a_fixture() {
    let numbers: Vec<i64> = FIXTURES.iter().map(|fixture| fixture.0).collect();
    assert_eq!(numbers, (1..FORMAT_NUMBER).collect::<Vec<_>>());
}

#[test]
fn an_old_store_is_upgraded_with_all_its_content() {
    let new = TestStore::new();
    new.store();
    for (number, sql, json) in FIXTURES {
        let bed = TestStore::new();
        old(&bed, sql);
        assert_eq!(format_of(&bed), number);
        let store = bed.store();
        assert_eq!(format_of(&bed), FORMAT_NUMBER);
        assert_eq!(schema_of(&bed), schema_of(&new), "format {number}");
        let rows = store.list(&Filter::default()).unwrap();
        let [killed, complete] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        let wanted = RunRecord::from_json(json).unwrap();
        assert_eq!(store.load(&complete.id).unwrap(), wanted);
        assert_eq!(complete.host, wanted.environment.host);
        assert_eq!(complete.kernel, wanted.environment.kernel);
        let headline = complete.headline.map(|it| (it.of, it.per_second));
        let rate = wanted.cells[0].total.per_second;
        assert_eq!(headline, Some((HeadlineUnit::Requests, rate)));
        assert_eq!(complete.tags, ["before-trim"]);
        assert_eq!(complete.note, "the old drive");
        assert_eq!(killed.status, RunStatus::Interrupted);
        assert_eq!(killed.per_second_max, Some(100.0));
        assert_eq!(
            complete.per_second_max,
            Some(wanted.cells[0].total.per_second)
        );
        let killed = store.load(&killed.id).unwrap();
        assert_eq!(killed.cells[0].intervals, wanted.cells[0].intervals[..1]);
        store_run(&store, &record(2));
    }
}

#[test]
fn an_upgrade_computes_the_same_headline_as_a_new_run() {
    let (_, sql, json) = FIXTURES[2];
    let shapes = [
        ("measure", 4096.0),
        ("measure", 1e6),
        ("create", 1e3),
        ("transactions", 1e3),
    ];
    for (phase, bytes_each) in shapes {
        let bed = TestStore::new();
        old(&bed, sql);
        let mut wanted = RunRecord::from_json(json).unwrap();
        let cell = &mut wanted.cells[0];
        cell.phase = phase.to_owned().into();
        cell.total.bytes_per_second = cell.total.per_second * bytes_each;
        let change = "UPDATE cells SET figures = json_set(figures, '$.phase', ?1, \
                      '$.total.bytes_per_second', ?2) WHERE figures IS NOT NULL";
        let connection = Connection::open(bed.path()).unwrap();
        let changed = (phase, cell.total.bytes_per_second);
        connection.execute(change, changed).unwrap();
        let again = "UPDATE runs SET bytes_per_second_max = ?1 WHERE status = 'complete'";
        connection.execute(again, [changed.1]).unwrap();
        drop(connection);
        let store = bed.store();
        let rows = store.list(&Filter::default()).unwrap();
        let fresh = TestStore::new();
        let mut new = fresh.store();
        new.import(wanted.to_json().as_bytes()).unwrap();
        let written = new.list(&Filter::default()).unwrap().remove(0);
        assert!(written.headline.is_some(), "{phase}");
        assert_eq!(rows[1].headline, written.headline, "{phase}");
    }
}

#[test]
fn a_record_of_an_earlier_format_loads_in_the_current_format() {
    let bed = TestStore::new();
    let sql = include_str!("../formats/4-record-1.sql");
    old(&bed, sql);
    assert_eq!(format_of(&bed), 4);
    let mut store = bed.store();
    let json = include_str!("../../../results/tests/formats/1.json");
    let wanted = RunRecord::from_json(json).unwrap();
    let loaded = store.load("last").unwrap();
    assert_eq!(loaded, wanted);
    assert!(loaded.cells.iter().any(|cell| cell.phase_figures.is_some()));
    let same = Imported::AlreadyStored(wanted.id.clone());
    assert_eq!(store.import(json.as_bytes()).unwrap(), same);
    let exported = store.export("last").unwrap();
    assert!(exported.contains(FORMAT) && !exported.contains("classic\""));
    assert_eq!(store.import(exported.as_bytes()).unwrap(), same);
}

#[test]
fn an_old_store_is_upgraded_once_when_many_open_it() {
    let (_, sql, _) = FIXTURES[0];
    let bed = TestStore::new();
    old(&bed, sql);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| bed.store().list(&Filter::default()).unwrap());
        }
    });
    assert_eq!(bed.store().list(&Filter::default()).unwrap().len(), 2);
}

#[test]
fn a_failed_upgrade_keeps_the_old_store() {
    let (number, sql, _) = FIXTURES[0];
    let bed = TestStore::new();
    old(&bed, sql);
    let spoil = "ALTER TABLE runs ADD COLUMN host TEXT";
    Connection::open(bed.path())
        .unwrap()
        .execute_batch(spoil)
        .unwrap();
    let error = Store::open(&bed.path()).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::System { .. } | StoreError::Damaged { .. }
        ),
        "{error:?}"
    );
    assert_eq!(format_of(&bed), number);
}

#[test]
fn a_store_can_be_opened_at_any_moment_of_its_creation() {
    for _ in 0..40 {
        let bed = TestStore::new();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| while Store::open_to_read(&bed.path()).unwrap().is_none() {});
            }
            bed.store();
        });
        assert_eq!(format_of(&bed), FORMAT_NUMBER);
    }
}
