//! Measures a store with a large run and with many runs: `cargo run --release --example many`.
#![expect(clippy::unwrap_used, reason = "an example that cannot go on fails")]

use std::time::{Duration, Instant};

use results::{IntervalRecord, RunEvent, RunRecord, Status};
use store::{Filter, RunCursor, RunOrder, RunQuery, Store};

#[path = "../../results/tests/results/sample.rs"]
mod sample;

const CELL_COUNT: u32 = 1000;
const RUN_COUNT: u32 = 10_000;

fn timed<T>(label: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    println!("{label}: {:.3} s", start.elapsed().as_secs_f64());
    done
}

/// A run of many cells, each with two workers and 30 intervals.
fn large() -> RunRecord {
    let mut record = sample::record();
    let planned = record.plan.cells.remove(0);
    let cell = record.cells.remove(0);
    record.cells.clear();
    record.plan.cells.clear();
    let mut interval = sample::totals(5_000, true);
    interval.length_ns = sample::SECOND;
    let interval = IntervalRecord::of(&interval, sample::NAMES);
    for index in 0..CELL_COUNT {
        let mut planned = planned.clone();
        planned.index = index;
        record.plan.cells.push(planned);
        let mut cell = cell.clone();
        cell.index = index;
        cell.total.count += u64::from(index);
        cell.intervals = vec![interval.clone(); 30];
        record.cells.push(cell);
    }
    record
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let store = Store::open(&path).unwrap();
    let record = large();
    let beginning = RunRecord {
        cells: Vec::new(),
        warnings: Vec::new(),
        finished_at: None,
        status: Status::Interrupted,
        ..record.clone()
    };
    let writer = timed("begin", || store.begin(&beginning).unwrap());
    let slowest = timed("tell 1000 cells, of which the run sees", || {
        tell(&writer, &record)
    });
    println!("the slowest event: {slowest:?}");
    timed("finish", || writer.finish(&record).unwrap());
    let size = std::fs::metadata(&path).unwrap().len();
    println!(
        "the store: {} MiB, its JSON: {} MiB",
        size >> 20,
        record.to_json().len() >> 20
    );
    let loaded = timed("load", || store.load("last").unwrap());
    assert_eq!(loaded, record);
    timed("its cells in a few figures", || {
        store.cells("last").unwrap()
    });
    timed("its intervals", || {
        store.intervals("last", RunCursor::default(), None).unwrap()
    });
    let json = timed("to JSON", || record.to_json());
    let other = directory.path().join("other.db");
    let mut other = Store::open(&other).unwrap();
    timed("import", || other.import(json.as_bytes()).unwrap());

    let mut store = Store::open(&directory.path().join("many.db")).unwrap();
    let mut small = sample::record();
    timed("import 10,000 runs", || {
        for number in 0..RUN_COUNT {
            small.id = format!("20261121-{number:06}-000-1f");
            store.import(small.to_json().as_bytes()).unwrap();
        }
    });
    let rows = timed("list them", || store.list(&Filter::default()).unwrap());
    assert_eq!(rows.len(), RUN_COUNT as usize);
    let limit = Some(20);
    timed("list 20", || {
        store
            .list(&Filter {
                limit,
                ..Filter::default()
            })
            .unwrap()
    });
    query_list(&store);
    timed("load one", || store.load("@-5000").unwrap());
}

/// Requests parts of the list.
fn query_list(store: &Store) {
    let query = RunQuery {
        limit: 100,
        ..RunQuery::default()
    };
    timed("a part of the list", || store.page(&query).unwrap());
    timed("its last part", || {
        let offset = RUN_COUNT as usize - 100;
        store
            .page(&RunQuery {
                offset,
                ..query.clone()
            })
            .unwrap()
    });
    for word in ["20261121-005", "nothing", "e"] {
        let words = vec![word.to_owned()];
        let found = timed(&format!("search `{word}`"), || {
            store
                .page(&RunQuery {
                    words,
                    ..query.clone()
                })
                .unwrap()
        });
        println!("found: {}", found.matching_count);
    }
    timed("sorted by rate", || {
        let order = RunOrder::Rate;
        store
            .page(&RunQuery {
                order,
                ..query.clone()
            })
            .unwrap()
    });
}

/// Sends the events of a run as fast as possible; returns the time of the slowest event.
fn tell(writer: &store::RunWriter, record: &RunRecord) -> Duration {
    let mut slowest = Duration::ZERO;
    for cell in &record.cells {
        for interval in &cell.intervals {
            let event = RunEvent::Interval {
                cell: cell.index,
                interval: interval.clone(),
            };
            let start = Instant::now();
            writer.event(&event);
            slowest = slowest.max(start.elapsed());
        }
        let event = RunEvent::CellDone {
            record: Box::new(cell.clone()),
        };
        let start = Instant::now();
        writer.event(&event);
        slowest = slowest.max(start.elapsed());
    }
    slowest
}
