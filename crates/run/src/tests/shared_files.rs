//! Files that are shared with threads that have their own descriptor tables.

use std::fs::{self, File};
use std::path::Path;

use super::scratch::Directory;
use super::*;

/// `true` if this process has the file open.
fn is_open(path: &Path) -> bool {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let targets = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets.into_iter().any(|target| target == path)
}

#[test]
fn files_read_by_plain_calls_are_closed_after_the_cell() {
    let directory = Directory::new("shared");
    let path = directory.path().canonicalize().unwrap().join("data");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let workers = (0..2).map(|index| {
        let mut worker = worker(index, 1, vec![line(4096, 100.0, 100.0)]);
        worker.spans[0].size_bytes = 1 << 20;
        worker
    });
    let mut cell = cell(1, workers.collect());
    cell.engine = EngineKind::Psync;
    cell.operations = Some(1000);
    let open = |_, _| {
        let file = File::open(&path).unwrap().into();
        Ok(OpenFile { file, reopen: None })
    };
    let measured = run_on(&cell, &open, &Arc::default(), &mut |_| {});
    assert_eq!(counted(&measured), 1000);
    let spans = measured.lanes.iter().flat_map(|lane| &lane.spans);
    assert_eq!(
        spans.map(|span| span.total().bytes()).sum::<u64>(),
        4_096_000
    );
    assert!(!is_open(&path));
    let _held = File::open(&path).unwrap();
    assert!(is_open(&path));
}
