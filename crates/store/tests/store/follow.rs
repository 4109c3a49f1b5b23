//! Runs as they go on, read from a place on.

use store::{RunCursor, RunStatus, Store, StoredEvent, StoredEvents};

use crate::bed::{TestStore, beginning, begun, interval, interval_event, record, write_cell};

/// What the writer gathers is there after a while.
fn wait_for(store: &Store, id: &str, cursor: RunCursor, count: usize) -> StoredEvents {
    for _ in 0..3000 {
        let stored = store.since(id, cursor, usize::MAX).unwrap();
        if stored.events.len() >= count {
            return stored;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{count} events did not come");
}

fn words(stored: &StoredEvents) -> Vec<String> {
    let word = |event: &StoredEvent| match event {
        StoredEvent::CellStarted { position, .. } => format!("begin {position}"),
        StoredEvent::Interval {
            position, number, ..
        } => format!("interval {position} {number}"),
        StoredEvent::CellDone(cell) => format!("end {}", cell.position),
        StoredEvent::Warning(_) => "warning".to_owned(),
    };
    stored.events.iter().map(|(_, event)| word(event)).collect()
}

#[test]
fn each_event_is_read_once_from_cursor_to_cursor() {
    let bed = TestStore::new();
    let store = bed.store();
    let full = record(1);
    let id = &full.id;
    let writer = store.begin(&beginning(&full)).unwrap();
    assert!(store.is_live(id).unwrap());
    assert_eq!(store.end_cursor(id).unwrap(), RunCursor::default());
    writer.event(&begun(0));
    writer.event(&interval_event(0, &interval(0)));
    writer.event(&interval_event(0, &interval(1)));
    let stored = wait_for(&store, id, RunCursor::default(), 3);
    assert_eq!(words(&stored), ["begin 0", "interval 0 0", "interval 0 1"]);
    assert_eq!(
        (stored.status, stored.is_truncated),
        (RunStatus::Running, false)
    );
    let cursor = stored.events[1].0;
    assert_eq!(cursor.to_string(), "0.2.0");
    assert_eq!(cursor.to_string().parse(), Ok(cursor));
    assert_eq!(
        words(&store.since(id, cursor, 9).unwrap()),
        ["interval 0 1"]
    );
    let end = stored.events[2].0;
    assert_eq!(store.end_cursor(id).unwrap(), end);
    let (cells, next) = store.intervals(id, cursor, None).unwrap();
    assert_eq!(
        (cells[0].intervals.len(), cells[0].is_complete, next),
        (1, false, end)
    );
    write_cell(&writer, &full.cells[0]);
    let stored = wait_for(&store, id, end, 1);
    assert_eq!(words(&stored), ["end 0"]);
    // Of a complete cell all intervals are new.
    let (cells, _) = store.intervals(id, cursor, None).unwrap();
    assert_eq!((cells[0].intervals.len(), cells[0].is_complete), (5, true));
    writer.finish(&full).unwrap();
    let cursor = stored.events[0].0;
    let stored = store.since(id, cursor, usize::MAX).unwrap();
    assert_eq!(stored.status, RunStatus::Complete);
    assert_eq!(stored.finished_at, full.finished_at);
    assert!(!store.is_live(id).unwrap() && store.live_runs().unwrap().is_empty());
}

#[test]
fn a_finished_run_is_read_in_parts_of_any_size() {
    let bed = TestStore::new();
    let store = bed.store();
    let full = record(1);
    crate::bed::store_run(&store, &full);
    let all = store
        .since(&full.id, RunCursor::default(), usize::MAX)
        .unwrap();
    let mut cursor = RunCursor::default();
    let mut parts = Vec::new();
    loop {
        let part = store.since(&full.id, cursor, 1).unwrap();
        let Some((next, event)) = part.events.into_iter().next() else {
            break;
        };
        assert!(next > cursor);
        cursor = next;
        parts.push((next, event));
    }
    assert_eq!(parts, all.events);
    assert_eq!(store.end_cursor(&full.id).unwrap(), cursor);
    let cells = store.cells(&full.id).unwrap();
    assert_eq!(cells.len(), full.cells.len());
    for (view, cell) in cells.iter().zip(&full.cells) {
        assert_eq!((view.index, &view.workload), (cell.index, &cell.workload));
        assert_eq!(view.total.count, cell.total.count);
        assert_eq!(view.total.per_second, Some(cell.total.per_second));
        let percentiles = &view.total.latency.percentiles_ns;
        assert_eq!(*percentiles, cell.total.latency.percentiles_ns);
    }
    let outline = store.outline(&full.id).unwrap();
    assert_eq!(
        (&outline.plan, &outline.warnings),
        (&full.plan, &full.warnings)
    );
    assert!(outline.cells.is_empty());
}

#[test]
fn a_live_run_names_its_process() {
    let bed = TestStore::new();
    let store = bed.store();
    let writer = store.begin(&beginning(&record(1))).unwrap();
    let live = store.live_runs().unwrap();
    assert_eq!(live[0].id, record(1).id);
    assert!(live[0].owner.is_this_process());
    bed.kill(writer, &record(1));
    assert!(store.live_runs().unwrap().is_empty());
    let stored = store.since("last", RunCursor::default(), 9).unwrap();
    assert_eq!(stored.status, RunStatus::Interrupted);
}

#[test]
fn malformed_cursors_do_not_parse() {
    for text in [
        "",
        "1",
        "1.2",
        "1.2.3.4",
        "a.b.c",
        "1.2.-3",
        "1..3",
        "99999999999.1.1",
    ] {
        assert_eq!(text.parse::<RunCursor>(), Err(()), "{text}");
    }
}
