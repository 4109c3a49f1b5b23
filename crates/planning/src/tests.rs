use super::space::check_space_together;
use crate::{Planned, plan, wanted_targets};
use description::load;
use description::{Overrides, Workload};
use plan::facts::{SystemFacts, TargetFacts};
use plan::program::Program;
use plan::{Cell, CurvePart, Source, TargetKind};
use plan::{Diagnostic, DiagnosticCode};

use plan::worker_seed;

const LINE: &str = "[[access_spec]]\nname = \"a\"\n[[access_spec.line]]\nsize = \"4k\"\n";

fn workloads(text: &str) -> Vec<Workload> {
    load("w.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn with(pairs: &[&str]) -> Overrides {
    let mut overrides = Overrides::new();
    for pair in pairs {
        overrides.set_pair(pair).unwrap();
    }
    overrides
}

fn planned_on(text: &str, pairs: &[&str], facts: &SystemFacts) -> Result<Planned, Diagnostic> {
    plan(&workloads(text), &with(pairs), facts)
}

fn planned(text: &str, pairs: &[&str]) -> Planned {
    planned_on(text, pairs, &SystemFacts::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str, facts: &SystemFacts) -> String {
    planned_on(text, &[], facts).unwrap_err().to_string()
}

/// A directory on a file system of 100 GiB with `free_gib` free and 4096-byte direct I/O.
fn directory(path: &str, free_gib: u64) -> TargetFacts {
    TargetFacts {
        exists: true,
        free_bytes: free_gib << 30,
        total_bytes: 100 << 30,
        direct_alignment_bytes: 512,
        block_bytes: 512,
        device_id: Some(7),
        ..TargetFacts::placeholder(path, TargetKind::Directory)
    }
}

fn device(path: &str, size_bytes: u64) -> TargetFacts {
    let facts = TargetFacts::placeholder(path, TargetKind::Device);
    TargetFacts {
        exists: true,
        size_bytes,
        direct_alignment_bytes: 512,
        ..facts
    }
}

fn facts(targets: &[TargetFacts]) -> SystemFacts {
    SystemFacts {
        targets: targets.to_vec(),
        ..SystemFacts::default()
    }
}

fn messages(findings: &[Diagnostic]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect()
}

/// For each cell: specification, depth, repetition, and targets of each worker.
fn shapes(cells: &[Cell]) -> Vec<(String, u32, u32, Vec<usize>)> {
    let shape = |cell: &Cell| {
        let counts = cell
            .workers
            .iter()
            .map(|worker| worker.spans.len())
            .collect();
        (
            cell.access_spec.clone().unwrap_or_default(),
            cell.iodepth,
            cell.repetition,
            counts,
        )
    };
    cells.iter().map(shape).collect()
}

#[test]
fn everything_has_its_documented_default() {
    let planned = planned(LINE, &[]);
    let cell = &planned.plan.cells[0];
    assert_eq!(
        (cell.run_time_ns, cell.ramp_time_ns, cell.iodepth),
        (10_000_000_000, 2_000_000_000, 1)
    );
    assert_eq!(planned.plan.targets[0].size_bytes, 1 << 30);
    assert_eq!(cell.workers[0].seed, worker_seed(1, 0));
    assert_eq!(planned.plan.workloads[0].name, "w");
    assert!(
        planned
            .plan
            .settings
            .iter()
            .all(|setting| setting.source == Source::Default)
    );
    assert!(planned.warnings.is_empty() && planned.refusals.is_empty());
}

#[test]
fn settings_say_where_their_value_came_from() {
    let planned = planned(
        &format!("iodepth = 4\nsize = \"2GiB\"\n{LINE}"),
        &["iodepth=8"],
    );
    let source = |key: &str| {
        let setting = planned
            .plan
            .settings
            .iter()
            .find(|setting| setting.key == key)
            .unwrap();
        (setting.value.as_str(), setting.source)
    };
    assert_eq!(source("iodepth"), ("8", Source::Option));
    assert_eq!(source("size"), ("2GiB", Source::Written));
    assert_eq!(source("cache"), ("direct", Source::Default));
    assert_eq!(source("content"), ("incompressible", Source::Default));
}

#[test]
fn repetitions_are_outermost_and_depths_innermost() {
    let text = format!(
        "repetitions = 2\niodepth = [1, 4]\n{LINE}{}",
        LINE.replace("\"a\"", "\"b\"")
    );
    let cells = planned(&text, &[]).plan.cells;
    let order: Vec<_> = shapes(&cells)
        .into_iter()
        .map(|(spec, depth, rep, _)| (spec, depth, rep))
        .collect();
    let once = [("a", 1), ("a", 4), ("b", 1), ("b", 4)];
    let of = |rep| once.map(|(spec, depth)| (spec.to_owned(), depth, rep));
    assert_eq!(order[..4], of(0));
    let mut again = order[4..].to_vec();
    again.sort();
    assert_eq!(again, of(1));
    assert!(
        cells
            .iter()
            .enumerate()
            .all(|(index, cell)| cell.index as usize == index)
    );
}

#[test]
fn every_repetition_of_a_cell_refers_to_the_first() {
    let text = format!("repetitions = 3\niodepth = [1, 2, 3]\n{LINE}");
    let plan = planned(&text, &[]).plan;
    for cell in &plan.cells {
        let first = &plan.cells[cell.first_index.unwrap() as usize];
        assert_eq!((first.repetition, first.iodepth), (0, cell.iodepth));
        assert_eq!(cell.workload_index, Some(0));
    }
    let text = format!("repetitions = 2\ncurve = true\niodepth = [1, 2]\n{LINE}");
    let plan = planned(&text, &[]).plan;
    for cell in &plan.cells {
        let peak = &plan.cells[cell.first_index.unwrap() as usize];
        assert_eq!(
            (peak.curve, peak.iodepth),
            (Some(CurvePart::Peak), cell.iodepth)
        );
    }
}

#[test]
fn later_repetitions_are_shuffled_by_the_seed() {
    let depths = |pairs: &[&str]| {
        let text = format!("repetitions = 3\niodepth = [1, 2, 3, 4, 5, 6, 7, 8]\n{LINE}");
        let cells = planned(&text, pairs).plan.cells;
        let depths: Vec<u32> = cells.iter().map(|cell| cell.iodepth).collect();
        depths.chunks(8).map(<[u32]>::to_vec).collect::<Vec<_>>()
    };
    let order = depths(&[]);
    assert_eq!(order[0], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(order[1] != order[0] && order[2] != order[0] && order[1] != order[2]);
    assert_eq!(order, depths(&["seed=1"]));
    assert_ne!(order, depths(&["seed=2"]));
}

#[test]
fn each_repetition_has_its_own_seed() {
    let seeds = |more: &str| {
        let text = format!("repetitions = 3\n{more}{LINE}");
        let cells = planned(&text, &[]).plan.cells;
        let seeds = cells.iter().map(|cell| cell.workers[0].seed);
        seeds.collect::<Vec<_>>()
    };
    let own = seeds("");
    assert!(own[0] != own[1] && own[1] != own[2] && own[0] != own[2]);
    assert_eq!(own, seeds(""));
    // Iometer's rule follows from its seed.
    let fixed = seeds("position = \"iometer\"\n");
    assert!(fixed[0] == fixed[1] && fixed[1] == fixed[2]);
}

#[test]
fn an_added_repetition_equals_a_planned_one() {
    for more in ["", "position = \"iometer\"\n"] {
        let of = |times: u32| {
            let text = format!("repetitions = {times}\niodepth = [1, 2, 3]\n{more}{LINE}");
            planned(&text, &[]).plan
        };
        let added = of(3).further_repetition(3, |_| true);
        let added: Vec<Cell> = added.into_iter().map(|(_, cell)| cell).collect();
        assert_eq!(added, of(4).cells[9..], "{more}");
    }
}

#[test]
fn each_step_uses_the_workers_own_specifications() {
    let text = format!(
        "{LINE}{}[[worker]]\nname = \"x\"\naccess_specs = [\"b\", \"a\", \"Idle\"]\n\
         [[worker]]\nname = \"y\"\ncount = 2\naccess_specs = [\"a\"]\n",
        LINE.replace("\"a\"", "\"b\"")
    );
    let cells = planned(&text, &[]).plan.cells;
    let names = |cell: &Cell| {
        let pair = |worker: &plan::WorkerPlan| format!("{}:{}", worker.name, worker.access_spec);
        cell.workers.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(cells.len(), 3);
    assert_eq!(names(&cells[0]), ["x:b", "y 1:a", "y 2:a"]);
    assert_eq!(cells[0].access_spec, None);
    assert_eq!(names(&cells[1]), ["x:a"]);
    assert_eq!(
        (names(&cells[2]).len(), cells[2].access_spec.as_deref()),
        (0, Some("Idle"))
    );
}

#[test]
fn the_test_type_determines_targets_and_depths() {
    let text = format!(
        "targets = [\"/a\", \"/b\"]\ntest_type = \"cycle-outstanding-ios-and-targets\"\n\
         cycling.iodepth = {{ start = 2, end = 5 }}\n{LINE}"
    );
    let cells = planned(&text, &[]).plan.cells;
    let pairs: Vec<_> = shapes(&cells)
        .into_iter()
        .map(|(_, depth, _, counts)| (depth, counts))
        .collect();
    assert_eq!(
        pairs,
        [(2, vec![1]), (4, vec![1]), (2, vec![2]), (4, vec![2])]
    );
    // An option replaces the depths.
    let cells = planned(&text, &["iodepth=7"]).plan.cells;
    let pairs: Vec<_> = shapes(&cells)
        .into_iter()
        .map(|(_, depth, _, counts)| (depth, counts))
        .collect();
    assert_eq!(pairs, [(7, vec![1]), (7, vec![2])]);
}

#[test]
fn a_start_depth_above_the_end_is_refused() {
    let text = format!(
        "test_type = \"cycle-outstanding-ios\"\ncycling.iodepth = {{ start = 9, end = 8 }}\n{LINE}"
    );
    assert_eq!(
        refusal(&text, &SystemFacts::default()),
        "error: queue depths start at 9 and end at 8, so there is nothing to run\n\
         help: use an `end` of at least `start`"
    );
}

#[test]
fn options_replace_targets_one_by_one_or_all() {
    let text = format!("{LINE}[[worker]]\ntargets = \"C:\"\n[[worker]]\ntargets = \"D:\"\n");
    let used = |targets: &[&str]| {
        let mut overrides = Overrides::new();
        overrides.set_targets(targets.iter().map(|it| (*it).to_owned()).collect());
        let planned = plan(&workloads(&text), &overrides, &SystemFacts::default()).unwrap();
        let spans = |worker: &plan::WorkerPlan| {
            let path = |index: u32| {
                planned.plan.targets[index as usize]
                    .path
                    .display()
                    .to_string()
            };
            worker
                .spans
                .iter()
                .map(|span| path(span.target_index))
                .collect::<Vec<_>>()
                .join(" ")
        };
        planned.plan.cells[0]
            .workers
            .iter()
            .map(spans)
            .collect::<Vec<_>>()
    };
    assert_eq!(used(&["/x", "/y"]), ["/x", "/y"]);
    assert_eq!(used(&["/x"]), ["/x", "/x"]);
    assert_eq!(used(&["/x", "/y", "/z"]), ["/x /y /z", "/x /y /z"]);
}

#[test]
fn missing_targets_give_warnings() {
    let text = format!("targets = [\"/dev/nope\", \"C:\"]\n{LINE}");
    let planned = planned(&text, &[]);
    assert_eq!(
        messages(&planned.warnings),
        [
            "`C:` is not a path on this machine",
            "`/dev/nope` does not exist on this machine"
        ]
    );
    assert_eq!(
        wanted_targets(&workloads(&text), &Overrides::new()),
        ["/dev/nope"]
    );
    assert!(wanted_targets(&workloads(&text), &with(&["engine=null"])).is_empty());
}

#[test]
fn a_device_is_used_whole_and_a_larger_size_is_cut_with_a_warning() {
    let facts = facts(&[device("/dev/x", 3 << 30)]);
    let text = format!("targets = \"/dev/x\"\nstart = \"1GiB\"\n{LINE}");
    let full = planned_on(&text, &[], &facts).unwrap();
    let span = full.plan.cells[0].workers[0].spans[0];
    assert_eq!((span.start_bytes, span.size_bytes), (1 << 30, 2 << 30));
    let cut = planned_on(&text, &["size=5GiB"], &facts).unwrap();
    assert_eq!(cut.plan.cells[0].workers[0].spans[0].size_bytes, 2 << 30);
    assert_eq!(messages(&cut.warnings), ["`/dev/x` has only 2GiB of 5GiB"]);
    assert_eq!(cut.warnings[0].code, Some(DiagnosticCode::SizeReduced));
    assert_eq!(
        planned_on(&text, &["start=4GiB"], &facts)
            .unwrap_err()
            .to_string(),
        "error: `start` is 4GiB, but `/dev/x` ends at 3GiB\nhelp: use a smaller `start`"
    );
}

#[test]
fn test_files_leave_a_gibibyte_of_the_file_system_free() {
    let text = format!("targets = [\"/a\", \"/b\"]\n{LINE}");
    // 2 GiB free less 1 GiB that stays free leave 512 MiB for each of two.
    let tight = facts(&[directory("/a", 2), directory("/b", 2)]);
    let planned = planned_on(&text, &[], &tight).unwrap();
    assert!(
        planned
            .plan
            .targets
            .iter()
            .all(|target| target.size_bytes == 512 << 20)
    );
    assert_eq!(
        planned.warnings[0].to_string(),
        "warning: the test file on `/a` has 512 MiB, not 1 GiB: more would leave less than 1 GiB \
         free\n\
         help: add `--size` to choose"
    );
    assert_eq!(
        planned_on(&text, &["size=1GiB"], &tight)
            .unwrap_err()
            .to_string(),
        "error: the test files on `/a` need 2 GiB, but only 1 GiB can be used, as 1 GiB must stay \
         free\n\
         help: use a smaller `--size`"
    );
    let full = facts(&[directory("/a", 1), directory("/b", 1)]);
    assert_eq!(
        refusal(&text, &full),
        "error: `/a` has no room for a test file, as 1 GiB must stay free\n\
         help: name another target with `--target`"
    );
}

#[test]
fn direct_io_must_be_aligned_to_a_known_target() {
    let text = format!("targets = \"/a\"\n{}", LINE.replace("\"4k\"", "1000"));
    assert_eq!(
        refusal(&text, &facts(&[directory("/a", 50)])),
        "error: direct I/O on `/a` needs multiples of 512 bytes, not requests of 1000 bytes\n\
         help: use a multiple of 512, such as 1024, or add `--cache buffered`"
    );
    let unknown = planned(&text, &[]);
    assert!(messages(&unknown.warnings)[1].starts_with("direct I/O on `/a` needs multiples"));
    assert!(planned_on(&text, &["cache=buffered"], &facts(&[directory("/a", 50)])).is_ok());
    assert!(planned_on(&text, &["engine=null"], &facts(&[directory("/a", 50)])).is_ok());
}

#[test]
fn a_larger_direct_io_unit_raises_the_default_alignment() {
    let target = TargetFacts {
        direct_alignment_bytes: 4096,
        ..directory("/a", 50)
    };
    let text = format!("targets = \"/a\"\n{LINE}");
    let raised = planned_on(&text, &[], &facts(std::slice::from_ref(&target))).unwrap();
    assert_eq!(raised.plan.cells[0].workers[0].spans[0].sector_bytes, 4096);
    assert_eq!(
        messages(&raised.warnings),
        ["an alignment of 0 means 4096 bytes on `/a`, not 512"]
    );
    let code = raised.warnings[0].code;
    assert_eq!(code, Some(DiagnosticCode::AlignmentRaised));
    let as_coded = planned_on(&text, &["position=iometer"], &facts(&[target])).unwrap();
    assert!(as_coded.warnings.is_empty());
}

#[test]
fn a_request_must_fit_into_the_used_range() {
    let text = format!("size = \"2k\"\n{LINE}");
    assert_eq!(
        refusal(&text, &SystemFacts::default()),
        "error: a request of 4KiB is larger than the 2KiB of `.` that the workload uses\n\
         help: use a larger `--size`"
    );
    // 4 KiB fit only at byte 4096, which is not inside when starts are multiples of 8 KiB.
    let text = format!("size = \"8k\"\nstart = 512\n{LINE}align = \"8k\"\n");
    assert!(
        refusal(&text, &SystemFacts::default()).contains("does not fit at an aligned start into")
    );
}

#[test]
fn all_requests_of_a_worker_must_fit_into_one_ring() {
    let text = format!("targets = [\"/a\", \"/b\"]\niodepth = 20000\n{LINE}");
    assert_eq!(
        refusal(&text, &SystemFacts::default()),
        "error: `worker 1` would keep 40000 requests in flight (20000 on each of 2 targets), not \
         from 1 to 32768\nhelp: spread the requests over several workers"
    );
}

#[test]
fn buffers_must_leave_half_of_the_memory() {
    let small = SystemFacts {
        memory_bytes: 1 << 30,
        ..SystemFacts::default()
    };
    let text = format!("iodepth = 1024\n{}", LINE.replace("4k", "1MiB"));
    assert_eq!(
        refusal(&text, &small),
        "error: the buffers of a cell need 1 GiB, more than half of this machine's memory (1 GiB)\n\
         help: use a smaller `--iodepth`"
    );
}

#[test]
fn seeds_are_kept_with_iometer_positions_and_otherwise_derived() {
    let text = format!("{LINE}[[worker]]\ncount = 2\nseed = 42\n");
    let seeds = |pairs: &[&str]| {
        let workers = &planned(&text, pairs).plan.cells[0].workers;
        workers.iter().map(|worker| worker.seed).collect::<Vec<_>>()
    };
    assert_eq!(seeds(&["position=iometer"]), [42, 42]);
    assert_eq!(seeds(&[]), [worker_seed(42, 0), worker_seed(42, 1)]);
    assert_eq!(
        seeds(&["seed=9", "position=iometer"]),
        [worker_seed(9, 0), worker_seed(9, 1)]
    );
}

#[test]
fn workers_take_cpus_in_turn() {
    let cpus = |count: u32| {
        let facts = SystemFacts {
            cpu_count: count,
            ..SystemFacts::default()
        };
        planned_on(&format!("workers = 3\ncpus = [4, 1]\n{LINE}"), &[], &facts)
    };
    let cells = cpus(8).unwrap().plan.cells;
    let taken: Vec<_> = cells[0].workers.iter().map(|worker| worker.cpu).collect();
    assert_eq!(taken, [Some(4), Some(1), Some(4)]);
    assert!(cpus(0).is_ok());
    assert_eq!(
        cpus(2).unwrap_err().to_string(),
        "error: `cpus` names CPU 4, but this machine has 2, numbered from 0\nhelp: use a smaller \
         number"
    );
}

#[test]
fn an_endless_run_gets_the_default_time_and_a_warning() {
    let endless = planned(&format!("run_time = 0\n{LINE}"), &[]);
    assert_eq!(endless.plan.cells[0].run_time_ns, 10_000_000_000);
    assert_eq!(
        messages(&endless.warnings),
        ["`w` would run until stopped; it runs for 10s in each cell"]
    );
    let counted = planned(&format!("operations = 5\n{LINE}"), &[]);
    assert_eq!(counted.plan.cells[0].run_time_ns, 0);
    assert_eq!(counted.plan.cells[0].operations, Some(5));
}

#[test]
fn a_run_time_option_of_zero_is_refused() {
    let refused = planned_on(LINE, &["run_time=0"], &SystemFacts::default());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "error: `w` would measure for 0 s\n\
         help: give a time such as `--run-time 10s`, or a number of `--operations`"
    );
    let counted = planned(LINE, &["run_time=0", "operations=5"]);
    assert_eq!(counted.plan.cells[0].run_time_ns, 0);
}

#[test]
fn times_beyond_a_month_are_refused_in_files_and_options() {
    for key in ["run_time", "ramp_time"] {
        let text = format!("{key} = \"99999d\"\n{LINE}");
        let refused = load("w.toml", &text).unwrap_err();
        assert_eq!(
            refused.to_string().lines().take(2).collect::<Vec<_>>(),
            [
                &format!("error: `{key}` is 99999d, more than 30d"),
                &format!("  --> w.toml:1:{}", key.len() + 4)
            ]
        );
        let mut overrides = Overrides::new();
        let refused = overrides.set(key, "31d").unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("error: `{key}` is 31d, more than 30d\nhelp: write `{key} = \"30d\"` or less")
        );
        overrides.set(key, "30d").unwrap();
    }
}

#[test]
fn a_new_file_that_a_run_time_limits_may_exceed_the_free_space() {
    const LINES: &str = "size = \"300g\"\nnew_file = true\ntargets = [\"/a\"]\n\
        [[access_spec]]\nname = \"seq\"\nline = [{ size = \"64k\", read = 0, random = 0 }]\n";
    let facts = facts(&[directory("/a", 50)]);
    let refused = refusal(LINES, &facts);
    assert!(refused.contains("need 300 GiB"), "{refused}");
    let timed = planned_on(&format!("run_time = \"1s\"\n{LINES}"), &[], &facts).unwrap();
    assert_eq!(timed.plan.targets[0].size_bytes, 300 << 30);
    let warned = timed
        .warnings
        .iter()
        .any(|it| it.message.contains("if the time allows that"));
    assert!(warned, "{:?}", timed.warnings);
}

#[test]
fn a_new_file_is_written_once_from_its_start_to_its_end() {
    const WRITE: &str = "size = \"1m\"\nnew_file = true\n[[access_spec]]\nname = \"seq\"\n\
        line = [{ size = \"64k\", read = 0, random = 0 }]\n";
    let cell = |more: &str| planned(&format!("{more}{WRITE}"), &[]).plan.cells[0].clone();
    let full = cell("");
    assert!(full.new_file);
    assert_eq!((full.run_time_ns, full.ramp_time_ns), (0, 0));
    assert_eq!(full.operations, Some(16));
    assert_eq!(cell("operations = 5\n").operations, Some(5));
    assert_eq!(cell("operations = 500\n").operations, Some(16));
}

#[test]
fn a_list_of_depths_that_no_worker_uses_is_refused() {
    let text = format!("iodepth = [1, 2]\n{LINE}[[worker]]\niodepth = 4\n");
    assert_eq!(
        refusal(&text, &SystemFacts::default()),
        "error: `iodepth` is a list, but every worker has its own `iodepth`\n\
         help: take out the workers' `iodepth`"
    );
    assert_eq!(planned(&text, &["iodepth=1,2"]).plan.cells.len(), 2);
}

#[test]
fn settings_of_a_part_override_its_workload_and_yield_to_options() {
    let text = "run_time = \"7s\"\niodepth = 3\n[[part]]\nuse = \"oltp\"\n\
                [[part]]\nuse = \"oltp\"\niodepth = 5\nname = \"other\"\n";
    let summary = |pairs: &[&str]| {
        let cells = planned(text, pairs).plan.cells;
        let one = |cell: &Cell| {
            (
                cell.workload.clone(),
                cell.iodepth,
                cell.run_time_ns / 1_000_000_000,
            )
        };
        cells.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(
        summary(&[]),
        [("oltp".to_owned(), 3, 7), ("other".to_owned(), 5, 7)]
    );
    assert_eq!(summary(&["iodepth=9"])[1], ("other".to_owned(), 9, 7));
}

#[test]
fn the_number_of_cells_in_a_plan_is_limited() {
    let text = format!(
        "test_type = \"cycle-outstanding-ios\"\n\
         cycling.iodepth = {{ end = 30000, step = 1, kind = \"linear\" }}\n{LINE}"
    );
    let message = refusal(&text, &SystemFacts::default());
    assert!(
        message.starts_with("error: the plan has 10001 cells, more than 10000"),
        "{message}"
    );
    let text = format!("repetitions = 1000\niodepth = [1,2,3,4,5,6,7,8,9,10,11]\n{LINE}");
    assert!(refusal(&text, &SystemFacts::default()).contains("11000 cells"));
}

#[test]
fn an_empty_plan_can_be_shown_but_not_run() {
    let text = format!("{LINE}[[worker]]\naccess_specs = []\n");
    let planned = planned(&text, &[]);
    assert_eq!(
        messages(&planned.refusals),
        ["there is nothing to run: no worker has an access specification"]
    );
    assert_eq!(planned.plan.cells, []);
}

#[test]
fn an_engine_without_io_cannot_be_verified() {
    let error = planned_on(
        LINE,
        &["verify=true", "engine=null"],
        &SystemFacts::default(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "error: the engine `null` reads nothing that could be verified\n\
         help: leave `verify` out"
    );
    planned(LINE, &["verify=false", "engine=null"]);
}

#[test]
fn verified_requests_must_have_room_for_stamps() {
    let text = |line: &str| format!("cache = \"buffered\"\nverify = true\n{LINE}{line}");
    assert_eq!(
        refusal(
            &text("align = 32\n").replace("4k", "96"),
            &SystemFacts::default()
        ),
        "error: verification needs multiples of 64 bytes, not requests of 96 bytes\nhelp: use a \
         multiple of 64 bytes"
    );
    assert_eq!(
        refusal(&text("align = 1000\n"), &SystemFacts::default()),
        "error: verification needs multiples of 64 bytes, not an alignment of 1000 bytes\n\
         help: use a multiple of 64 bytes"
    );
    planned(&text("align = 64\n"), &[]);
    planned(&text("align = 1000\n"), &["verify=false"]);
}

#[test]
fn verified_jobs_must_have_room_for_stamps() {
    let job = |keys: &str| {
        format!("cache = \"buffered\"\n[[job]]\nname = \"a\"\nsize = \"64k\"\nread = 0\n{keys}\n")
    };
    let verified = |keys: &str| job(&format!("verify = true\n{keys}"));
    for (keys, what) in [
        ("block_size = 8", "requests of 8 bytes"),
        ("block_size = 1000", "requests of 1000 bytes"),
        ("align = 100", "an alignment of 100 bytes"),
        ("start = 32", "a start of 32 bytes"),
    ] {
        let text = refusal(&verified(keys), &SystemFacts::default());
        let wanted = format!("not {what}, as the job `a` has");
        assert!(text.contains(&wanted), "{keys}: {text}");
        planned(&job(keys), &[]);
    }
    planned(&verified("block_size = 192"), &[]);
}

#[test]
fn jobs_on_an_engine_without_io_are_not_verified() {
    let text = "[[job]]\nsize = \"64k\"\nread = 0\nverify = true\n";
    let cell = &planned(text, &["engine=null"]).plan.cells[0];
    assert!(!cell.workers[0].verify);
}

#[test]
fn a_stride_must_lead_to_a_second_place() {
    let text =
        |stride: &str| format!("size = \"1MiB\"\n{LINE}sequence = {{ strided = {stride} }}\n");
    assert_eq!(
        refusal(&text("\"1MiB\""), &SystemFacts::default()),
        "error: a stride of 1MiB leads past the 1MiB that are used of `.`, so every request would \
         go to the same place\nhelp: use a larger `--size`"
    );
    assert!(refusal(&text("1_048_064"), &SystemFacts::default()).contains("the same place"));
    planned(&text("1_044_480"), &[]);
    planned(&format!("{}random = 100\n", text("\"1MiB\"")), &[]);
}

#[test]
fn repeated_targets_are_refused() {
    let twice = |targets: &[&str]| {
        let mut overrides = Overrides::new();
        overrides.set_targets(targets.iter().map(|it| (*it).to_owned()).collect());
        plan(&workloads(LINE), &overrides, &SystemFacts::default()).map_err(|it| it.to_string())
    };
    let error = "error: target `t` is given twice\nhelp: name each target once".to_owned();
    for targets in [["t", "t"], ["t", "t/"], ["./t", "t//"], [".//t", "t"]] {
        assert_eq!(twice(&targets), Err(error.clone()), "{targets:?}");
    }
    assert!(twice(&["t", "/t"]).is_ok() && twice(&["/", "."]).is_ok());
}

#[test]
fn settings_show_values_that_every_worker_sets() {
    let shown = |text: &str, pairs: &[&str], key: &str| {
        let settings = planned(text, pairs).plan.settings;
        let mut matching = settings.into_iter().filter(|setting| setting.key == key);
        let found = matching.next().unwrap();
        assert!(matching.next().is_none());
        (found.value, found.source)
    };
    let tail = "size = \"1MiB\"\ncontent = \"zero\"\n";
    let text = format!(
        "{LINE}[[worker]]\niodepth = 8\n{tail}[[worker]]\niodepth = 16\n{tail}\
         [[worker]]\niodepth = 8\nseed = 4\n{tail}"
    );
    let written = |value: &str| (value.to_owned(), Source::Written);
    assert_eq!(shown(&text, &[], "iodepth"), written("8,16"));
    assert_eq!(shown(&text, &[], "content"), written("zero"));
    assert_eq!(shown(&text, &[], "size"), written("1MiB"));
    let default = ("1".to_owned(), Source::Default);
    assert_eq!(shown(&text, &[], "seed"), default);
    let option = ("3".to_owned(), Source::Option);
    assert_eq!(shown(&text, &["iodepth=3"], "iodepth"), option);
}

#[test]
fn each_rate_makes_a_cell_at_each_depth() {
    let text = format!("rate = [1000, \"20k/s\"]\niodepth = [1, 8]\n{LINE}");
    let plan = planned(&text, &["arrivals=poisson"]).plan;
    let rates: Vec<(u32, f64)> = plan
        .cells
        .iter()
        .map(|cell| (cell.iodepth, cell.rate.unwrap().per_second))
        .collect();
    assert_eq!(rates, [(1, 1e3), (1, 2e4), (8, 1e3), (8, 2e4)]);
    assert!(
        plan.cells
            .iter()
            .all(|cell| { cell.rate.unwrap().arrivals == plan::ArrivalKind::Poisson })
    );
    let setting = |key: &str| plan.settings.iter().find(|it| it.key == key).unwrap();
    assert_eq!(setting("rate").value, "1k/s,20k/s");
    assert_eq!(setting("rate").source, Source::Written);
    assert_eq!(setting("arrivals").value, "poisson");
    assert_eq!(setting("arrivals").source, Source::Option);
}

#[test]
fn without_a_rate_the_load_is_closed_loop() {
    let plan = planned(LINE, &[]).plan;
    assert_eq!(plan.cells[0].rate, None);
    assert!(
        plan.settings
            .iter()
            .all(|it| it.key != "rate" && it.key != "arrivals")
    );
    let text = serde_json::to_string(&plan).unwrap();
    assert!(!text.contains("rate"), "older readers know no rate");
}

#[test]
fn the_rate_option_accepts_a_list() {
    let plan = planned(LINE, &["rate=500/s,2k/s"]).plan;
    assert_eq!(plan.cells.len(), 2);
    assert_eq!(plan.cells[1].rate.unwrap().per_second, 2e3);
}

#[test]
fn a_workload_with_its_own_pace_refuses_a_rate() {
    let facts = SystemFacts::default();
    for (key, value) in [("delay", "\"1ms\""), ("burst", "3"), ("reply", "512")] {
        let error = refusal(&format!("rate = 10\n{LINE}{key} = {value}\n"), &facts);
        assert!(error.contains(&format!("`{key} = ")), "{error}");
        assert!(error.contains("leave `rate` out"), "{error}");
    }
    let worker = "[[worker]]\ntransactions_per_connection = 5\n";
    let error = refusal(&format!("rate = 10\n{LINE}{worker}"), &facts);
    assert!(error.contains("opens and closes its targets"), "{error}");
}

#[test]
fn rates_out_of_range_are_refused_with_their_line() {
    for (value, message) in [
        ("0.0001", "not from 0.001/s to 10m/s"),
        ("[]", "an empty list"),
    ] {
        let text = format!("rate = {value}\n{LINE}");
        let error = load("w.toml", &text).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.to_string().contains("w.toml:1"), "{error}");
    }
}

#[test]
fn a_zero_rate_and_arrivals_without_a_rate_are_refused() {
    for (text, message) in [
        (
            "rate = 0\n[postmark]\n".to_owned(),
            "outside the rates above 0 per second",
        ),
        (
            format!("arrivals = \"poisson\"\n{LINE}"),
            "there is no `rate`",
        ),
    ] {
        let error = load("w.toml", &text).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.to_string().contains("w.toml:1"), "{error}");
    }
}

#[test]
fn plans_that_fit_one_by_one_may_not_fit_together() {
    let on = |path: &str, device: u64| TargetFacts {
        device_id: Some(device),
        ..directory(path, 10)
    };
    let text = format!("size = \"6g\"\n{LINE}");
    let plan_both = |device: u64| {
        let facts = SystemFacts {
            targets: vec![on("/a", 1), on("/b", device)],
            ..SystemFacts::default()
        };
        let plan_of = |path: &str| {
            let mut overrides = Overrides::new();
            overrides.set_targets(vec![path.to_owned()]);
            plan(&workloads(&text), &overrides, &facts).unwrap().plan
        };
        let (a, b) = (plan_of("/a"), plan_of("/b"));
        assert!(check_space_together(&[&a, &a], &facts).is_ok());
        check_space_together(&[&a, &b], &facts)
    };
    assert!(plan_both(2).is_ok());
    let error = plan_both(1).unwrap_err().to_string();
    let wanted = "`/a` and `/b` share one file system and together need 12 GiB";
    assert!(error.contains(wanted), "{error}");
}

/// A machine of 4 GiB memory, and a directory with `free_gib` free.
fn facts_with_free_space(free_gib: u64) -> SystemFacts {
    SystemFacts {
        memory_bytes: 4 << 30,
        ..facts(&[directory("/a", free_gib)])
    }
}

const MEMORY_SIZED: &str = "targets = \"/a\"\ntimes_memory = \"2x\"\n";

#[test]
fn a_multiple_of_memory_sets_the_size() {
    let text = format!("{MEMORY_SIZED}{LINE}");
    let planned = planned_on(&text, &[], &facts_with_free_space(50)).unwrap();
    assert_eq!(planned.plan.targets[0].size_bytes, 8 << 30);
    assert!(planned.warnings.is_empty(), "{:?}", planned.warnings);
    let setting = |planned: &Planned, key: &str| {
        let mut settings = planned.plan.settings.iter();
        settings.find(|it| it.key == key).cloned()
    };
    let written = setting(&planned, "times_memory").unwrap();
    assert_eq!(
        (written.value.as_str(), written.source),
        ("2x", Source::Written)
    );
    let half = planned_on(&text, &["times_memory=0.5x"], &facts_with_free_space(50)).unwrap();
    assert_eq!(half.plan.targets[0].size_bytes, 2 << 30);
    assert_eq!(
        setting(&half, "times_memory").unwrap().source,
        Source::Option
    );
    // The later of the two keys applies.
    let sized = planned_on(&text, &["size=1GiB"], &facts_with_free_space(50)).unwrap();
    assert_eq!(sized.plan.targets[0].size_bytes, 1 << 30);
    assert_eq!(setting(&sized, "times_memory"), None);
}

#[test]
fn a_multiple_of_memory_is_cut_to_the_target_with_a_warning() {
    let text = format!("{MEMORY_SIZED}{LINE}");
    let planned = planned_on(&text, &[], &facts_with_free_space(5)).unwrap();
    // Three quarters of what can be used while 1 GiB stays free.
    assert_eq!(planned.plan.targets[0].size_bytes, 3 << 30);
    let [warning] = planned.warnings.as_slice() else {
        panic!("{:?}", planned.warnings);
    };
    assert_eq!(warning.code, Some(DiagnosticCode::SizeReduced));
    assert!(
        warning
            .message
            .contains("holds 3 GiB of data, not 8 GiB (2x of the memory)"),
        "{warning}"
    );
    let full = refusal(&text, &facts_with_free_space(1));
    assert!(
        full.contains("`/a` has no room for the requested data"),
        "{full}"
    );
}

#[test]
fn a_multiple_of_memory_sets_the_number_of_files() {
    let files = |text: &str, options: &[&str], free_gib: u64| {
        let text = format!("{MEMORY_SIZED}{text}");
        let planned = planned_on(&text, options, &facts_with_free_space(free_gib)).unwrap();
        let files = planned.plan.cells[0].program().unwrap().clone();
        (files, planned.warnings.len())
    };
    let number = |program: Program| match &program.pool {
        Some(pool) => pool.number,
        None => program.filesets[0].count,
    };
    let pool = "workers = 4\n[postmark]\nmin_size = 1000\nmax_size = 3000\n";
    let (planned, warnings) = files(pool, &[], 60);
    let bytes = u64::from(number(planned)) * 4 * 2000;
    assert!(bytes.abs_diff(8 << 30) < 8000 && warnings == 0, "{bytes}");
    assert_eq!(number(files(pool, &["number=700"], 60).0), 700);
    let marked = "[fs_mark]\nthreads = 2\nsize = \"16KiB\"\n";
    assert_eq!(number(files(marked, &[], 60).0), 8 * 65_536 / 2);
    let removed = "[create_remove]\nsizes = [0, 65536]\n";
    assert_eq!(number(files(removed, &[], 60).0), 8 * 16_384);
    // Room for less: as many as fit, which planning then accepts.
    let (planned, warnings) = files(pool, &[], 5);
    assert!(warnings == 1 && number(planned) > 100_000);
}

#[test]
fn a_multiple_of_memory_excludes_size_and_needs_known_memory() {
    let both = format!("{MEMORY_SIZED}size = \"1GiB\"\n{LINE}");
    let error = description::read_toml("both", &both)
        .unwrap_err()
        .to_string();
    assert!(error.contains("are both written"), "{error}");
    let text = format!("{MEMORY_SIZED}{LINE}");
    let planned = planned_on(&text, &[], &facts(&[directory("/a", 50)])).unwrap();
    assert_eq!(planned.plan.targets[0].size_bytes, 1 << 30);
    assert!(planned.warnings[0].message.contains("memory is unknown"));
    let lat_fs = format!("{MEMORY_SIZED}[lat_fs]\n");
    let error = load("w.toml", &lat_fs);
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("does not apply to `[lat_fs]`"), "{error}");
}
