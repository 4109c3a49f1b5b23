//! What goes in comes out.

use std::time::Duration;

use results::{RunRecord, Status, WarningCode};
use store::{Filter, RunStatus, StoreError};

use crate::bed::{
    TestStore, beginning, begun, interval, interval_event, record, store_run, write_cell,
};

#[test]
fn a_stored_run_loads_unchanged() {
    let bed = TestStore::new();
    let wanted = record(1);
    store_run(&bed.store(), &wanted);
    let store = bed.store();
    assert_eq!(store.load(&wanted.id).unwrap(), wanted);
    assert_eq!(store.export("last").unwrap(), wanted.to_json());
}

#[test]
fn finishing_a_run_stores_what_events_did_not_report() {
    let bed = TestStore::new();
    let mut wanted = record(1);
    let store = bed.store();
    let writer = store.begin(&beginning(&wanted)).unwrap();
    write_cell(&writer, &wanted.cells[0]);
    // Figures that were completed only after their report, and an interval that came late.
    wanted.cells[0].own_cost_ns_per_operation = Some(1.5);
    wanted.cells[0].intervals[2].length_ns += 1;
    wanted.environment.memory_bytes += 1;
    writer.finish(&wanted).unwrap();
    assert_eq!(store.load("last").unwrap(), wanted);
}

#[test]
fn finishing_a_run_drops_intervals_that_are_not_in_the_record() {
    let bed = TestStore::new();
    let wanted = record(1);
    let store = bed.store();
    let writer = store.begin(&beginning(&wanted)).unwrap();
    for number in 0..9 {
        writer.event(&interval_event(0, &interval(number)));
    }
    writer.event(&results::RunEvent::CellDone {
        record: Box::new(wanted.cells[0].clone()),
    });
    // A cell that was begun and is not in the record.
    writer.event(&begun(1));
    writer.event(&interval_event(1, &interval(0)));
    let wanted = RunRecord {
        cells: vec![wanted.cells[0].clone()],
        ..wanted
    };
    writer.finish(&wanted).unwrap();
    assert_eq!(store.load("last").unwrap(), wanted);
}

#[test]
fn a_running_run_loads_with_its_results_so_far() {
    let bed = TestStore::new();
    let store = bed.store();
    let wanted = record(1);
    let writer = store.begin(&beginning(&wanted)).unwrap();
    write_cell(&writer, &wanted.cells[0]);
    writer.event(&begun(1));
    writer.event(&interval_event(1, &interval(0)));
    writer.event(&interval_event(1, &interval(1)));
    // Events are collected for a while before they are written.
    let has_both = || store.load("last").unwrap().cells.len() == 2;
    let mut looks = (0..6000).map(|_| std::thread::sleep(Duration::from_millis(10)));
    assert!(looks.any(|()| has_both()));
    let row = store.list(&Filter::default()).unwrap().remove(0);
    assert_eq!((row.status, row.cell_count), (RunStatus::Running, 1));
    let loaded = store.load("last").unwrap();
    assert_eq!(loaded.status, Status::Interrupted);
    assert_eq!(loaded.cells[0], wanted.cells[0]);
    assert_eq!(loaded.cells[1].intervals, [interval(0), interval(1)]);
    assert_eq!(loaded.cells[1].total.count, 201);
    let codes: Vec<_> = loaded
        .warnings
        .iter()
        .map(|warning| &warning.code)
        .collect();
    assert!(codes.contains(&&WarningCode::CellCutShort), "{codes:?}");
    writer.finish(&wanted).unwrap();
    assert_eq!(store.load("last").unwrap(), wanted);
}

#[test]
fn a_lab_is_found_by_a_prefix_of_its_name() {
    let bed = TestStore::new();
    let mut store = bed.store();
    let mut lab = results::LabRecord::new(Default::default(), vec!["pgmeter".to_owned()]);
    store.keep_lab(&lab).unwrap();
    let first = lab.clone();
    lab.id.push('a');
    lab.started_at += Duration::from_secs(1);
    store.keep_lab(&lab).unwrap();
    assert_eq!(store.lab("last").unwrap(), lab);
    assert_eq!(store.lab(&lab.id).unwrap(), lab);
    assert_eq!(store.lab(&lab.id[..8]).unwrap(), lab);
    assert!(store.keep_lab(&first).is_err(), "it is there already");
    let missing = store.lab("x").unwrap_err();
    assert!(matches!(missing, StoreError::NoSuchLab { .. }), "{missing}");
}

#[test]
fn a_run_knows_how_many_bytes_it_wrote() {
    let bed = TestStore::new();
    let store = bed.store();
    let wanted = record(1);
    let mut writer = store.begin(&beginning(&wanted)).unwrap();
    write_cell(&writer, &wanted.cells[0]);
    let counted = writer.settle();
    assert_eq!(writer.settle(), counted, "it stays the same");
    // A kernel without accounting counts nothing.
    assert!(counted.is_none_or(|bytes| bytes > 4096), "{counted:?}");
    writer.finish(&wanted).unwrap();
    assert_eq!(store.load("last").unwrap(), wanted);
}

#[test]
fn a_running_run_is_removed_only_by_force() {
    let bed = TestStore::new();
    let mut store = bed.store();
    let wanted = record(1);
    let writer = store.begin(&beginning(&wanted)).unwrap();
    let refused = store.remove("last", false);
    assert!(
        matches!(refused, Err(StoreError::Running { .. })),
        "{refused:?}"
    );
    store.remove("last", true).unwrap();
    write_cell(&writer, &wanted.cells[0]);
    writer.finish(&wanted).unwrap();
    assert_eq!(
        store.load("last").unwrap(),
        wanted,
        "nothing measured is lost"
    );
}

#[test]
fn a_run_id_is_used_only_once() {
    let bed = TestStore::new();
    let store = bed.store();
    store_run(&store, &record(1));
    let refused = store.begin(&beginning(&record(1)));
    assert!(
        matches!(refused, Err(StoreError::DuplicateId { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_store_removed_during_a_run_is_reported() {
    let bed = TestStore::new();
    let wanted = record(1);
    let writer = bed.store().begin(&beginning(&wanted)).unwrap();
    std::fs::remove_file(bed.path()).unwrap();
    let failed = writer.finish(&wanted);
    assert!(
        matches!(failed, Err(StoreError::Removed { .. })),
        "{failed:?}"
    );
}

#[test]
fn removing_runs_frees_their_space() {
    let bed = TestStore::new();
    let mut store = bed.store();
    store_run(&store, &record(0));
    let size = || std::fs::metadata(bed.path()).unwrap().len();
    let small = size();
    for number in 1..8 {
        store_run(&store, &record(number));
    }
    let large = size();
    assert!(large > small * 2, "{small} {large}");
    for number in 1..8 {
        store.remove(&record(number).id, false).unwrap();
    }
    drop(store);
    assert!(size() < small * 3 / 2, "{small} {large} {}", size());
    assert_eq!(bed.store().load("last").unwrap(), record(0));
}

#[test]
fn two_runs_at_once_share_a_store() {
    let bed = TestStore::new();
    bed.store();
    let records = [record(1), record(2), record(3), record(4)];
    std::thread::scope(|scope| {
        for wanted in &records {
            scope.spawn(|| {
                let store = bed.store();
                let writer = store.begin(&beginning(wanted)).unwrap();
                for cell in &wanted.cells {
                    write_cell(&writer, cell);
                    std::thread::sleep(Duration::from_millis(500));
                }
                writer.finish(wanted).unwrap();
            });
        }
    });
    let store = bed.store();
    for wanted in &records {
        assert_eq!(&store.load(&wanted.id).unwrap(), wanted);
    }
}
