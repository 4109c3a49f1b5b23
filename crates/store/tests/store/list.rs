//! Listing, naming, notes and tags.

use store::{Filter, RunStatus, Store, StoreError};

use crate::bed::{Bed, beginning, record, store_run};

fn ids(store: &Store, filter: &Filter) -> Vec<String> {
    let rows = store.list(filter).unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

fn three() -> (Bed, Store) {
    let bed = Bed::new();
    let store = bed.store();
    for number in [1, 3, 2] {
        let mut record = record(number);
        if number == 3 {
            record.plan.workloads[0].name = "OLTP".into();
            record.plan.targets[0].path = "/srv/other".into();
            record.status = results::Status::Failed;
        }
        store_run(&store, &record);
    }
    (bed, store)
}

#[test]
fn runs_are_listed_newest_first() {
    let (_bed, store) = three();
    let all = ids(&store, &Filter::default());
    assert_eq!(all, [3, 2, 1].map(|number| record(number).id));
}

#[test]
fn a_row_says_what_a_run_was() {
    let (_bed, store) = three();
    let row = store.list(&Filter::default()).unwrap().remove(1);
    assert_eq!(row.status, RunStatus::Complete);
    assert_eq!(row.workloads, ["file-server"]);
    assert_eq!(row.targets, ["/mnt/array"]);
    assert_eq!(row.file_systems, ["ext4"]);
    assert_eq!(row.command, ["pgmeter", "run"]);
    assert_eq!(row.cell_count, 2);
    assert_eq!(row.per_second_max, Some(10_000.0));
    assert_eq!(row.bytes_per_second_max, Some(40_960_000.0));
    assert_eq!(row.short_id, "20261121-020002");
    assert_eq!(row.finished_at, record(2).finished_at);
}

#[test]
fn filters_take_what_they_say() {
    let (_bed, mut store) = three();
    store.add_tag(&record(1).id, "before").unwrap();
    let count = |filter| ids(&store, &filter).len();
    let of = |word: &str| Some(word.to_owned());
    let none = Filter::default;
    assert_eq!(
        count(Filter {
            workload: of("oltp"),
            ..none()
        }),
        1
    );
    assert_eq!(
        count(Filter {
            workload: of("serv"),
            ..none()
        }),
        2
    );
    assert_eq!(
        count(Filter {
            target: of("/mnt"),
            ..none()
        }),
        2
    );
    assert_eq!(
        count(Filter {
            tags: vec!["before".into()],
            ..none()
        }),
        1
    );
    assert_eq!(
        count(Filter {
            tags: vec!["before".into(), "x".into()],
            ..none()
        }),
        0
    );
    assert_eq!(
        count(Filter {
            status: Some(RunStatus::Failed),
            ..none()
        }),
        1
    );
    assert_eq!(
        count(Filter {
            since: Some(record(2).started_at),
            ..none()
        }),
        2
    );
    assert_eq!(
        count(Filter {
            limit: Some(2),
            ..none()
        }),
        2
    );
}

#[test]
fn a_run_is_named_by_its_beginning_or_its_age() {
    let (_bed, store) = three();
    let resolve = |selector: &str| store.resolve(selector);
    for (selector, number) in [
        ("last", 3),
        ("@-1", 3),
        ("@-3", 1),
        ("20261121-020002", 2),
        ("20261121-020002-042-1f", 2),
    ] {
        assert_eq!(resolve(selector).unwrap(), record(number).id, "{selector}");
    }
    for selector in [
        "",
        "@-0",
        "@-4",
        "@-",
        "@-x",
        "2027",
        "20261121-020002-042-1f0",
        "%",
    ] {
        let seen = resolve(selector);
        assert!(
            matches!(seen, Err(StoreError::NoSuchRun { .. })),
            "{selector}: {seen:?}"
        );
    }
    let seen = resolve("20261121").unwrap_err();
    assert!(
        matches!(seen, StoreError::Ambiguous { count: 3, .. }),
        "{seen:?}"
    );
}

#[test]
fn a_whole_name_is_meant_even_if_a_longer_one_begins_with_it() {
    let (_bed, mut store) = three();
    let mut longer = record(2);
    longer.id.push('0');
    store.import(longer.to_json().as_bytes()).unwrap();
    assert_eq!(store.resolve(&record(2).id).unwrap(), record(2).id);
    let rows = store.list(&Filter::default()).unwrap();
    for row in rows {
        assert_eq!(store.resolve(&row.short_id).unwrap(), row.id);
    }
}

#[test]
fn notes_and_tags_stay_with_their_run() {
    let (bed, mut store) = three();
    let id = store.set_note("@-2", "with the new firmware").unwrap();
    for tag in ["b", "a", "b"] {
        store.add_tag(&id, tag).unwrap();
    }
    store.add_tag("last", "c").unwrap();
    store.remove_tag(&id, "never there").unwrap();
    let store = bed.store();
    let row = store.list(&Filter::default()).unwrap().remove(1);
    assert_eq!(row.note, "with the new firmware");
    assert_eq!(row.tags, ["a", "b"]);
}

#[test]
fn what_cannot_be_told_from_others_in_a_list_is_no_tag() {
    let (_bed, mut store) = three();
    for tag in ["", "a b", "a,b", "a\u{1b}[2J", &"x".repeat(65)] {
        let seen = store.add_tag("last", tag);
        assert!(
            matches!(seen, Err(StoreError::BadTag { .. })),
            "{tag:?}: {seen:?}"
        );
    }
}

#[test]
fn an_empty_store_has_no_runs() {
    let bed = Bed::new();
    assert!(Store::open_to_read(&bed.path()).unwrap().is_none());
    assert!(!bed.path().exists(), "reading makes no file");
    let store = bed.store();
    assert!(store.list(&Filter::default()).unwrap().is_empty());
    assert!(matches!(
        store.load("last"),
        Err(StoreError::NoSuchRun { .. })
    ));
}

#[test]
fn a_lock_tells_that_a_run_goes_on_whatever_has_its_number_here() {
    let bed = Bed::new();
    let mut store = bed.store();
    let wanted = record(1);
    let writer = store.begin(&beginning(&wanted)).unwrap();
    let owner = |text: &str| {
        let connection = rusqlite::Connection::open(bed.path()).unwrap();
        let changed = connection.execute("UPDATE runs SET owner = ?1", [text]);
        assert_eq!(changed.unwrap(), 1);
    };
    let status = |store: &Store| store.list(&Filter::default()).unwrap()[0].status;
    // As a process of another container, whose number is another's here or nobody's.
    let mut elsewhere = results::Owner::current();
    (elsewhere.pid, elsewhere.started_ticks) = (1, 0);
    owner(&serde_json::to_string(&elsewhere).unwrap());
    assert_eq!(status(&store), RunStatus::Running);
    assert!(matches!(
        store.remove(&wanted.id, false),
        Err(StoreError::Running { .. })
    ));
    drop(writer);

    // As one that was killed: its lock is there, and nobody holds it.
    let lock = format!("{}-run-{}", bed.path().display(), wanted.id);
    std::fs::write(&lock, "").unwrap();
    owner(&serde_json::to_string(&results::Owner::current()).unwrap());
    assert_eq!(status(&store), RunStatus::Interrupted);
    let next = store.begin(&beginning(&record(2))).unwrap();
    assert!(!std::path::Path::new(&lock).exists());
    drop(next);
    store.remove(&wanted.id, false).unwrap();
}
