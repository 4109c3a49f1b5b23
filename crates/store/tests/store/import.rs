//! Records from outside.

use proptest::prelude::*;
use results::{PhaseFigures, RunRecord};
use serde_json::{Value, json};
use store::{Filter, Imported, StoreError};

use crate::bed::{TestStore, record, store_run};

#[test]
fn an_export_is_imported_without_loss() {
    let (from, to) = (TestStore::new(), TestStore::new());
    let wanted = record(1);
    store_run(&from.store(), &wanted);
    let exported = from.store().export("last").unwrap();
    let mut store = to.store();
    let imported = store.import(exported.as_bytes()).unwrap();
    assert_eq!(imported, Imported::New(wanted.id.clone()));
    assert_eq!(store.load("last").unwrap(), wanted);
    assert_eq!(store.export("last").unwrap(), exported);
    let again = store.import(exported.as_bytes()).unwrap();
    assert_eq!(again, Imported::AlreadyStored(wanted.id));
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn a_record_with_a_nan_rate_equals_itself() {
    let mut store = TestStore::new().store();
    let mut wanted = record(1);
    wanted.cells[0].total.per_second = f64::NAN;
    let text = wanted.to_json();
    store.import(text.as_bytes()).unwrap();
    let again = store.import(text.as_bytes()).unwrap();
    assert_eq!(again, Imported::AlreadyStored(wanted.id));
    assert_eq!(store.export("last").unwrap(), text);
}

#[test]
fn a_different_run_with_the_same_name_is_refused() {
    let bed = TestStore::new();
    let mut store = bed.store();
    store_run(&store, &record(1));
    let mut other = record(1);
    other.cells[1].total.count += 1;
    let imported = store.import(other.to_json().as_bytes());
    assert!(
        matches!(imported, Err(StoreError::DuplicateId { .. })),
        "{imported:?}"
    );
    assert_eq!(store.load("last").unwrap(), record(1));
}

/// Imports a record after a change and says how that was refused.
fn refusal(change: impl FnOnce(&mut Value)) -> StoreError {
    let mut value: Value = serde_json::from_str(&record(1).to_json()).unwrap();
    change(&mut value);
    let mut store = TestStore::new().store();
    let error = store.import(value.to_string().as_bytes()).unwrap_err();
    assert!(
        store.list(&Filter::default()).unwrap().is_empty(),
        "{error}"
    );
    error
}

#[test]
fn damaged_records_are_refused_with_the_reason() {
    type Case = (fn(&mut Value), &'static str);
    let cases: [Case; 7] = [
        (
            |record| record["format"] = json!("pgmeter-record/3"),
            "pgmeter-record/3",
        ),
        (|record| record["id"] = json!("../../etc"), "../../etc"),
        (|record| record["id"] = json!("last"), "last"),
        (
            |record| record["finished_at"] = json!("1999-01-01T00:00:00Z"),
            "before it starts",
        ),
        (
            |record| record["cells"][0]["total"]["count"] = json!(-1),
            "-1",
        ),
        (|record| record["cells"][0] = json!({}), "missing field"),
        (
            |record| {
                let buckets = &mut record["cells"][1]["total"]["latency"]["histogram"];
                buckets["buckets_ns"] = json!([[5, 4, 1]]);
            },
            "histogram of cell 1",
        ),
    ];
    for (change, reason) in cases {
        let error = refusal(change).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn bytes_that_are_not_a_record_are_refused() {
    let mut store = TestStore::new().store();
    let text = record(1).to_json();
    let cut = &text.as_bytes()[..text.len() / 2];
    let deep = "[".repeat(100_000);
    for bytes in [&b""[..], b"{}", b"[1]", b"\xff\xfe", cut, deep.as_bytes()] {
        let imported = store.import(bytes);
        assert!(
            matches!(
                imported,
                Err(StoreError::Unreadable(_) | StoreError::BadRecord { .. })
            ),
            "{imported:?}"
        );
    }
    assert!(store.list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn unusual_names_and_numbers_are_imported_unchanged() {
    let mut wanted = record(1);
    let nasty = "'; DROP TABLE runs; --\u{0}\u{1b}[2J\u{202e}";
    wanted.plan.workloads[0].name = nasty.into();
    wanted.command = vec![nasty.into()];
    wanted.warnings[0].message = nasty.into();
    wanted.cells[0].target = nasty.into();
    wanted.cells[0].total.bytes = u64::MAX;
    wanted.cells[0].intervals[0].at_ns = u64::MAX;
    wanted.cells[0].total.latency.histogram.hdr_v2_base64 = nasty.into();
    wanted.cells[1].repetition = u32::MAX;
    // Names that the store itself uses, where a program of format 1 may have used them too.
    let figure = json!({ "histogram": 0, "deeper": { "histogram": 7 } });
    wanted.cells[1].phase_figures = Some(PhaseFigures {
        figures_before: [("histogram".to_owned(), figure)].into(),
        ..PhaseFigures::default()
    });
    let mut store = TestStore::new().store();
    store.import(wanted.to_json().as_bytes()).unwrap();
    assert_eq!(store.load("last").unwrap(), wanted);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_altered_record_is_imported_whole_or_refused(
        place in any::<prop::sample::Index>(),
        length in 0_usize..40,
        bytes in proptest::collection::vec(any::<u8>(), 0..8),
    ) {
        let mut small = record(1);
        small.cells.truncate(1);
        small.cells[0].worker_figures.clear();
        let mut text = small.to_json().into_bytes();
        let start = place.index(text.len());
        let end = (start + length).min(text.len());
        text.splice(start..end, bytes);
        let mut store = TestStore::new().store();
        match store.import(&text) {
            Ok(_) => {
                let read = RunRecord::from_json(std::str::from_utf8(&text).unwrap()).unwrap();
                prop_assert_eq!(store.export("last").unwrap(), read.to_json());
            }
            Err(_) => prop_assert!(store.list(&Filter::default()).unwrap().is_empty()),
        }
    }
}
