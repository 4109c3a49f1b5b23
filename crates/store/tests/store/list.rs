//! Listing, naming, notes and tags.

use results::{Environment, LabColumn, LabRecord, LabSection, Warning};
use store::{Filter, FoundName, HeadlineUnit, RunStatus, Store, StoreError, names};

use crate::bed::{TestStore, beginning, record, store_run};

fn ids(store: &Store, filter: &Filter) -> Vec<String> {
    let rows = store.list(filter).unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

fn three() -> (TestStore, Store) {
    let bed = TestStore::new();
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
fn a_row_summarizes_its_run() {
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
    let headline = row.headline.map(|it| (it.of, it.per_second));
    assert_eq!(headline, Some((HeadlineUnit::Requests, 10_000.0)));
    assert_eq!(row.kernel, record(2).environment.kernel);
    assert_eq!(row.short_id, "20261121-020002");
    assert_eq!(row.finished_at, record(2).finished_at);
}

#[test]
fn filters_select_the_matching_runs() {
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
fn a_run_is_selected_by_id_prefix_or_age() {
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
        let resolved = resolve(selector);
        assert!(
            matches!(resolved, Err(StoreError::NoSuchRun { .. })),
            "{selector}: {resolved:?}"
        );
    }
    let resolved = resolve("20261121").unwrap_err();
    assert!(
        matches!(resolved, StoreError::Ambiguous { count: 3, .. }),
        "{resolved:?}"
    );
}

#[test]
fn a_full_id_wins_over_a_longer_id_that_starts_with_it() {
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
fn tags_that_are_ambiguous_in_a_list_are_refused() {
    let (_bed, mut store) = three();
    for tag in ["", "a b", "a,b", "a\u{1b}[2J", &"x".repeat(65)] {
        let result = store.add_tag("last", tag);
        assert!(
            matches!(result, Err(StoreError::BadTag { .. })),
            "{tag:?}: {result:?}"
        );
    }
}

#[test]
fn an_empty_store_has_no_runs() {
    let bed = TestStore::new();
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
fn a_held_lock_marks_a_run_as_running_whatever_process_has_its_pid() {
    let bed = TestStore::new();
    let mut store = bed.store();
    let wanted = record(1);
    let writer = store.begin(&beginning(&wanted)).unwrap();
    let owner = |text: &str| {
        let connection = rusqlite::Connection::open(bed.path()).unwrap();
        let changed = connection.execute("UPDATE runs SET owner = ?1", [text]);
        assert_eq!(changed.unwrap(), 1);
    };
    let status = |store: &Store| store.list(&Filter::default()).unwrap()[0].status;
    // Like a process of another container: here, its PID belongs to another process or to none.
    let mut remote = results::ProcessIdentity::current();
    (remote.pid, remote.started_ticks) = (1, 0);
    owner(&serde_json::to_string(&remote).unwrap());
    assert_eq!(status(&store), RunStatus::Running);
    let notice = |store: &Store| store.load(&wanted.id).unwrap().warnings;
    let has = |notice: &[Warning], text: &str| notice.iter().any(|it| it.message.contains(text));
    assert!(has(&notice(&store), "the run is still running"));
    assert!(matches!(
        store.remove(&wanted.id, false),
        Err(StoreError::Running { .. })
    ));
    drop(writer);

    // Like a killed run: the lock file exists, but no process holds the lock.
    let lock = format!("{}-run-{}", bed.path().display(), wanted.id);
    std::fs::write(&lock, "").unwrap();
    owner(&serde_json::to_string(&results::ProcessIdentity::current()).unwrap());
    assert_eq!(status(&store), RunStatus::Interrupted);
    assert!(has(&notice(&store), "the run was killed"));
    let next = store.begin(&beginning(&record(2))).unwrap();
    assert!(!std::path::Path::new(&lock).exists());
    drop(next);
    store.remove(&wanted.id, false).unwrap();
}

/// A lab of these runs, which began before them.
fn keep_lab(store: &mut Store, id: &str, runs: &[&str]) {
    let mut lab = LabRecord::new(Environment::default(), vec!["pgmeter".into()]);
    lab.id = id.to_owned();
    lab.started_at = "2026-11-21T02:00:00Z".parse().unwrap();
    lab.title = "postmark on new file systems".to_owned();
    lab.columns = vec![LabColumn {
        name: "ext4".into(),
        behind: String::new(),
    }];
    let ids = runs.iter().map(|&id| id.to_owned()).collect();
    lab.sections = vec![LabSection {
        heading: "postmark".into(),
        runs: vec![ids],
        ..LabSection::default()
    }];
    store.keep_lab(&lab).unwrap();
}

const LAB: &str = "20261121-020000-000-1f";

#[test]
fn a_lab_is_listed_with_its_runs_and_removed_without_them() {
    let (_bed, mut store) = three();
    let (one, two) = (record(1).id, record(2).id);
    keep_lab(&mut store, LAB, &[&one, &two, &one]);
    let labs = store.labs().unwrap();
    assert_eq!(labs.len(), 1);
    assert_eq!(labs[0].id, LAB);
    assert_eq!(labs[0].short_id, "20261121-020000");
    assert_eq!(labs[0].run_ids, [one, two]);
    assert_eq!(
        (&labs[0].sections[..], &labs[0].columns[..]),
        (&["postmark".to_owned()][..], &["ext4".to_owned()][..])
    );
    store.remove_lab(LAB).unwrap();
    assert!(store.labs().unwrap().is_empty());
    assert_eq!(ids(&store, &Filter::default()).len(), 3);
    assert!(matches!(
        store.remove_lab(LAB),
        Err(StoreError::NoSuchLab { .. })
    ));
}

#[test]
fn selectors_by_age_count_a_lab_as_one_row() {
    let (_bed, mut store) = three();
    keep_lab(&mut store, LAB, &[&record(2).id, &record(3).id]);
    let find = |selector: &str| store.find(selector).unwrap();
    assert_eq!(find("last"), FoundName::Run(record(1).id));
    assert_eq!(find("@-2"), FoundName::Lab(LAB.to_owned()));
    assert_eq!(store.resolve("last").unwrap(), record(1).id);
    for seen in [store.resolve("@-2"), store.load("@-2").map(|run| run.id)] {
        assert!(
            matches!(&seen, Err(StoreError::IsLab { lab, .. }) if lab == LAB),
            "{seen:?}"
        );
    }
    assert!(matches!(
        store.find("@-3"),
        Err(StoreError::NoSuchRun { .. })
    ));
}

#[test]
fn a_name_finds_one_run_or_lab_and_never_guesses_among_several() {
    let (_bed, mut store) = three();
    keep_lab(&mut store, LAB, &[&record(1).id]);
    let tag = "lab-20261121-020000-1-1f";
    for number in [1, 2] {
        store.add_tag(&record(number).id, tag).unwrap();
    }
    let run = |number| FoundName::Run(record(number).id);
    let lab = || FoundName::Lab(LAB.to_owned());
    for (selector, found) in [
        ("last", run(3)),
        ("20261121-020002", run(2)),
        ("20261121-020000", lab()),
        (LAB, lab()),
    ] {
        assert_eq!(store.find(selector).unwrap(), found, "{selector}");
    }
    let tagged = FoundName::Tagged {
        tag: tag.to_owned(),
        ids: vec![record(1).id, record(2).id],
    };
    assert_eq!(store.find("lab-2026").unwrap(), tagged);
    assert!(matches!(
        store.find("20261121-0200"),
        Err(StoreError::Ambiguous { count: 4, .. })
    ));
    for nothing in ["", "2027", "lab-2027", "lab"] {
        let result = store.find(nothing);
        assert!(
            matches!(result, Err(StoreError::NoSuchRun { .. })),
            "{nothing}: {result:?}"
        );
    }
}

#[test]
fn reading_names_creates_and_changes_nothing() {
    let bed = TestStore::new();
    assert_eq!(names(&bed.path(), 9), None);
    assert!(!bed.path().exists());
    let (bed, mut store) = three();
    keep_lab(&mut store, LAB, &[]);
    store.add_tag("last", "after").unwrap();
    let look = || {
        let found = names(&bed.path(), 9).unwrap();
        let short: Vec<&str> = found.runs.iter().map(|it| it.short_id.as_str()).collect();
        let days = ["020003", "020002", "020001", "020000"];
        assert_eq!(short, days.map(|time| format!("20261121-{time}")));
        assert!(found.runs[3].is_lab && !found.runs[0].is_lab);
        assert_eq!(found.runs[1].titles, ["file-server"]);
        assert_eq!(found.tags, ["after"]);
        assert_eq!(names(&bed.path(), 2).unwrap().runs.len(), 2);
    };
    // First while another connection has the store open, with entries in the log.
    look();
    drop(store);
    look();
    let directory = bed.path().parent().unwrap().to_owned();
    let count = || std::fs::read_dir(&directory).unwrap().count();
    let before = count();
    names(&bed.path(), 9).unwrap();
    assert_eq!(count(), before);
    std::fs::write(bed.path(), "something else").unwrap();
    assert_eq!(names(&bed.path(), 9), None);
}
