mod programs;

use crate::{Planned, plan};
use description::Overrides;
use description::load;
use plan::Diagnostic;
use plan::facts::{SystemFacts, TargetFacts};
use plan::{CacheMode, Cell, EngineKind, Source, TargetKind};

use plan::worker_seed;

fn planned_on(text: &str, pairs: &[&str], facts: &SystemFacts) -> Result<Planned, Diagnostic> {
    let loaded = load("w.toml", text)?;
    let mut overrides = Overrides::new();
    for pair in pairs {
        overrides.set_pair(pair)?;
    }
    plan(&loaded, &overrides, facts)
}

fn planned(text: &str) -> Planned {
    planned_on(text, &[], &SystemFacts::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    let error = planned_on(text, &[], &SystemFacts::default()).unwrap_err();
    error.to_string()
}

fn cells(text: &str) -> Vec<Cell> {
    planned(text).plan.cells
}

fn facts(kind: TargetKind, exists: bool) -> SystemFacts {
    let target = TargetFacts {
        exists,
        free_bytes: 2 << 30,
        total_bytes: 100 << 30,
        direct_alignment_bytes: 512,
        ..TargetFacts::placeholder("/a", kind)
    };
    SystemFacts {
        targets: vec![target],
        ..SystemFacts::default()
    }
}

fn on(kind: TargetKind, exists: bool, text: &str) -> Result<Planned, String> {
    let text = format!("targets = \"/a\"\n{text}");
    planned_on(&text, &[], &facts(kind, exists)).map_err(|error| error.to_string())
}

#[test]
fn postmark_has_its_published_defaults() {
    let planned = planned("[postmark]\n");
    let cell = &planned.plan.cells[0];
    assert_eq!(
        (
            cell.engine,
            cell.cache,
            cell.iodepth,
            cell.run_time_ns,
            cell.ramp_time_ns
        ),
        (EngineKind::Psync, CacheMode::Buffered, 1, 0, 0)
    );
    assert_eq!(
        (cell.access_spec.as_deref(), cell.operations),
        (Some("postmark"), None)
    );
    let Some(program) = cell.program() else {
        panic!("{:?}", cell.work);
    };
    let settings = description::classics::postmark::PostmarkSettings::default();
    assert_eq!(program.pool.as_deref(), Some(&settings.pool()));
    assert_eq!(settings.pool(), plan::program::FilePool::default());
    assert_eq!(program.check(), Ok(()));
    assert_eq!(
        (planned.plan.seed, planned.plan.targets[0].size_bytes),
        (42, 0)
    );
    let worker = &cell.workers[0];
    assert_eq!(
        (worker.seed, worker.lines.len(), worker.spans.len()),
        (42, 0, 1)
    );
    let span = worker.spans[0];
    assert_eq!(
        (span.start_bytes, span.size_bytes, span.iodepth),
        (0, 568 * 9346 + 1_187_500, 1)
    );
}

#[test]
fn every_key_is_a_setting_with_its_source() {
    let planned = planned("seed = 7\n[postmark]\nnumber = 9\nlocations = [\"a 2\", \"b/\"]\n");
    let shown = |key: &str| {
        let mut settings = planned.plan.settings.iter();
        let setting = settings.find(|setting| setting.key == key).unwrap();
        (setting.value.as_str(), setting.source)
    };
    assert_eq!(shown("postmark.number"), ("9", Source::Written));
    assert_eq!(shown("postmark.locations"), ("a 2,b", Source::Written));
    assert_eq!(shown("postmark.max_size"), ("10000B", Source::Default));
    assert_eq!(shown("postmark.choice"), ("uniform", Source::Default));
    assert_eq!(shown("seed"), ("7", Source::Written));
    for (text, count) in [
        ("postmark", 17),
        ("create_remove", 9),
        ("lat_fs", 6),
        ("fs_mark", 11),
    ] {
        let planned = self::planned(&format!("[{text}]\n"));
        let keys = planned
            .plan
            .settings
            .iter()
            .filter(|it| it.key.starts_with(text));
        assert_eq!(keys.count(), count, "{text}");
    }
}

#[test]
fn workers_take_targets_in_turn_and_have_their_own_seeds() {
    let text = "targets = [\"/a\", \"/b\"]\nworkers = 3\ncpus = [1, 0]\n";
    let assigned = |table: &str| {
        let cells = cells(&format!("{text}{table}"));
        let workers = cells[0].workers.iter();
        let one = |it: &plan::WorkerPlan| (it.spans[0].target_index, it.seed, it.cpu);
        workers.map(one).collect::<Vec<_>>()
    };
    assert_eq!(
        assigned("[postmark]\n"),
        [(0, 42, Some(1)), (1, 43, Some(0)), (0, 44, Some(1))]
    );
    let seeds = assigned("[lat_fs]\n").into_iter().map(|(_, seed, _)| seed);
    assert_eq!(
        seeds.collect::<Vec<_>>(),
        [0, 1, 2].map(|index| worker_seed(1, index))
    );
    assert_eq!(
        cells("targets = [\"/a\", \"/b\"]\n[lat_fs]\n")[0]
            .workers
            .len(),
        2
    );
    assert_eq!(
        refusal("targets = [\"/a\", \"/b\"]\nworkers = 1\n[lat_fs]\n"),
        "error: `w` has 2 targets and works on one with each of 1 workers\n\
         help: add `--workers 2`"
    );
}

#[test]
fn threads_of_fs_mark_are_workers() {
    let count = |text: &str| cells(text)[0].workers.len();
    assert_eq!(count("[fs_mark]\nthreads = 4\n"), 4);
    assert_eq!(count("workers = 2\n[fs_mark]\nthreads = 4\n"), 2);
    let pairs = ["workers=2", "threads=4"];
    let planned = planned_on("[fs_mark]\n", &pairs, &SystemFacts::default()).unwrap();
    let threads = planned
        .plan
        .settings
        .iter()
        .find(|it| it.key == "fs_mark.threads");
    let threads = threads.map(|it| (it.value.as_str(), it.source));
    assert_eq!(threads, Some(("2", Source::Option)));
    assert_eq!(count("targets = [\"/a\", \"/b\"]\n[fs_mark]\n"), 2);
    assert!(refusal("targets = [\"/a\", \"/b\"]\n[fs_mark]\nthreads = 3\n").contains("multiple"));
}

#[test]
fn a_list_of_depths_makes_cells_and_repetitions_are_outermost() {
    let text = "engine = \"io_uring\"\niodepth = [1, 8]\nrepetitions = 2\n[create_remove]\n";
    let cells = cells(text);
    let pairs: Vec<_> = cells.iter().map(|it| (it.repetition, it.iodepth)).collect();
    assert_eq!(pairs[..2], [(0, 1), (0, 8)]);
    assert!(pairs[2..] == [(1, 1), (1, 8)] || pairs[2..] == [(1, 8), (1, 1)]);
}

/// The workers of the first cell, their depths and that of the cell.
fn flows(text: &str) -> (usize, u32, u32) {
    let cell = &cells(text)[0];
    let depth = cell.workers[0].spans[0].iodepth;
    assert_eq!(cell.threads_per_worker() * depth, cell.iodepth);
    (cell.workers.len(), depth, cell.iodepth)
}

#[test]
fn flows_are_threads_on_engines_with_one_call_in_flight() {
    let body = "workers = 2\niodepth = 4\n[create_remove]\n";
    assert_eq!(flows(body), (8, 1, 4));
    assert_eq!(flows(&format!("engine = \"io_uring\"\n{body}")), (2, 4, 4));
    // A thread waits for one round at a time.
    let rate = "engine = \"io_uring\"\nrate = 10\n";
    assert_eq!(flows(&format!("{rate}{body}")), (8, 1, 4));
}

#[test]
fn with_a_number_of_operations_nothing_else_ends_a_phase() {
    let rounds = |text: &str| -> Vec<u64> {
        let cells = cells(text);
        let program = cells[0].program().unwrap();
        assert!(program.phases().iter().all(|it| it.time_ns.is_none()));
        let groups = program.groups().map(|group| {
            assert_eq!(group.quotas.len(), 1);
            group.quotas[0].count
        });
        groups.collect()
    };
    let counted = "operations = 1001\nworkers = 2\n";
    assert_eq!(
        rounds(&format!("{counted}[create_remove]\nsizes = 1\n")),
        [1001, 1001]
    );
    assert_eq!(
        rounds(&format!("{counted}[lat_fs]\nsizes = 1\n")),
        [1001, 1001]
    );
    let text = "operations = 1001\nrun_time = 5\n[[fileset]]\nname = \"a\"\ncount = 10\n\
                present = \"100%\"\nsize = 1\n[[phase]]\nname = \"p\"\n[[phase.group]]\n\
                workers = 3\nbody = [{ stat = \"a\" }]\n[[phase.group]]\nname = \"b\"\n\
                workers = 1\nbody = [{ stat = \"a\" }]\n";
    // A quarter each, and the first worker has one more.
    assert_eq!(rounds(text), [751, 250]);
    // What is there has as many files as it had, and what is made has enough.
    let files = |text: &str| cells(text)[0].program().unwrap().filesets[0].count;
    assert_eq!(files(text), 10);
    assert_eq!(
        files("operations = 7000\n[create_remove]\ncount = 5\n"),
        7000
    );
    let per_worker = files("operations = 7000\nworkers = 2\n[fs_mark]\nfiles = 5\n");
    assert_eq!(per_worker, 3500);
}

#[test]
fn too_many_operations_are_refused() {
    for (table, what) in [
        ("[create_remove]\n", "more files than 100000000"),
        (
            "[postmark]\n",
            "more transactions of a worker than 2147483647",
        ),
    ] {
        let refused = refusal(&format!("operations = 99999999999\n{table}"));
        assert!(refused.contains(what), "{refused}");
    }
    // Files that are there are not made.
    let existing = "operations = 99999999999\n[[fileset]]\nname = \"a\"\ncount = 10\n\
                 present = \"100%\"\nsize = 1\n[[phase]]\nname = \"p\"\n[[phase.group]]\n\
                 body = [{ stat = \"a\" }]\n";
    assert_eq!(cells(existing)[0].operations, Some(99_999_999_999));
}

#[test]
fn too_many_workers_from_a_depth_are_refused_with_the_depth() {
    let refused = refusal("iodepth = 5000\n[create_remove]\n");
    assert!(refused.contains("there are 5000 workers"), "{refused}");
    assert!(refused.contains("use a smaller `iodepth`"), "{refused}");
}

#[test]
fn a_run_time_replaces_the_number_of_transactions() {
    let timed = planned("run_time = \"30s\"\n[postmark]\ntransactions = 7\n");
    assert_eq!(timed.plan.cells[0].run_time_ns, 30_000_000_000);
    assert_eq!(
        timed.warnings[0].message,
        "`run_time` ends the transactions, not their number, 7"
    );
    // The pool may grow to twice its files, and each to the largest size.
    let span = timed.plan.cells[0].workers[0].spans[0];
    assert_eq!(span.size_bytes, 1000 * 12_288);
    let warnings = |pairs: &[&str]| {
        let facts = SystemFacts::default();
        let planned = planned_on("[postmark]\ntransactions = 7\n", pairs, &facts);
        planned.unwrap().warnings.len()
    };
    assert_eq!(warnings(&["run_time=3"]), 0);
    assert_eq!(warnings(&["run_time=3", "transactions=9"]), 1);
}

#[test]
fn a_file_workload_needs_a_directory_as_target() {
    assert!(on(TargetKind::Directory, true, "[lat_fs]\n").is_ok());
    for (kind, exists, what) in [
        (TargetKind::Device, true, "is a block device"),
        (TargetKind::File, true, "is a file"),
        (TargetKind::File, false, "does not exist"),
    ] {
        assert_eq!(
            on(kind, exists, "[lat_fs]\n").unwrap_err(),
            format!(
                "error: `/a` {what}; `lat-fs` needs a directory\n\
                 help: name a directory with `--target`"
            )
        );
    }
    let null = on(TargetKind::File, true, "engine = \"null\"\n[lat_fs]\n").unwrap();
    assert_eq!(null.plan.targets[0].kind, TargetKind::Null);
}

#[test]
fn files_leave_a_gibibyte_free() {
    // 1 GiB can be used.
    let text = |count: u32| format!("[create_remove]\ncount = {count}\nsizes = \"64KiB\"\n");
    assert!(on(TargetKind::Directory, true, &text(16_384)).is_ok());
    assert_eq!(
        on(TargetKind::Directory, true, &text(16_385)).unwrap_err(),
        "error: the files on `/a` need 1 GiB, 64 KiB more than can be used, as 1 GiB must stay \
         free\n\
         help: use fewer or smaller files, or another `--target`"
    );
    // Test file and files are there together, files of two workloads are not.
    let spec = "[[part.access_spec]]\n[[part.access_spec.line]]\nsize = \"4k\"\n";
    let files = "[[part]]\nname = \"x\"\n[part.create_remove]\ncount = 8192\nsizes = \"64KiB\"\n";
    let pack = |first: &str| format!("{first}\n{files}{}", files.replace("\"x\"", "\"y\""));
    assert!(on(TargetKind::Directory, true, &pack("")).is_ok());
    let both = pack(&format!("[[part]]\nsize = \"513m\"\n{spec}"));
    assert!(on(TargetKind::Directory, true, &both).is_err());
    let both = pack(&format!("[[part]]\nsize = \"512m\"\n{spec}"));
    let planned = on(TargetKind::Directory, true, &both).unwrap();
    assert_eq!(planned.plan.targets[0].size_bytes, 512 << 20);
}

#[test]
fn direct_io_needs_file_sizes_in_whole_blocks() {
    let direct = |table: &str| {
        let result = on(
            TargetKind::Directory,
            true,
            &format!("cache = \"direct\"\n{table}"),
        );
        result
            .map(|_| ())
            .map_err(|error| error.lines().next().unwrap().to_owned())
    };
    let message = |key: &str, size: u32| {
        Err(format!(
            "error: direct I/O on `/a` needs sizes in multiples of 512 bytes, but `{key}` gives \
             {size} bytes"
        ))
    };
    assert_eq!(direct("[postmark]\n"), message("postmark.min_size", 500));
    let postmark = |low: u32, more: &str| {
        direct(&format!(
            "[postmark]\nmin_size = {low}\nmax_size = 4096\n{more}"
        ))
    };
    assert_eq!(postmark(512, ""), message("postmark.max_size", 4095));
    assert_eq!(postmark(4096, ""), Ok(()));
    assert_eq!(
        postmark(4096, "buffering = false\nread_block = 1000\n"),
        message("postmark.read_block", 1000)
    );
    assert_eq!(direct("[create_remove]\ncount = 10\n"), Ok(()));
    assert_eq!(
        direct("[lat_fs]\nsizes = [0, 100]\n"),
        message("lat_fs.sizes", 100)
    );
    assert_eq!(
        direct("[fs_mark]\nsize = 51200\nwrite_size = 1000\n"),
        message("fs_mark.write_size", 1000)
    );
    assert_eq!(direct("[fs_mark]\nsize = 512\nwrite_size = 1000\n"), Ok(()));
}

#[test]
fn directory_numbers_must_fit_32_bits() {
    let text = |locations: usize| {
        let names: Vec<String> = (0..locations).map(|it| format!("\"{it}\"")).collect();
        let names = names.join(",");
        format!("[postmark]\nsubdirectories = 1_000_000\nlocations = [{names}]\n")
    };
    assert_eq!(cells(&text(4294)).len(), 1);
    assert_eq!(
        refusal(&text(4295)),
        "error: 4295000000 directories are more than 32 bits can number\n\
         help: use fewer `subdirectories` or `locations`"
    );
}

#[test]
fn pools_leave_half_of_the_memory() {
    let facts = SystemFacts {
        memory_bytes: 1 << 30,
        ..SystemFacts::default()
    };
    let text = "[postmark]\nmax_size = \"600MiB\"\n";
    assert_eq!(
        planned_on(text, &[], &facts).unwrap_err().to_string(),
        "error: the pools of all workers need 1.17 GiB, more than half of this machine's \
         memory (1 GiB)\n\
         help: use a smaller `number` or `max_size`, or fewer workers"
    );
    assert!(planned_on("[postmark]\nnumber = 1_000_000\n", &[], &facts).is_ok());
}

#[test]
fn engine_and_content_do_not_apply_to_external_programs() {
    let exec = "[create_remove]\nmode = \"exec\"\n";
    assert_eq!(cells(exec)[0].workers[0].content, plan::ContentPlan::Zero);
    let settings = planned(exec).plan.settings;
    assert!(settings.iter().all(|setting| setting.key != "content"));
    assert_eq!(
        refusal(&format!("engine = \"io_uring\"\n{exec}")),
        "error: `engine` cannot be chosen for programs, `mode = \"exec\"`\n\
         help: leave `engine` out, or write `mode = \"syscall\"`"
    );
}

#[test]
fn verification_needs_an_engine_that_reads() {
    let text = "verify = true\n[postmark]\n";
    assert!(cells(text)[0].workers[0].verify);
    assert!(refusal(&format!("engine = \"null\"\n{text}")).contains("reads nothing"));
}

#[test]
fn a_pool_that_may_run_out_gives_a_warning() {
    let warnings = |bias: i64, transactions: u32| {
        let text = format!(
            "[postmark]\nnumber = 50\ncreate_bias = {bias}\ntransactions = {transactions}\n"
        );
        let warnings = planned(&text).warnings.into_iter();
        warnings.map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings(0, 1000),
        ["the pool is empty after about 50 transactions, and the run ends"]
    );
    assert_eq!(
        warnings(7, 1000),
        ["the pool has 100 files after about 125 transactions, and none is added"]
    );
    for (bias, transactions) in [(5, 1000), (-1, 1000), (0, 50), (10, 50)] {
        assert_eq!(warnings(bias, transactions), [""; 0]);
    }
}
