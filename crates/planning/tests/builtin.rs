//! The built-in workloads are what they say, once they are planned.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use description::Overrides;
use description::builtin::*;
use description::classics::fs_mark::FsMarkPlan;
use description::classics::{CreateRemove, FsMark, LatFs};
use description::load_builtin;
use plan::facts::SystemFacts;
use plan::program::{FilePool, Fsync, Program};
use plan::{CacheMode, Cell};
use planning::{Planned, plan};

fn cells(name: &str) -> Vec<Cell> {
    let loaded = load_builtin(name).unwrap();
    let facts = SystemFacts::default();
    plan(&loaded, &Overrides::new(), &facts).unwrap().plan.cells
}

/// The mean bytes of a request over all lines.
fn mean_bytes(name: &str) -> f64 {
    let cells = cells(name);
    assert_eq!(cells.len(), 1, "{name}");
    mean_of_lines(&cells[0])
}

fn mean_of_lines(cell: &Cell) -> f64 {
    let lines = &cell.workers[0].lines;
    lines
        .iter()
        .map(|line| f64::from(line.size_bytes) * line.of_size_percent / 100.0)
        .sum()
}

#[test]
fn every_built_in_file_is_valid_and_has_its_name_and_source() {
    for Builtin { name, text, .. } in list() {
        let workload = description::read_toml(name, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(workload.name.as_deref(), Some(name));
        assert!(
            workload.source.is_some() && workload.title.is_some(),
            "{name}"
        );
        assert!(!cells(name).is_empty(), "{name}");
    }
}

#[test]
fn the_papers_workloads_have_the_papers_mean_sizes() {
    for (name, mean) in [
        ("oltp", 8192.0),
        ("workstation", 8192.0),
        ("file-server", 11345.92),
        ("web-server", 16035.84),
    ] {
        assert!(
            (mean_bytes(name) - mean).abs() < 1e-6,
            "{name}: {}",
            mean_bytes(name)
        );
    }
}

#[test]
fn the_papers_workloads_have_the_papers_read_and_random_shares() {
    for (name, read, random) in [
        ("oltp", 67.0, 100.0),
        ("workstation", 80.0, 80.0),
        ("file-server", 80.0, 100.0),
        ("web-server", 100.0, 100.0),
    ] {
        for line in &cells(name)[0].workers[0].lines {
            assert_eq!(
                (line.read_percent, line.random_percent),
                (read, random),
                "{name}"
            );
            assert_eq!(
                (line.delay_ns, line.burst, line.align_bytes),
                (0, 1, 0),
                "{name}"
            );
        }
    }
}

#[test]
fn the_papers_pack_has_its_78_cases() {
    let cells = cells("pgmeter-paper");
    assert_eq!(cells.len(), 78);
    let count = |name: &str| {
        cells
            .iter()
            .filter(|cell| cell.workload.starts_with(name))
            .count()
    };
    assert_eq!((count("sequential"), count("random")), (30, 24));
    let depths = |name: &str| {
        let mut depths: Vec<u32> = cells
            .iter()
            .filter(|cell| cell.workload.starts_with(name))
            .map(|cell| cell.iodepth)
            .collect();
        depths.sort_unstable();
        depths.dedup();
        depths
    };
    assert_eq!(depths("sequential"), [1, 4, 16]);
    assert_eq!(depths("random"), [1, 14, 16]);
    assert_eq!(depths("web-server"), [1, 2, 4, 8, 16, 32]);
    for cell in &cells {
        assert_eq!(
            (cell.ramp_time_ns, cell.run_time_ns),
            (30_000_000_000, 300_000_000_000)
        );
    }
}

#[test]
fn the_quick_pack_takes_about_a_minute() {
    let cells = cells("quick");
    let total_ns: u64 = cells
        .iter()
        .map(|cell| cell.run_time_ns + cell.ramp_time_ns)
        .sum();
    assert!((40..=60).contains(&(total_ns / 1_000_000_000)));
    let pairs: Vec<_> = cells
        .iter()
        .map(|cell| (cell.workload.as_str(), cell.iodepth))
        .collect();
    assert_eq!(
        pairs,
        [
            ("sequential-read", 4),
            ("sequential-write", 4),
            ("random-read", 1),
            ("random-read", 32),
            ("random-write", 1),
            ("random-write", 32),
            ("file-server", 8),
        ]
    );
}

#[test]
fn the_short_names_match_cells_of_quick() {
    // What is measured where, whatever the cells are called and however long they take.
    let work = |cell: &Cell| {
        let lines = cell.workers[0].lines.clone();
        (cell.access_spec.clone(), cell.iodepth, lines)
    };
    let quick: Vec<_> = cells("quick").iter().map(work).collect();
    for name in ["seqread-1m", "seqwrite-1m", "randread-4k", "randwrite-4k"] {
        let own: Vec<_> = cells(name).iter().map(work).collect();
        assert!(
            !own.is_empty() && own.iter().all(|it| quick.contains(it)),
            "{name}"
        );
    }
    let mix = cells("randrw-4k");
    let depths: Vec<u32> = mix.iter().map(|cell| cell.iodepth).collect();
    assert_eq!(
        (depths, mix[0].workers[0].lines[0].read_percent),
        (vec![1, 32], 70.0)
    );
}

#[test]
fn a_short_name_with_another_size_gets_the_options_to_write() {
    for (name, words) in [
        ("randread-16k", "--rw randread --bs 16k"),
        ("Seqwrite-128K", "--rw write --bs 128k"),
        ("seqrw_1m", "--rw rw --bs 1m"),
    ] {
        let error = find(name).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("help: write `{words}` instead")),
            "{error}"
        );
    }
    let error = find("randread-x").unwrap_err().to_string();
    assert!(error.contains("did you mean `randread-4k`?"), "{error}");
}

#[test]
fn iometers_defaults_are_31_and_the_mix_has_29_lines() {
    assert_eq!(cells("iometer-defaults").len(), 31);
    let builtins = list().into_iter();
    let iometer = builtins.filter(|it| it.name.starts_with("iometer-"));
    assert_eq!(iometer.count(), 32);
    let mix = &cells("iometer-all-in-one")[0].workers[0].lines;
    let with = |percent: f64| {
        mix.iter()
            .filter(|it| it.of_size_percent == percent)
            .count()
    };
    assert_eq!((mix.len(), with(4.0), with(3.0)), (29, 13, 16));
}

#[test]
fn a_misspelled_name_suggests_the_nearest() {
    assert_eq!(find("File Server").unwrap().name, "file-server");
    assert_eq!(find("quick").unwrap().kind, BuiltinKind::Pack);
    assert_eq!(
        find("fileserver").unwrap_err().to_string(),
        "error: there is no built-in workload `fileserver`\nhelp: did you mean `file-server`?"
    );
    assert_eq!(
        find("xyzzy").unwrap_err().to_string(),
        "error: there is no built-in workload `xyzzy`\nhelp: `pgmeter list` shows them all"
    );
}

fn with_one_worker(mut program: Program) -> Program {
    for phase in program.phases_mut() {
        phase.groups[0].workers = Some(1);
    }
    program
}

#[test]
fn the_classic_file_workloads_match_the_publications() {
    let files = |name: &str| {
        let cells = cells(name);
        assert_eq!((cells.len(), cells[0].workers.len()), (1, 1));
        assert_eq!(cells[0].access_spec.as_deref(), Some(name));
        cells[0].program().unwrap().clone()
    };
    assert_eq!(pool(&files("postmark")), FilePool::default());
    let create_remove = CreateRemove::default().resolve().unwrap();
    assert_eq!(create_remove.sizes_bytes, [0, 4096, 16_384, 65_536]);
    assert_eq!(create_remove.file_count, 500_000);
    let program = with_one_worker(create_remove.program());
    assert_eq!(files("create-remove"), program);
    let lat_fs = LatFs::default().resolve().unwrap();
    assert_eq!(lat_fs.sizes_bytes, [0, 1024, 4096, 10_240]);
    let program = with_one_worker(lat_fs.program());
    assert_eq!(files("lat-fs"), program);
    let program = FsMark::default().resolve(1).unwrap().program();
    assert_eq!(files("fs-mark"), program);
}

/// The pool that work on files is of.
fn pool(program: &Program) -> FilePool {
    *program.pool.clone().unwrap()
}

/// What a built-in workload comes to on a machine of that much memory.
fn planned_with(name: &str, memory_bytes: u64) -> Planned {
    let loaded = load_builtin(name).unwrap();
    let facts = SystemFacts {
        memory_bytes,
        ..SystemFacts::default()
    };
    plan(&loaded, &Overrides::new(), &facts).unwrap()
}

#[test]
fn the_mail_server_is_postmark_with_threads_and_syncs_of_varmail() {
    let planned = planned_with("mail-server", 64 << 30);
    let cell = &planned.plan.cells[0];
    let pool = pool(cell.program().unwrap());
    let published = FilePool {
        number: pool.number,
        transactions: pool.transactions,
        fsync: Fsync::PerFile,
        ..FilePool::default()
    };
    // Sizes, blocks and probabilities are from TR3022.
    assert_eq!((&pool, cell.workers.len()), (&published, 16));
    let bytes = 16 * u64::from(pool.number) * 5250;
    assert!(bytes.abs_diff(64 << 30) < 1 << 20, "{bytes}");
    assert!(planned.warnings.is_empty(), "{:?}", planned.warnings);
}

#[test]
fn the_database_is_the_papers_oltp_with_direct_io_at_its_depths() {
    assert!((mean_of_lines(&cells("database")[0]) - 8192.0).abs() < 1e-6);
    let cells = planned_with("database", 8 << 30).plan.cells;
    let depths: Vec<u32> = cells.iter().map(|cell| cell.iodepth).collect();
    assert_eq!(depths, [1, 2, 4, 8, 16, 32]);
    for cell in &cells {
        assert_eq!(cell.cache, CacheMode::Direct);
        let worker = &cell.workers[0];
        let line = &worker.lines[0];
        assert_eq!((line.read_percent, line.random_percent), (67.0, 100.0));
        assert_eq!(worker.spans[0].size_bytes, 8 << 30);
    }
}

#[test]
fn a_build_includes_the_sync_after_its_files() {
    let cells = planned_with("build", 8 << 30).plan.cells;
    let program = cells[0].program().unwrap();
    let build = FsMarkPlan::of_program(program).unwrap();
    assert_eq!((build.thread_count, build.size_bytes), (4, 16_384));
    assert!(build.sync_method.has_sync() && !build.is_kept);
    assert_eq!(4 * u64::from(build.file_count) * 16_384, 8 << 30);
}

#[test]
fn a_backup_reads_twice_the_memory_in_chunks_of_the_book() {
    let cells = planned_with("backup", 4 << 30).plan.cells;
    let summary: Vec<_> = cells
        .iter()
        .map(|cell| {
            let worker = &cell.workers[0];
            let line = &worker.lines[0];
            assert_eq!((line.size_bytes, line.random_percent), (131_072, 0.0));
            (line.read_percent, cell.new_file, worker.spans[0].size_bytes)
        })
        .collect();
    assert_eq!(summary, [(0.0, true, 8 << 30), (100.0, false, 8 << 30)]);
    assert!(cells.iter().all(|cell| cell.cache == CacheMode::Buffered));
}

#[test]
fn two_options_give_the_published_postmark_run() {
    let loaded = load_builtin("postmark").unwrap();
    let mut overrides = Overrides::new();
    for pair in ["number=9999", "transactions=5000000", "engine=null"] {
        overrides.set_pair(pair).unwrap();
    }
    let planned = plan(&loaded, &overrides, &SystemFacts::default()).unwrap();
    let pool = pool(planned.plan.cells[0].program().unwrap());
    assert_eq!((pool.number, pool.transactions), (9999, 5_000_000));
    assert!(planned.warnings.is_empty());
}
