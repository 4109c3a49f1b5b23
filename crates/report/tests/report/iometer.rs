//! The result file of Iometer.

use std::path::Path;

use report::{Format, Page, render};
use results::{CellCluster, CellRecord, RankFigures, RunRecord, Timestamp};

use crate::sample;

fn lines(record: &RunRecord) -> Vec<String> {
    let text = render(record, Format::IometerCsv, Page::PLAIN);
    assert!(text.ends_with("'End Test\r\n"));
    text.split("\r\n").map(str::to_owned).collect()
}

fn head(lines: &[String]) -> Vec<&str> {
    let head = lines
        .iter()
        .find(|line| line.starts_with("'Target Type"))
        .unwrap();
    head.split(',').collect()
}

/// The field under a head in the `nth` row whose first field is `kind`.
fn field<'a>(lines: &'a [String], kind: &str, nth: usize, name: &str) -> &'a str {
    let index = head(lines)
        .iter()
        .position(|column| *column == name)
        .unwrap();
    let kind = format!("{kind},");
    let row = lines
        .iter()
        .filter(|line| line.starts_with(&kind))
        .nth(nth)
        .unwrap();
    row.split(',').nth(index).unwrap()
}

fn number(lines: &[String], kind: &str, name: &str) -> f64 {
    field(lines, kind, 0, name).parse().unwrap()
}

#[test]
fn headers_match_iometer_byte_for_byte() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/samples/iometer-results/quarch_1.1.0_testfile_CRLF.csv");
    let Ok(bytes) = std::fs::read(&sample) else {
        println!("skipped: {} is not there", sample.display());
        return;
    };
    let is_head = |line: &&[u8]| line.starts_with(b"'Target Type");
    let theirs = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .find(is_head)
        .unwrap();
    let rendered = render(&sample::record(), Format::IometerCsv, Page::PLAIN);
    let rendered = rendered
        .as_bytes()
        .split_inclusive(|byte| *byte == b'\n')
        .find(is_head)
        .unwrap();
    assert_eq!(rendered, theirs);
}

#[test]
fn the_layout_matches_iometer() {
    let lines = lines(&sample::record());
    let skeleton: Vec<&str> = lines
        .iter()
        .map(|line| match line.split_once(',') {
            Some((kind, _)) if kind.bytes().all(|byte| byte.is_ascii_uppercase()) => kind,
            _ => line.as_str(),
        })
        .map(|line| {
            if line.starts_with("'Target Type") {
                "HEADS"
            } else {
                line
            }
        })
        .collect();
    let wanted = "'Test Type,Test Description|0,file-server|'Version|1.1.0|'Time Stamp|\
        2026-11-21 02:36:12:042|'Access specifications|\
        'Access specification name,default assignment|File Server,0|\
        'size,% of size,% reads,% random,delay,burst,align,reply|4096,100,80,100,0,1,4096,0,|\
        'End access specifications|'Results|HEADS|\
        ALL|MANAGER|PROCESSOR|WORKER|DISK|WORKER|DISK|'Time Stamp|2026-11-21 02:36:24:500|\
        'Access specifications|'Access specification name,default assignment|\
        4 KiB random read,0|'size,% of size,% reads,% random,delay,burst,align,reply|\
        4096,100,100,100,0,1,4096,0,|'End access specifications|'Results|HEADS|\
        ALL|MANAGER|PROCESSOR|WORKER|DISK|'Time Stamp|2026-11-21 02:36:24:500|'End Test|";
    assert_eq!(skeleton, wanted.split('|').collect::<Vec<_>>());
}

#[test]
fn every_row_has_as_many_fields_as_in_iometer() {
    let lines = lines(&sample::record());
    assert_eq!(head(&lines).len(), 80);
    for line in &lines {
        let fields = line.split(',').count();
        match line.split(',').next().unwrap() {
            "ALL" | "MANAGER" | "WORKER" | "DISK" => assert_eq!(fields, 80, "{line}"),
            "PROCESSOR" => assert_eq!(fields, 59, "{line}"),
            _ => {}
        }
    }
}

#[test]
fn rates_times_and_counts_use_the_formulas_of_iometer() {
    let lines = lines(&sample::record());
    for (name, wanted) in [
        ("IOps", "10000.000000"),
        ("Read IOps", "8000.000000"),
        ("Write IOps", "2000.000000"),
        ("MiBps (Binary)", "39.062500"),
        ("MBps (Decimal)", "40.960000"),
        ("Transactions per Second", "10000.000000"),
        ("Connections per Second", "0.000000"),
        ("Average Read Response Time", "0.149996"),
        ("Maximum Response Time", "12.000000"),
        ("Errors", "0"),
        ("Bytes Read", "327680000"),
        ("Write I/Os", "20000"),
        ("Transactions per Connection", "-1"),
        ("Total Raw Run Time", ""),
        ("Starting Sector", "0"),
        ("Maximum Size", "16777216"),
        ("Queue Depth", "8"),
        ("% CPU Utilization", "25.000000"),
        ("% Privileged Time", "15.000000"),
        ("Processor Speed", ""),
        ("Interrupts per Second", "50000.000000"),
        ("CPU Effectiveness", "400.000000"),
        ("# Managers", "1"),
        ("# Workers", "2"),
        ("# Disks", "2"),
        ("10 to 15 mS", "100"),
    ] {
        assert_eq!(field(&lines, "ALL", 0, name), wanted, "{name}");
    }
    assert_eq!(field(&lines, "MANAGER", 0, "# Managers"), "");
    assert_eq!(
        field(&lines, "MANAGER", 0, "Total Raw Run Time"),
        "10000000000"
    );
    assert_eq!(field(&lines, "WORKER", 1, "Target Name"), "Worker 2");
    assert_eq!(field(&lines, "WORKER", 1, "% CPU Utilization"), "");
    assert_eq!(field(&lines, "DISK", 0, "Access Specification Name"), "");
}

#[test]
fn all_is_the_sum_of_the_workers() {
    let lines = lines(&sample::record());
    for name in ["IOps", "Read I/Os", "MiBps (Binary)", "100 to 200 uS"] {
        let workers: f64 = (0..2)
            .map(|nth| field(&lines, "WORKER", nth, name).parse::<f64>().unwrap())
            .sum();
        assert_eq!(number(&lines, "ALL", name), workers, "{name}");
    }
}

#[test]
fn each_request_is_in_the_one_bin_with_its_printed_bounds() {
    let mut record = sample::record();
    let mut totals = stats::Interval::with([0], 0);
    for ms in [14, 15, 31, 4_690, 4_800, 9_000, 10_100, 60_000] {
        totals.operation_mut(0).record(512, ms * 1_000_000);
    }
    let plan = record.plan.clone();
    let planned = &plan.cells[1];
    record.cells = vec![CellRecord::of(
        planned,
        &plan,
        &totals,
        10_000_000,
        sample::NAMES,
    )];
    let lines = lines(&record);
    for (name, wanted) in [
        ("10 to 15 mS", "1"),
        ("15 to 20 mS", "1"),
        ("20 to 30 mS", "0"),
        ("30 to 50 mS", "1"),
        ("2 to 4.7 s", "1"),
        ("4.7 to 5 s", "1"),
        ("5 to 10 s", "1"),
        (" >= 10 s", "2"),
    ] {
        assert_eq!(field(&lines, "ALL", 0, name), wanted, "{name}");
    }
}

#[test]
fn a_varied_queue_depth_is_test_type_6_with_one_specification() {
    let mut record = sample::record();
    record.plan.cells[1] = sample::cell(1, "File Server", 16, 2, 80.0);
    record.cells[1] = sample::cell_record(&record.plan, 1, 1000);
    let lines = lines(&record);
    assert_eq!(lines[1], "6,file-server");
    assert_eq!(
        lines
            .iter()
            .filter(|line| *line == "'Access specifications")
            .count(),
        1
    );
    assert_eq!(lines.iter().filter(|line| *line == "'Results").count(), 2);
}

#[test]
fn differing_workers_show_no_common_value() {
    let mut record = sample::record();
    let worker = &mut record.plan.cells[0].workers[1];
    worker.spans[0].iodepth = 3;
    worker.spans[0].start_bytes = 512;
    worker.transactions_per_connection = Some(9);
    let lines = lines(&record);
    assert_eq!(field(&lines, "ALL", 0, "Queue Depth"), "-1");
    assert_eq!(
        field(&lines, "ALL", 0, "Starting Sector"),
        "18446744073709551615"
    );
    assert_eq!(field(&lines, "ALL", 0, "Transactions per Connection"), "-1");
    assert_eq!(field(&lines, "WORKER", 1, "Queue Depth"), "3");
    assert_eq!(
        field(&lines, "WORKER", 1, "Transactions per Connection"),
        "9"
    );
    assert_eq!(field(&lines, "DISK", 1, "Starting Sector"), "1");
}

#[test]
fn names_cannot_break_rows() {
    let mut record = sample::record();
    record.cells[0].worker_figures[0].name = "a,b\r\nALL,x".into();
    record.cells[0].access_spec = Some("x\ny,z".into());
    let lines = lines(&record);
    assert_eq!(field(&lines, "WORKER", 0, "Target Name"), "a b  ALL x");
    assert_eq!(
        field(&lines, "ALL", 0, "Access Specification Name"),
        "x y z"
    );
}

#[test]
fn an_empty_record_and_a_cell_without_plan_are_written() {
    let mut record = sample::record();
    record.plan.cells.clear();
    record.cells[0].worker_figures.clear();
    record.cells[0].started_at = Some(Timestamp::MAX);
    let with_cells = lines(&record);
    assert_eq!(field(&with_cells, "ALL", 0, "IOps"), "10000.000000");
    assert_eq!(field(&with_cells, "ALL", 0, "Queue Depth"), "-1");
    assert!(
        with_cells
            .iter()
            .any(|line| line == "2026-11-21 02:36:40:000")
    );
    record.cells.clear();
    assert_eq!(lines(&record).len(), 8);
}

/// The sample with 4 and 6 connections in the first cell's workers.
fn connected() -> RunRecord {
    let mut record = sample::record();
    let workers = &mut record.cells[0].worker_figures;
    for (worker, (connections, max_ns)) in workers.iter_mut().zip([(4, 5_000_000), (6, 9_000_000)])
    {
        worker.connections = connections;
        worker.connection_latency = Some(results::Latency {
            count: connections,
            sum_ns: connections * 2_000_000,
            max_ns: Some(max_ns),
            ..Default::default()
        });
    }
    for worker in &mut record.plan.cells[0].workers {
        worker.transactions_per_connection = Some(5000);
    }
    record
}

#[test]
fn connections_fill_their_columns_but_not_transactions() {
    let lines = lines(&connected());
    for (row, name, wanted) in [
        ("ALL", "Connections per Second", "1.000000"),
        ("ALL", "Average Connection Time", "2.000000"),
        ("ALL", "Maximum Connection Time", "9.000000"),
        ("ALL", "Connections", "10"),
        ("ALL", "Transactions per Connection", "5000"),
        ("ALL", "Transactions per Second", "10000.000000"),
        ("MANAGER", "Total Raw Connection Time", "20000000"),
        ("MANAGER", "Maximum Raw Connection Time", "9000000"),
        ("WORKER", "Connections", "4"),
        ("WORKER", "Maximum Raw Connection Time", "5000000"),
    ] {
        assert_eq!(field(&lines, row, 0, name), wanted, "{row} {name}");
    }
}

#[test]
fn connections_are_reported_without_figures_of_workers() {
    let mut record = connected();
    let cell = &mut record.cells[0];
    cell.worker_figures.clear();
    let connection = results::TransactionFigures {
        count: 30,
        ..Default::default()
    };
    cell.transactions.insert("connection".into(), connection);
    let lines = lines(&record);
    assert_eq!(
        field(&lines, "ALL", 0, "Connections per Second"),
        "3.000000"
    );
    assert_eq!(
        field(&lines, "ALL", 0, "Transactions per Second"),
        "10000.000000"
    );
}

#[test]
fn the_test_type_is_that_of_the_workloads_if_they_agree() {
    use description::model::TestType::*;
    let types = [
        Normal,
        CycleTargets,
        CycleWorkers,
        IncrementTargetsParallel,
        IncrementTargetsSerial,
        CycleWorkersAndTargets,
        CycleOutstandingIos,
        CycleOutstandingIosAndTargets,
    ];
    let mut record = sample::record();
    let mut setting = record.plan.settings[0].clone();
    setting.key = "test_type".into();
    for (number, test_type) in types.into_iter().enumerate() {
        let value = serde_json::to_value(test_type).unwrap();
        setting.value = value.as_str().unwrap().to_owned();
        record.plan.settings = vec![setting.clone(), setting.clone()];
        assert_eq!(lines(&record)[1], format!("{number},file-server"));
    }
    record.plan.settings[0].value = "cycle-targets".into();
    assert_eq!(lines(&record)[1], "0,file-server");
}

#[test]
fn an_interrupted_run_ends_as_an_aborted_test() {
    let mut record = sample::record();
    record.status = results::Status::Interrupted;
    let text = render(&record, Format::IometerCsv, Page::PLAIN);
    assert!(text.ends_with("\r\n'End Test\r\nAborted test\r\n"));
}

#[test]
fn processes_of_a_shared_run_are_managers_with_their_own_workers() {
    let mut record = sample::record();
    record.cells.truncate(1);
    let shared = |rank, host: &str| RankFigures {
        rank,
        host: host.to_owned(),
        ..RankFigures::default()
    };
    let cell = &mut record.cells[0];
    cell.ranks = 3;
    cell.cluster = Some(Box::new(CellCluster {
        // The last one was lost before it could tell its figures.
        ranks: vec![shared(0, "node1"), shared(1, "node2"), shared(2, "node2")],
        ..CellCluster::default()
    }));
    let planned = &mut record.plan.cells[0].workers;
    (planned[0].rank, planned[1].rank) = (0, 1);
    let lines = lines(&record);
    let rows = lines
        .iter()
        .map(|line| line.split(',').take(2).collect::<Vec<_>>());
    let rows =
        rows.filter(|row| row[0].bytes().all(|it| it.is_ascii_uppercase()) && row.len() == 2);
    let rows: Vec<String> = rows.map(|row| row.join(" ")).collect();
    let wanted = [
        "ALL All",
        "MANAGER node1",
        "WORKER Worker 1",
        "DISK /mnt/array",
        "MANAGER node2",
        "WORKER Worker 2",
        "DISK /mnt/array",
    ];
    assert_eq!(rows, wanted);
    let count = |kind, nth, name| field(&lines, kind, nth, name);
    assert_eq!(count("ALL", 0, "# Managers"), "3");
    assert_eq!(count("MANAGER", 1, "# Workers"), "1");
    let rates = [0, 1].map(|nth| count("MANAGER", nth, "IOps").parse::<f64>().unwrap());
    assert_eq!(rates.iter().sum::<f64>(), number(&lines, "ALL", "IOps"));
}
