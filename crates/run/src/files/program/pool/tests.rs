use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::Ordering;

use plan::program::{NamesInPlace, PoolBase, PoolLocation};
use plan::{EngineKind, Plan};
use results::{PoolFailures, RunRecord, Status};
use storage::InPlace;

use super::*;
use crate::files::tests::plan;
use crate::session::{Finished, RunOptions};

/// A pool in the target itself, and in others that are named.
fn pool(bases: &[PoolBase]) -> FilePool {
    let location = |(index, place): (usize, &PoolBase)| PoolLocation {
        directory: format!("l{index}").into_bytes(),
        weight: 1,
        place: *place,
    };
    FilePool {
        number: 30,
        transactions: 100,
        locations: bases.iter().enumerate().map(location).collect(),
        ..FilePool::default()
    }
}

fn planned(paths: &[&Path], pool: FilePool) -> Plan {
    let program = Program::of_pool(pool, None);
    let mut plan = plan(paths[0], EngineKind::Psync, 1, Box::new(program));
    for (index, path) in (0..).zip(paths).skip(1) {
        let mut target = plan.targets[0].clone();
        target.path = path.to_path_buf();
        plan.targets.push(target);
        let worker = &mut plan.cells[0].workers[0];
        let mut span = worker.spans[0];
        span.target_index = index;
        worker.spans.push(span);
    }
    plan
}

fn in_place(plan: &Plan, options: &RunOptions, listener: &mut dyn FnMut(&RunEvent)) -> Finished {
    let options = RunOptions {
        in_place: Some(InPlace {
            program: "test".to_owned(),
            names: NamesInPlace::Numbers {
                subdirectory_count: 3,
            },
        }),
        ..options.clone()
    };
    crate::measure(crate::RunSpec::new(plan, listener), &options, None)
}

/// Record and failures of a complete run.
fn done(plan: &Plan) -> (RunRecord, PoolFailures) {
    let mut failures = PoolFailures::default();
    let finished = in_place(plan, &RunOptions::default(), &mut |event| {
        if let RunEvent::PoolPartDone { failures: more, .. } = event {
            failures.count += more.count;
            failures.listed.extend(more.listed.clone());
        }
    });
    assert!(finished.error.is_none(), "{:?}", finished.error);
    assert_eq!(finished.record.status, Status::Complete);
    (finished.record, failures)
}

fn figures(record: &RunRecord) -> PoolFigures {
    let mut phases = record
        .cells
        .iter()
        .filter_map(|it| it.phase_figures.as_ref());
    phases.next().unwrap().pool.unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// The counts when every operation succeeds.
fn expected(pool: &FilePool) -> Totals {
    let mut stream = generate::pool::PoolStream::new(pool).unwrap();
    while stream
        .next(generate::pool::OperationOutcome::Done)
        .is_some()
    {}
    *stream.totals()
}

fn assert_counts(figures: &PoolFigures, totals: &Totals) {
    assert_eq!(figures.transactions_count, totals.transactions_count);
    assert_eq!(figures.created_count, totals.created_count);
    assert_eq!(figures.read_count, totals.read_count);
    assert_eq!(figures.appended_count, totals.appended_count);
    assert_eq!(figures.deleted_count, totals.deleted_count);
    assert_eq!(figures.read_bytes, totals.read_bytes);
    assert_eq!(figures.written_bytes, totals.written_bytes);
}

#[test]
fn user_directories_give_the_counts_of_the_stream_and_are_left_clean() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // The same directory twice, but where the second would find the first one's subdirectories.
    for (subdirectories, places) in [(0, &[0, 1, 0][..]), (3, &[0, 1])] {
        let bases: Vec<PoolBase> = places.iter().copied().map(PoolBase::Target).collect();
        for is_buffered in [true, false] {
            for block_bytes in [512, 700, 6000] {
                let pool = FilePool {
                    is_buffered,
                    subdirectories,
                    read_block_bytes: block_bytes,
                    write_block_bytes: block_bytes,
                    ..pool(&bases)
                };
                let plan = planned(&[one.path(), other.path()], pool.clone());
                let (record, failures) = done(&plan);
                assert_counts(&figures(&record), &expected(&pool));
                assert_eq!(figures(&record).taken_count, 0);
                assert_eq!(failures, PoolFailures::default());
                assert!(names(one.path()).is_empty() && names(other.path()).is_empty());
            }
        }
    }
}

#[test]
fn a_run_stopped_in_any_part_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let parts = [
        PoolPart::MakeDirectories,
        PoolPart::Fill,
        PoolPart::Transact,
        PoolPart::Empty,
    ];
    for stop_at in parts {
        let pool = FilePool {
            subdirectories: 3,
            number: 3000,
            transactions: 200_000_000,
            ..pool(&[PoolBase::Target(0)])
        };
        let pool = match stop_at {
            PoolPart::Empty => FilePool {
                transactions: 1,
                ..pool
            },
            _ => pool,
        };
        let options = RunOptions::default();
        let finished = in_place(&planned(&[scratch.path()], pool), &options, &mut |event| {
            let is_it = matches!(event, RunEvent::PoolPartBegun { part, .. } if *part == stop_at);
            if is_it {
                options.stop.store(true, Ordering::Relaxed);
            }
        });
        assert!(finished.error.is_none(), "{:?}", finished.error);
        assert_eq!(finished.record.status, Status::Interrupted);
        assert!(names(scratch.path()).is_empty(), "{stop_at:?}");
    }
}

#[test]
fn stopped_transactions_leave_existing_files() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("3"), "mine").unwrap();
    let pool = FilePool {
        transactions: 200_000_000,
        ..pool(&[PoolBase::Target(0)])
    };
    let options = RunOptions::default();
    let mut progress = 0;
    let finished = in_place(&planned(&[scratch.path()], pool), &options, &mut |event| {
        progress += u32::from(matches!(event, RunEvent::Progress { .. }));
        if progress > 3 {
            options.stop.store(true, Ordering::Relaxed);
        }
    });
    assert_eq!(finished.record.status, Status::Interrupted);
    assert_eq!(names(scratch.path()), ["3"]);
    assert_eq!(fs::read(scratch.path().join("3")).unwrap(), b"mine");
}

#[test]
fn existing_files_are_neither_written_nor_removed() {
    let scratch = tempfile::tempdir().unwrap();
    let existing = scratch.path().join("3");
    fs::write(&existing, "mine").unwrap();
    fs::create_dir(scratch.path().join("s1")).unwrap();
    for subdirectories in [0, 2] {
        for is_buffered in [true, false] {
            let pool = FilePool {
                is_buffered,
                subdirectories,
                ..pool(&[PoolBase::Target(0)])
            };
            let (record, failures) = done(&planned(&[scratch.path()], pool));
            assert_eq!(figures(&record).taken_count, 1);
            assert_eq!(fs::read(&existing).unwrap(), b"mine");
            assert_eq!(names(scratch.path()), ["3", "s1"]);
            if subdirectories == 0 {
                let first = &failures.listed[0];
                assert_eq!((first.kind.as_str(), first.number), ("create", 3));
            }
        }
    }
}

#[test]
fn links_in_the_place_of_files_and_directories_are_not_followed() {
    let (scratch, aim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = aim.path().join("aim");
    fs::write(&file, "mine").unwrap();
    symlink(&file, scratch.path().join("1")).unwrap();
    symlink(aim.path(), scratch.path().join("s0")).unwrap();
    for subdirectories in [0, 2] {
        let pool = FilePool {
            subdirectories,
            ..pool(&[PoolBase::Target(0)])
        };
        done(&planned(&[scratch.path()], pool));
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        assert_eq!(names(scratch.path()), ["1", "s0"]);
        assert_eq!(names(aim.path()), ["aim"]);
    }
}

#[test]
fn with_a_missing_location_every_operation_fails_and_the_run_ends() {
    let scratch = tempfile::tempdir().unwrap();
    for subdirectories in [0, 3] {
        let pool = FilePool {
            subdirectories,
            ..pool(&[PoolBase::Nowhere])
        };
        let (record, failures) = done(&planned(&[scratch.path()], pool));
        let figures = figures(&record);
        assert_eq!(figures.transactions_count, 100);
        assert_eq!(figures.read_count + figures.deleted_count, 0);
        assert_eq!(figures.taken_count, 0);
        assert_eq!(failures.listed[0].kind, "create");
        assert!(failures.count > 130, "{}", failures.count);
        assert!(names(scratch.path()).is_empty());
    }
}

#[test]
fn short_reads_are_counted_although_the_original_ignores_them() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = pool(&[PoolBase::Target(0)]);
    let plan = planned(&[scratch.path()], pool.clone());
    let finished = in_place(&plan, &RunOptions::default(), &mut |event| {
        let part = PoolPart::Transact;
        if matches!(event, RunEvent::PoolPartBegun { part: it, .. } if *it == part) {
            for name in names(scratch.path()) {
                if !name.starts_with("pgmeter") {
                    fs::write(scratch.path().join(name), "").unwrap();
                }
            }
        }
    });
    let record = &finished.record;
    let transactions = record.cells.iter();
    let reads = transactions.filter_map(|cell| cell.operations.get("read"));
    assert!(reads.map(|it| it.short_count).sum::<u64>() > 0);
    assert_counts(&figures(record), &expected(&pool));
    assert!(names(scratch.path()).is_empty());
}
