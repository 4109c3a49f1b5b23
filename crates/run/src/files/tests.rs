//! Whole runs of file workloads, in a scratch directory and on the `null` engine.

use std::path::Path;
use std::sync::atomic::Ordering;

use description::classics::create_remove::{BetweenSteps, CreateRemoveMode};
use description::classics::{CreateRemove, FsMark, LatFs};
use plan::program::{FilePool, Fsync, Program};
use plan::{
    CacheMode, Cell, ContentPlan, CursorKind, EngineKind, Plan, PlannedWorkload, PositionRule,
    SpanPlan, TargetKind, TargetPlan, Work, WorkerPlan,
};
use results::{CellRecord, PoolFigures, ReportedRound, RoundRule, RunRecord, Status};

use crate::{RunOptions, RunSpec, measure};

fn worker(worker_index: u32, iodepth: u32) -> WorkerPlan {
    WorkerPlan {
        worker_index,
        rank: 0,
        name: format!("worker {worker_index}"),
        access_spec: "files".to_owned(),
        lines: Vec::new(),
        spans: vec![SpanPlan {
            target_index: 0,
            iodepth,
            start_bytes: 0,
            size_bytes: 1 << 20,
            sector_bytes: 512,
        }],
        seed: u64::from(worker_index) + 42,
        position: PositionRule::Uniform,
        cursor: CursorKind::Worker,
        content: ContentPlan::Incompressible,
        verify: false,
        transactions_per_connection: None,
        network: false,
        cpu: None,
        job: None,
    }
}

pub(super) fn plan(path: &Path, engine: EngineKind, workers: u32, files: Box<Program>) -> Plan {
    let iodepth = if engine == EngineKind::IoUring { 4 } else { 1 };
    let name = "files".to_owned();
    let workers = (0..workers).map(|index| worker(index, iodepth)).collect();
    let work = Work::Acts(files.into());
    Plan {
        workloads: vec![PlannedWorkload {
            name: name.clone(),
            title: name.clone(),
            source: "a test".to_owned(),
            pack: None,
            front: None,
            varied: None,
        }],
        targets: vec![TargetPlan {
            path: path.to_owned(),
            kind: TargetKind::Directory,
            size_bytes: 1 << 20,
            block_bytes: 512,
        }],
        cells: vec![Cell {
            first_index: Some(0),
            workload_index: Some(0),
            ..Cell::new(name, (engine, CacheMode::Buffered), work, workers)
        }],
        seed: 1,
        settings: Vec::new(),
        repetition_rule: None,
    }
}

pub(super) fn record_of(plan: &Plan) -> RunRecord {
    let finished = measure(
        RunSpec::new(plan, &mut |_| {}),
        &RunOptions::default(),
        None,
    );
    assert!(finished.error.is_none(), "{:?}", finished.error);
    assert_eq!(finished.record.status, Status::Complete);
    finished.record
}

fn names_in(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

fn create_remove() -> Box<Program> {
    let settings = CreateRemove {
        count: Some(100),
        directories: Some(3),
        sizes: Some(vec![units::Bytes(0), units::Bytes(5000)].into()),
        ..CreateRemove::default()
    };
    settings.resolve().unwrap().program().into()
}

#[test]
fn a_target_that_cannot_be_remounted_is_refused_first() {
    let settings = CreateRemove {
        between: Some(BetweenSteps::Remount),
        ..CreateRemove::default()
    };
    let files = settings.resolve().unwrap().program().into();
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a");
    std::fs::create_dir(&path).unwrap();
    // Even where remounting is allowed, this test's program keeps the file system in use.
    let plan = plan(&path, EngineKind::Psync, 1, files);
    let mut events = 0;
    let mut listener = |_: &results::RunEvent| events += 1;
    let finished = measure(
        RunSpec::new(&plan, &mut listener),
        &RunOptions::default(),
        None,
    );
    let error = finished.error.unwrap();
    let text = error.to_string();
    assert!(
        text.contains("cannot be unmounted and mounted again"),
        "{text}"
    );
    assert_eq!(events, 0);
    assert_eq!(finished.record.status, Status::Failed);
    assert!(finished.record.cells.is_empty());
    let refusals: Vec<String> = crate::refusals(&plan, false)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(refusals, [text]);
    assert!(names_in(&path).is_empty());
}

#[test]
fn create_remove_stats_every_file_on_request() {
    for (engine, mode) in [
        (EngineKind::Psync, CreateRemoveMode::Syscall),
        (EngineKind::IoUring, CreateRemoveMode::Syscall),
        (EngineKind::Null, CreateRemoveMode::Syscall),
        (EngineKind::Psync, CreateRemoveMode::Exec),
    ] {
        let settings = CreateRemove {
            count: Some(20),
            directories: Some(3),
            sizes: Some(vec![units::Bytes(0)].into()),
            stat: Some(true),
            mode: Some(mode),
            ..CreateRemove::default()
        };
        let files = settings.resolve().unwrap().program().into();
        let scratch = tempfile::tempdir().unwrap();
        let record = record_of(&plan(scratch.path(), engine, 1, files));
        let phases: Vec<&str> = record.cells.iter().map(|cell| cell.phase.name()).collect();
        assert_eq!(phases, ["create empty", "stat empty", "remove empty"]);
        let cell = &record.cells[1];
        assert_eq!((cell.total.count, cell.total.errors), (20, 0), "{engine:?}");
        let figures = cell.phase_figures.as_ref().unwrap();
        let step = figures.step().unwrap();
        let counts = (step.label.as_str(), step.count, step.errors);
        assert_eq!(counts, ("stat", 20, 0), "{engine:?}");
        let has_baseline = figures.steps.get(1).is_some_and(|it| it.count == 20);
        assert_eq!(has_baseline, mode == CreateRemoveMode::Exec, "{engine:?}");
        if mode == CreateRemoveMode::Syscall {
            assert_eq!(cell.operations["stat"].count, 20, "{engine:?}");
            assert_eq!(cell.transactions["stat"].count, 20, "{engine:?}");
        }
        assert!(names_in(scratch.path()).is_empty(), "{engine:?}");
    }
}

#[test]
fn create_remove_makes_and_removes_every_file_with_each_engine() {
    for (engine, workers) in [
        (EngineKind::Psync, 1),
        (EngineKind::Psync, 3),
        (EngineKind::IoUring, 2),
        (EngineKind::Null, 2),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let record = record_of(&plan(scratch.path(), engine, workers, create_remove()));
        let phases: Vec<&str> = record.cells.iter().map(|cell| cell.phase.name()).collect();
        assert_eq!(
            phases,
            [
                "create empty",
                "remove empty",
                "create 5000B",
                "remove 5000B"
            ]
        );
        for cell in &record.cells {
            assert_eq!(
                (cell.total.count, cell.total.errors),
                (100, 0),
                "{engine:?}"
            );
            let figures = cell.phase_figures.as_ref().unwrap();
            let step = figures.step().unwrap();
            assert_eq!((step.count, step.errors), (100, 0), "{engine:?}");
            assert_eq!(step.time_ns, cell.run_time_ns, "{engine:?}");
            assert_eq!(figures.fileset().unwrap().file_count, 100, "{engine:?}");
        }
        assert_eq!(record.cells[2].total.bytes, 500_000);
        assert_eq!(record.cells[2].operations["close"].count, 100);
        assert!(names_in(scratch.path()).is_empty(), "{engine:?}");
    }
}

#[test]
fn lat_fs_goes_on_until_its_budget_is_used_up() {
    let settings = LatFs {
        files: Some(20),
        sizes: Some(vec![units::Bytes(1024)].into()),
        budget: Some(units::Span::from_millis(20)),
        ..LatFs::default()
    };
    let files = settings.resolve().unwrap().program().into();
    let scratch = tempfile::tempdir().unwrap();
    let record = record_of(&plan(scratch.path(), EngineKind::Psync, 1, files));
    let [create, remove] = &record.cells[..] else {
        panic!("one size has two phases");
    };
    let passes = reported_round(create).round_count;
    assert_eq!(create.total.count, passes * 20);
    assert_eq!(remove.total.count, passes * 20);
    assert!(create.run_time_ns + remove.run_time_ns >= 20_000_000);
    assert!(names_in(scratch.path()).is_empty());
}

#[test]
fn the_newer_lat_fs_takes_the_median_of_calibrated_samples() {
    let settings = LatFs {
        compat: Some(description::classics::lat_fs::LatFsCompat::V3),
        sizes: Some(vec![units::Bytes(0)].into()),
        repetitions: Some(3),
        sample_time: Some(units::Span::from_millis(2)),
        ..LatFs::default()
    };
    let files = settings.resolve().unwrap().program().into();
    let scratch = tempfile::tempdir().unwrap();
    let record = record_of(&plan(scratch.path(), EngineKind::Psync, 1, files));
    for cell in &record.cells {
        let reported = reported_round(cell);
        assert_eq!(
            (reported.rule, reported.round_count),
            (RoundRule::Median, 3)
        );
        assert!(reported.time_ns >= 1_500_000, "{reported:?}");
        assert_eq!(cell.total.errors, 0, "{:?}", cell.errors);
    }
    assert!(names_in(scratch.path()).is_empty());
}

#[test]
fn an_interrupted_pass_is_not_the_best_of_lat_fs() {
    use super::stages::{CellTrees, StageOutcome};
    let settings = LatFs {
        files: Some(10),
        sizes: Some(vec![units::Bytes(0)].into()),
        ..LatFs::default()
    };
    let program = settings.resolve().unwrap().program();
    let files = program.clone().into();
    let cell = plan(Path::new("/"), EngineKind::Null, 1, files)
        .cells
        .remove(0);
    let mut run = super::program::ProgramRun::new(&cell, &program).unwrap();
    let trees = CellTrees::default();
    for (time_ns, is_cut) in [(5000, false), (4000, false), (6000, false), (10, true)] {
        let stage = run.next(&trees).unwrap().unwrap();
        let done = StageOutcome {
            is_cut,
            ..StageOutcome::timed(time_ns)
        };
        run.done(&stage.phase, done);
    }
    let of = |phase: &str| run.figures()[phase].0.reported_round.unwrap();
    assert_eq!(of("remove empty").time_ns, 4000);
    assert_eq!(of("create empty").time_ns, 5000);
    assert_eq!(of("create empty").round_count, 1);
}

#[test]
fn an_interrupted_fs_mark_iteration_lacks_files() {
    let settings = FsMark {
        files: Some(1_000_000),
        size: Some(units::Bytes(0)),
        loops: Some(1),
        sync_method: Some(description::classics::fs_mark::SyncMethod::None),
        ..FsMark::default()
    };
    let files = settings.resolve(1).unwrap().program().into();
    let scratch = tempfile::tempdir().unwrap();
    let plan = plan(scratch.path(), EngineKind::Psync, 1, files);
    let options = RunOptions::default();
    let stop = options.stop.clone();
    let mut listener = |event: &results::RunEvent| {
        if let results::RunEvent::Interval { .. } = event {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let finished = measure(RunSpec::new(&plan, &mut listener), &options, None);
    let [create] = &finished.record.cells[..] else {
        panic!("files that are kept have one phase");
    };
    assert_eq!(create.status, Status::Interrupted);
    assert!(create.total.count < 1_000_000);
    let rounds = &create.phase_figures.as_ref().unwrap().rounds;
    assert_eq!(
        (rounds.len(), rounds[0].file_count),
        (1, create.total.count)
    );
}

#[test]
fn a_repeated_size_is_measured_twice() {
    let sizes = || Some(vec![units::Bytes(0), units::Bytes(4096), units::Bytes(0)].into());
    let create_remove = CreateRemove {
        count: Some(10),
        sizes: sizes(),
        ..CreateRemove::default()
    };
    let lat_fs = LatFs {
        files: Some(10),
        sizes: sizes(),
        budget: Some(units::Span(1)),
        ..LatFs::default()
    };
    for files in [
        create_remove.resolve().unwrap().program().into(),
        lat_fs.resolve().unwrap().program().into(),
    ] {
        let record = record_of(&plan(Path::new("/"), EngineKind::Null, 1, files));
        let phases: Vec<&str> = record.cells.iter().map(|cell| cell.phase.name()).collect();
        let names = ["empty", "4KiB", "empty (2)"];
        let wanted: Vec<String> = names
            .iter()
            .flat_map(|name| [format!("create {name}"), format!("remove {name}")])
            .collect();
        assert_eq!(phases, wanted);
        for (cell, size_bytes) in record.cells.iter().zip([0, 0, 4096, 4096, 0, 0]) {
            let figures = cell.phase_figures.as_ref().unwrap();
            assert_eq!(figures.fileset().unwrap().file_bytes, size_bytes);
        }
    }
}

#[test]
fn fs_mark_has_a_rate_for_each_iteration() {
    let settings = FsMark {
        threads: Some(2),
        files: Some(30),
        size: Some(units::Bytes(100)),
        loops: Some(2),
        keep: Some(false),
        subdirectories: Some(4),
        files_per_subdirectory: Some(10),
        sync_method: Some(description::classics::fs_mark::SyncMethod::SyncPost),
        mkdir_every_file: Some(true),
        ..FsMark::default()
    };
    let files = settings.resolve(1).unwrap().program().into();
    let scratch = tempfile::tempdir().unwrap();
    let record = record_of(&plan(scratch.path(), EngineKind::Psync, 2, files));
    let phases: Vec<&str> = record.cells.iter().map(|cell| cell.phase.name()).collect();
    assert_eq!(phases, ["create", "sync all", "sync", "remove"]);
    let counts = [
        [("create", 30), ("write", 30), ("close", 30)].as_slice(),
        &[("sync", 1)],
        &[("fsync", 30)],
        &[("unlink", 30)],
    ];
    for (cell, counts) in record.cells.iter().zip(counts) {
        let phase = cell.phase.name();
        let is_one = phase == "sync all";
        let count = if is_one { 2 } else { 120 };
        assert_eq!((cell.total.count, cell.total.errors), (count, 0), "{phase}");
        let rounds = &cell.phase_figures.as_ref().unwrap().rounds;
        assert_eq!(rounds.len(), 2, "{phase}");
        for round in rounds {
            let space = round.space.unwrap();
            assert!(space.free_bytes <= space.total_bytes, "{space:?}");
            assert_eq!(round.workers.len(), if is_one { 1 } else { 2 }, "{phase}");
            for worker in &round.workers {
                for (kind, count) in counts {
                    let times = worker.of(kind);
                    assert_eq!(times.count, *count, "{phase} {kind}");
                    assert!(times.min_ns <= times.max_ns && times.max_ns <= times.sum_ns);
                }
            }
        }
    }
    let iterations = &record.cells[0].phase_figures.as_ref().unwrap().rounds;
    assert!(iterations.iter().all(|round| round.file_count == 60));
    assert!(names_in(scratch.path()).is_empty());
}

#[test]
fn reads_at_the_end_of_a_file_are_not_short_transfers() {
    for engine in [EngineKind::Psync, EngineKind::IoUring, EngineKind::Null] {
        let files = of_pool(|pool| {
            pool.number = 50;
            pool.transactions = 200;
        });
        let scratch = tempfile::tempdir().unwrap();
        let record = record_of(&plan(scratch.path(), engine, 1, files));
        for cell in &record.cells {
            for (name, figures) in &cell.operations {
                let counts = (figures.short_count, figures.errors);
                assert_eq!(counts, (0, 0), "{engine:?} {name}");
            }
        }
        let operations = &record.cells[1].operations;
        // A ring reads some files by linked requests.
        let bytes = |name: &str| operations.get(name).map_or(0, |it| it.bytes);
        assert_eq!(
            bytes("read") + bytes("read_whole"),
            pool(&record).read_bytes,
            "{engine:?}"
        );
        let is_ring = engine == EngineKind::IoUring;
        assert_eq!(bytes("read_whole") > 0, is_ring, "{engine:?}");
    }
}

#[test]
fn a_stopped_run_leaves_nothing_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let settings = CreateRemove {
        count: Some(50_000_000),
        sizes: Some(vec![units::Bytes(0)].into()),
        ..CreateRemove::default()
    };
    let files = settings.resolve().unwrap().program().into();
    let plan = plan(scratch.path(), EngineKind::Psync, 1, files);
    let options = RunOptions::default();
    let stop = options.stop.clone();
    let mut listener = |event: &results::RunEvent| {
        if let results::RunEvent::Interval { .. } = event {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let finished = measure(RunSpec::new(&plan, &mut listener), &options, None);
    assert_eq!(finished.record.status, Status::Interrupted);
    assert_eq!(finished.record.cells[0].status, Status::Interrupted);
    assert!(finished.record.cells[0].total.count > 0);
    assert!(names_in(scratch.path()).is_empty());
}

fn of_pool(change: impl FnOnce(&mut FilePool)) -> Box<Program> {
    let mut pool = FilePool::default();
    change(&mut pool);
    Box::new(Program::of_pool(pool, None))
}

/// Results of all pools, from the first phase that has any.
fn pool(record: &RunRecord) -> PoolFigures {
    let cells = record.cells.iter();
    let mut phases = cells.filter_map(|cell| cell.phase_figures.as_ref());
    phases.next().unwrap().pool.unwrap()
}

/// The round that lat_fs reports.
fn reported_round(cell: &CellRecord) -> ReportedRound {
    cell.phase_figures.as_ref().unwrap().reported_round.unwrap()
}

#[test]
fn a_pool_does_the_same_on_files_as_in_memory() {
    let scratch = tempfile::tempdir().unwrap();
    for change in [
        (|_| {}) as fn(&mut FilePool),
        |pool| pool.subdirectories = 7,
        |pool| pool.is_buffered = false,
        |pool| pool.fsync = Fsync::PerTransaction,
    ] {
        let of = |engine| record_of(&plan(scratch.path(), engine, 1, of_pool(change)));
        let (real, null) = (of(EngineKind::Psync), of(EngineKind::Null));
        let without_times = |record: &RunRecord| PoolFigures {
            creation_ns: 0,
            directories_made_ns: 0,
            directories_removed_ns: 0,
            transactions_ns: 0,
            deletion_ns: 0,
            transactions_per_second: None,
            ..pool(record)
        };
        assert_eq!(without_times(&real), without_times(&null));
        assert_eq!(pool(&real).transactions_count, 500);
        let phases: Vec<&str> = real.cells.iter().map(|cell| cell.phase.name()).collect();
        assert_eq!(phases, ["create", "transactions", "delete"]);
        assert!(real.cells.iter().all(|cell| cell.total.errors == 0));
        assert!(names_in(scratch.path()).is_empty());
    }
}

#[test]
fn reads_of_a_pool_return_its_writes_with_either_engine() {
    for engine in [EngineKind::Psync, EngineKind::IoUring] {
        let scratch = tempfile::tempdir().unwrap();
        let mut plan = plan(scratch.path(), engine, 2, of_pool(|_| {}));
        for worker in &mut plan.cells[0].workers {
            worker.verify = true;
        }
        let record = record_of(&plan);
        let mismatch = record
            .warnings
            .iter()
            .find(|warning| warning.code == results::WarningCode::VerifyMismatch);
        assert_eq!(mismatch, None, "{engine:?}");
        assert_eq!(pool(&record).transactions_count, 1000);
        assert!(record.cells.iter().all(|cell| cell.total.errors == 0));
    }
}

#[test]
fn workers_of_a_shared_pool_share_directories() {
    let scratch = tempfile::tempdir().unwrap();
    let files = of_pool(|pool| {
        pool.is_shared = true;
        pool.subdirectories = 3;
    });
    let record = record_of(&plan(scratch.path(), EngineKind::Psync, 2, files));
    assert_eq!(pool(&record).transactions_count, 1000);
    assert!(record.cells.iter().all(|cell| cell.total.errors == 0));
    assert!(names_in(scratch.path()).is_empty());
}

#[test]
fn a_pool_with_a_time_ends_its_transactions_and_deletes_the_rest() {
    let scratch = tempfile::tempdir().unwrap();
    let program = Program::of_pool(FilePool::default(), Some(300_000_000));
    let files = Box::new(program);
    let plan = plan(scratch.path(), EngineKind::Psync, 1, files);
    let record = record_of(&plan);
    let transactions = &record.cells[1];
    assert!(transactions.run_time_ns >= 300_000_000);
    assert_eq!(pool(&record).created_count, pool(&record).deleted_count);
    assert!(names_in(scratch.path()).is_empty());
}
