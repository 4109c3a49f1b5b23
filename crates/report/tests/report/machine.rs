//! Reports for programs.

use report::{Format, Page, render};
use results::{DriftRecord, OperationFigures, RunRecord, WithinRun};

use crate::sample;

fn rows(record: &RunRecord) -> Vec<csv::StringRecord> {
    let text = render(record, Format::Csv, Page::PLAIN);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    reader.records().map(Result::unwrap).collect()
}

fn field<'a>(rows: &'a [csv::StringRecord], row: usize, head: &str) -> &'a str {
    let index = rows[0].iter().position(|column| column == head).unwrap();
    &rows[row][index]
}

#[test]
fn there_is_a_row_for_each_operation_and_the_total() {
    let rows = rows(&sample::record());
    let keys: Vec<_> = (1..rows.len())
        .map(|row| ["cell", "kind", "operation"].map(|head| field(&rows, row, head)))
        .collect();
    let wanted = [
        ["0", "operation", "read"],
        ["0", "operation", "write"],
        ["0", "transaction", "transfer"],
        ["0", "total", "total"],
        ["1", "operation", "read"],
        ["1", "transaction", "transfer"],
        ["1", "total", "total"],
    ];
    assert_eq!(keys, wanted);
}

#[test]
fn numbers_are_exact_and_in_base_units() {
    let rows = rows(&sample::record());
    for (head, wanted) in [
        ("run", "20261121-023612-042-1f"),
        ("started_at", "2026-11-21T02:36:14.5Z"),
        ("engine", "io_uring"),
        ("count", "80000"),
        ("bytes", "327680000"),
        ("per_second", "8000"),
        ("bytes_per_second", "32768000"),
        ("latency_mean_ns", "149999.75"),
        ("latency_p99_ns", "199680"),
        ("cpu_user_ns", "4000000000"),
    ] {
        assert_eq!(field(&rows, 1, head), wanted, "{head}");
    }
}

#[test]
fn figures_from_intervals_are_in_the_total_row() {
    let mut record = sample::record();
    record.cells[0].within = Some(WithinRun {
        intervals: 30,
        mean: 10_000.0,
        stddev: 100.5,
        effective: Some(20.0),
        ci95_low: Some(9_950.0),
        ci95_high: None,
        warm_up: None,
        drift: Some(DriftRecord {
            change: -0.125,
            change_per_second: -0.0125,
            p_value: 0.005,
            is_beyond: true,
        }),
    });
    let rows = rows(&record);
    for (head, wanted) in [
        ("within_intervals", "30"),
        ("within_effective", "20"),
        ("within_mean_per_second", "10000"),
        ("within_ci95_low", "9950"),
        ("within_ci95_high", ""),
        ("within_stddev", "100.5"),
        ("within_warm_up_ns", ""),
        ("within_drift", "-0.125"),
        ("within_drift_p", "0.005"),
    ] {
        assert_eq!(field(&rows, 4, head), wanted, "{head}");
        assert_eq!(field(&rows, 1, head), "", "{head}");
    }
}

#[test]
fn names_are_quoted_and_missing_numbers_are_empty() {
    let mut record = sample::record();
    record.cells[0].target = "/a, \"b\"\n企鹅".into();
    record.cells[0].total = OperationFigures {
        per_second: f64::NAN,
        ..Default::default()
    };
    let rows = rows(&record);
    assert_eq!(field(&rows, 1, "target"), "/a, \"b\"\n企鹅");
    assert_eq!(field(&rows, 4, "per_second"), "");
    assert_eq!(field(&rows, 4, "latency_max_ns"), "");
}

#[test]
fn json_is_the_record() {
    let record = sample::record();
    let text = render(&record, Format::Json, Page::PLAIN);
    assert_eq!(RunRecord::from_json(&text).unwrap(), record);
}

#[test]
fn formats_have_names() {
    for (format, name) in Format::ALL {
        assert_eq!(name.parse::<Format>().unwrap(), format);
    }
    let error = "html5".parse::<Format>().unwrap_err();
    assert_eq!(error.to_string(), "there is no report format `html5`");
    assert_eq!(
        error.help(),
        "use one of text, markdown, html, csv, json, iometer-csv, classic, fio-json, summary, \
         junit, openmetrics, github-summary, bencher, influx"
    );
}

#[test]
fn repetitions_have_rows_for_their_estimates() {
    let mut record = sample::record();
    let mut again = record.cells[0].clone();
    again.repetition = 1;
    again.total.per_second += 100.0;
    record.cells.push(again);
    record.estimates = results::estimates(&record.cells);
    let rows = rows(&record);
    let is_total = |row: &usize| {
        field(&rows, *row, "estimate_metric") == "per_second"
            && field(&rows, *row, "operation") == "total"
    };
    let row = (1..rows.len()).find(is_total).unwrap();
    for (head, wanted) in [
        ("kind", "estimate"),
        ("estimate_unit", "1/s"),
        ("estimate_n", "2"),
        ("estimate_interval", "t"),
        ("cell", ""),
        ("per_second", ""),
    ] {
        assert_eq!(field(&rows, row, head), wanted, "{head}");
    }
    assert_eq!(field(&rows, 1, "estimate_metric"), "");
}
