//! Which cells are brought together, and what is refused.

use std::slice::from_ref;

use compare::{CompareError, Comparison, ComparisonOptions, compare, compare_with_first};
use plan::program::{PersistentFiles, PersistentRole, Program};
use plan::{ArrivalKind, CurvePart, Work};
use results::{ClusterRecord, HostRecord, RunRecord, Status, Warning, WarningCode};
use serde_json::json;

use crate::made;

fn compare_strictly(a: &RunRecord, b: &RunRecord) -> Result<Comparison, CompareError> {
    compare(from_ref(a), from_ref(b), ComparisonOptions::default())
}

fn compare_forced(a: &RunRecord, b: &RunRecord) -> Result<Comparison, CompareError> {
    let options = ComparisonOptions {
        force: true,
        ..ComparisonOptions::default()
    };
    compare(from_ref(a), from_ref(b), options)
}

/// A run with a cell of each iodepth.
fn depths(iodepths: &[u32]) -> RunRecord {
    let mut run = made::run(made::plan(iodepths, "/mnt/a"));
    run.cells = (0..iodepths.len())
        .map(|index| made::cell(&run.plan, index, 0, 1e4 * (index + 1) as f64, &[]))
        .collect();
    run
}

#[test]
fn cells_match_across_different_targets() {
    let (a, b) = (
        made::measured("/mnt/a", &[1e4]),
        made::measured("/mnt/b", &[1e4]),
    );
    let comparison = compare_strictly(&a, &b).unwrap();
    assert_eq!(comparison.cells.len(), 1);
    assert_eq!(
        (
            comparison.cells[0].target_a.as_str(),
            comparison.cells[0].target_b.as_str()
        ),
        ("/mnt/a", "/mnt/b")
    );
    let [targets] = comparison.plan_differences.as_slice() else {
        panic!("{:?}", comparison.plan_differences);
    };
    assert_eq!(
        (targets.what.as_str(), targets.is_circumstance()),
        ("targets", true)
    );
    assert!(!comparison.forced);
}

#[test]
fn cells_match_despite_different_order_seed_and_run_time() {
    let a = depths(&[1, 8]);
    let mut plan = made::plan(&[8, 1], "/mnt/a");
    plan["cells"][0]["run_time_ns"] = json!(5);
    plan["cells"][0]["workers"][0]["seed"] = json!(99);
    plan["cells"][0]["workers"][0]["cpu"] = json!(1);
    let mut b = made::run(plan);
    b.cells = vec![
        made::cell(&b.plan, 0, 0, 2e4, &[]),
        made::cell(&b.plan, 1, 0, 1e4, &[]),
    ];
    let comparison = compare_strictly(&a, &b).unwrap();
    let found: Vec<(u32, f64)> = comparison
        .cells
        .iter()
        .map(|cell| (cell.name.iodepth.unwrap(), cell.figures[0].ratio))
        .collect();
    assert_eq!(found, [(1, 1.0), (8, 1.0)]);
}

#[test]
fn cells_of_only_one_side_are_listed() {
    let comparison = compare_strictly(&depths(&[1, 4, 16]), &depths(&[4, 1, 64, 32])).unwrap();
    let iodepths = |cells: &[compare::CellName]| -> Vec<u32> {
        cells.iter().filter_map(|cell| cell.iodepth).collect()
    };
    assert_eq!(comparison.cells.len(), 2);
    assert_eq!(iodepths(&comparison.only_a), [16]);
    assert_eq!(iodepths(&comparison.only_b), [64, 32]);
}

#[test]
fn different_work_with_the_same_name_is_refused_with_its_setting() {
    let a = made::measured("/mnt/a", &[1e4]);
    let mut plan = made::plan(&[8], "/mnt/b");
    plan["settings"][1] = made::setting("size", "2GiB");
    plan["cells"][0]["workers"][0]["spans"][0]["size_bytes"] = json!(2_u64 << 30);
    let mut b = made::run(plan);
    b.cells = vec![made::cell(&b.plan, 0, 0, 1e4, &[])];
    let error = compare_strictly(&a, &b).unwrap_err();
    assert!(error.is_overridable());
    let text = error.to_string();
    assert!(
        text.ends_with("measure different things: size is `1GiB` and `2GiB`"),
        "{text}"
    );
    assert!(error.help().contains("--force"));
    let forced = compare_forced(&a, &b).unwrap();
    assert!(forced.forced && forced.cells.len() == 1);
    assert_eq!(forced.plan_differences[0].what, "size");
}

#[test]
fn different_access_lines_are_refused_with_their_path_in_the_plan() {
    let a = made::measured("/mnt/a", &[1e4]);
    let mut plan = made::plan(&[8], "/mnt/a");
    plan["cells"][0]["workers"][0]["lines"][0]["read_percent"] = json!(50.0);
    let mut b = made::run(plan);
    b.cells = vec![made::cell(&b.plan, 0, 0, 1e4, &[])];
    let Err(CompareError::DifferentWork { differences, .. }) = compare_strictly(&a, &b) else {
        panic!("must be refused");
    };
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].what, "workers[0].lines[0].read_percent");
    assert_eq!(differences[0].a.as_deref(), Some("100.0"));
}

#[test]
fn a_different_depth_is_refused_unless_forced() {
    let error = compare_strictly(&depths(&[1]), &depths(&[8])).unwrap_err();
    assert!(error.is_overridable(), "{error}");
    let forced = compare_forced(&depths(&[1]), &depths(&[8])).unwrap();
    let cell = &forced.cells[0];
    assert_eq!(cell.name.iodepth, Some(1));
    assert_eq!(cell.name_b.as_ref().unwrap().iodepth, Some(8));
    // With several to choose from nothing is guessed.
    let forced = compare_forced(&depths(&[1]), &depths(&[8, 16]));
    assert!(matches!(forced, Err(CompareError::NothingInCommon { .. })));
}

#[test]
fn workloads_without_anything_in_common_cannot_be_forced() {
    let a = depths(&[1]);
    let mut b = depths(&[1]);
    b.cells[0].workload = "another".into();
    for error in [
        compare_strictly(&a, &b).unwrap_err(),
        compare_forced(&a, &b).unwrap_err(),
    ] {
        assert!(matches!(error, CompareError::NothingInCommon { .. }));
        assert!(!error.is_overridable());
    }
}

#[test]
fn sides_report_worker_wait_time_if_it_caused_a_warning() {
    let mut a = depths(&[1, 8]);
    for (cell, waiting) in a.cells.iter_mut().zip([0.3, 0.01]) {
        cell.cpu.waiting = Some(waiting);
    }
    let mut b = a.clone();
    let code = WarningCode::WaitedForProcessor;
    let note = WarningCode::FewOperations;
    b.warnings = vec![
        Warning::of_cell(code.clone(), b.cells[0].index, ""),
        Warning::of_cell(code.clone(), b.cells[1].index, ""),
        Warning::of_run(note, ""),
    ];
    let comparison = compare_strictly(&a, &b).unwrap();
    assert_eq!(
        (comparison.a.waiting, comparison.b.waiting),
        (None, Some(0.3))
    );
    // Each kind once, and no notes.
    assert_eq!(comparison.a.doubts, []);
    assert_eq!(comparison.b.doubts, [code]);
}

#[test]
fn incomplete_cells_are_left_out_and_counted() {
    let mut a = depths(&[1, 8]);
    a.cells[1].status = Status::Interrupted;
    let comparison = compare_strictly(&a, &depths(&[1, 8])).unwrap();
    assert_eq!(
        (comparison.cells.len(), comparison.a.incomplete_count),
        (1, 1)
    );
    assert_eq!(comparison.only_b.len(), 1);
    a.cells[0].status = Status::Failed;
    let error = compare_strictly(&a, &depths(&[1])).unwrap_err();
    assert!(
        matches!(error, CompareError::NothingMeasured { .. }),
        "{error}"
    );
    let empty = compare(&[], &[a], ComparisonOptions::default());
    assert!(matches!(empty, Err(CompareError::NothingMeasured { .. })));
}

#[test]
fn several_runs_of_a_side_are_pooled() {
    let run = |rate| made::measured("/mnt/a", &[rate]);
    let a = [run(1e4), run(1.01e4), run(0.99e4)];
    let b = [run(2e4), run(2.02e4), run(1.98e4)];
    let comparison = compare(&a, &b, ComparisonOptions::default()).unwrap();
    let rate = &comparison.cells[0].figures[0];
    assert_eq!((rate.a.n, rate.b.n, comparison.a.runs.len()), (3, 3, 3));
    assert!((rate.ratio - 2.0).abs() < 1e-9);
    assert_eq!(comparison.a.targets, ["/mnt/a"]);
}

#[test]
fn identical_cells_of_one_repetition_are_not_repetitions() {
    let mut a = depths(&[1]);
    let again = made::cell(&a.plan, 0, 0, 5e4, &[]);
    a.cells.push(again);
    let comparison = compare_strictly(&a, &a).unwrap();
    assert_eq!(comparison.cells.len(), 2);
    assert!(comparison.figures().all(|f| f.a.n == 1 && f.ratio == 1.0));
}

/// A plan of two cells of one name and depth that read requests of these sizes.
fn run_with_equal_names(sizes: [u32; 2]) -> RunRecord {
    let mut plan = made::plan(&[8, 8], "/mnt/a");
    for (cell, size) in [0, 1].into_iter().zip(sizes) {
        plan["cells"][cell]["workers"][0]["lines"][0]["size_bytes"] = json!(size);
    }
    let mut run = made::run(plan);
    run.cells = [1e4, 5e4]
        .iter()
        .enumerate()
        .map(|(index, rate)| made::cell(&run.plan, index, 0, *rate, &[]))
        .collect();
    run
}

#[test]
fn cells_with_the_same_name_are_each_compared_with_their_match() {
    let numbers = |comparison: &Comparison| -> Vec<(u32, f64)> {
        let cells = comparison.cells.iter();
        cells
            .map(|it| (it.name.number, it.figures[0].ratio))
            .collect()
    };
    // The same plan: the first of B was not measured to its end.
    let a = run_with_equal_names([4096, 4096]);
    let mut b = a.clone();
    b.cells[0].status = Status::Interrupted;
    let comparison = compare_strictly(&a, &b).unwrap();
    assert_eq!(numbers(&comparison), [(2, 1.0)]);
    assert_eq!(comparison.only_a.len(), 1);
    // By what they do, whatever the order.
    let a = run_with_equal_names([4096, 65536]);
    let mut b = run_with_equal_names([65536, 4096]);
    b.cells[0].total.per_second = 5e4;
    b.cells[1].total.per_second = 1e4;
    assert_eq!(
        numbers(&compare_strictly(&a, &b).unwrap()),
        [(1, 1.0), (2, 1.0)]
    );
    // Where they do something else, in their order.
    let other = run_with_equal_names([8192, 131_072]);
    let error = compare_strictly(&a, &other).unwrap_err();
    assert!(
        matches!(error, CompareError::DifferentWork { .. }),
        "{error}"
    );
    assert_eq!(
        numbers(&compare_forced(&a, &other).unwrap()),
        [(1, 1.0), (2, 1.0)]
    );
}

#[test]
fn settings_of_workloads_with_the_same_name_are_kept_apart() {
    let run = |sizes: [&str; 2]| {
        let mut plan = made::plan(&[8], "/mnt/a");
        plan["settings"] = sizes
            .map(|size| made::setting("size", size))
            .to_vec()
            .into();
        let mut run = made::run(plan);
        run.cells = vec![made::cell(&run.plan, 0, 0, 1e4, &[])];
        run
    };
    let comparison = compare_strictly(&run(["1GiB", "1GiB"]), &run(["2GiB", "1GiB"])).unwrap();
    let keys: Vec<_> = comparison
        .plan_differences
        .iter()
        .map(|it| &it.what)
        .collect();
    assert_eq!(keys, ["size (random-read)"]);
}

#[test]
fn each_classic_phase_of_a_cell_is_compared_with_the_same_phase() {
    let mut a = depths(&[1]);
    let mut unlink = made::cell(&a.plan, 0, 0, 7e4, &[]);
    unlink.phase = String::from("unlink").into();
    a.cells.push(unlink);
    let comparison = compare_strictly(&a, &a).unwrap();
    let phases: Vec<&str> = comparison
        .cells
        .iter()
        .map(|c| c.name.phase.as_str())
        .collect();
    assert_eq!(phases, ["measure", "unlink"]);
}

#[test]
fn machine_differences_are_listed_except_those_that_always_differ() {
    let a = depths(&[1]);
    let mut b = depths(&[1]);
    b.environment.kernel = "6.19".into();
    b.environment.load_before.one_minute = 3.0;
    b.environment.memory_available_bytes = 5;
    b.environment.settings = vec!["vm.swappiness=10".into(), "pressure.io=some".into()];
    b.pgmeter.version = "9.9".into();
    let differences = compare_strictly(&a, &b).unwrap().environment_differences;
    let names: Vec<&str> = differences
        .iter()
        .map(|difference| difference.what.as_str())
        .collect();
    assert_eq!(
        names,
        ["kernel", "settings.vm.swappiness", "pgmeter.version"]
    );
    assert_eq!(
        (differences[1].a.as_deref(), differences[1].b.as_deref()),
        (None, Some("10"))
    );
}

#[test]
fn each_further_run_is_compared_with_the_first() {
    let runs: Vec<[RunRecord; 1]> = [1e4, 2e4, 3e4]
        .map(|rate| [made::measured("/mnt/a", &[rate])])
        .into();
    let sides: Vec<&[RunRecord]> = runs.iter().map(|run| run.as_slice()).collect();
    let comparisons = compare_with_first(&sides, ComparisonOptions::default()).unwrap();
    let ratios: Vec<f64> = comparisons
        .iter()
        .map(|comparison| comparison.cells[0].figures[0].ratio)
        .collect();
    assert_eq!(ratios, [2.0, 3.0]);
    let none = compare_with_first(&[], ComparisonOptions::default()).unwrap();
    assert!(none.is_empty());
}

#[test]
fn only_the_peak_of_a_curve_is_compared() {
    let curve = || {
        let mut run = depths(&[1, 4]);
        run.cells[0].curve = Some(CurvePart::Peak);
        run.cells[1].curve = Some(CurvePart::Point {
            percent: 10,
            arrivals: ArrivalKind::Poisson,
        });
        run
    };
    let comparison = compare_strictly(&curve(), &curve()).unwrap();
    let compared: Vec<u32> = comparison
        .cells
        .iter()
        .filter_map(|it| it.name.iodepth)
        .collect();
    assert_eq!(compared, [1]);
    assert!(comparison.only_a.is_empty() && comparison.only_b.is_empty());
}

#[test]
fn different_numbers_of_processes_and_hosts_are_reported() {
    let (a, mut b) = (depths(&[1]), depths(&[1]));
    b.cluster = Some(ClusterRecord {
        ranks: 4,
        hosts: vec![HostRecord::default(); 2],
        ..ClusterRecord::default()
    });
    b.cells[0].ranks = 4;
    assert!(compare_strictly(&a, &b).is_err());
    let differences_of = |a: &RunRecord, b: &RunRecord| -> Vec<[String; 3]> {
        let compared = compare_forced(a, b).unwrap();
        let differences = compared.environment_differences.into_iter();
        let rows =
            differences.map(|it| [it.what, it.a.unwrap_or_default(), it.b.unwrap_or_default()]);
        rows.collect()
    };
    let wanted = [["processes", "1", "4"], ["hosts", "1", "2"]];
    assert_eq!(
        differences_of(&a, &b),
        wanted.map(|it| it.map(str::to_owned))
    );
    assert_eq!(differences_of(&b, &b.clone()), Vec::<[String; 3]>::new());
    assert_eq!(differences_of(&a, &a.clone()), Vec::<[String; 3]>::new());
}

#[test]
fn files_that_outlast_a_run_may_be_in_another_directory() {
    let leaving = |directory: &str, name: &str| {
        let mut run = made::measured(directory, &[1e4]);
        let lasting = PersistentFiles {
            directory: directory.into(),
            names: vec![name.to_owned()],
            file_bytes: Some(4096),
            role: PersistentRole::Leaves,
        };
        let program = Program {
            lasting: Some(Box::new(lasting)),
            ..Program::default()
        };
        run.plan.cells[0].work = Work::Acts(program.into());
        run
    };
    let a = leaving("/mnt/a", "f");
    assert_eq!(
        compare_strictly(&a, &leaving("/mnt/b", "f"))
            .unwrap()
            .cells
            .len(),
        1
    );
    let Err(CompareError::DifferentWork { differences, .. }) =
        compare_strictly(&a, &leaving("/mnt/b", "g"))
    else {
        panic!("must be refused");
    };
    assert_eq!(differences[0].what, "files.lasting.names[0]");
}
