//! Reports for CI servers and monitoring systems.

use report::{Format, Page, render};
use results::{RunRecord, Status, Warning, WarningCode, WithinRun};
use serde_json::Value;

use crate::sample;

fn text(record: &RunRecord, format: Format) -> String {
    render(record, format, Page::PLAIN).to_string()
}

/// A record with markup, quotes and line breaks in its names.
fn hostile() -> RunRecord {
    let mut record = sample::record();
    record.cells[0].access_spec = Some("a\"b\\ <c>,d=e\n</testcase> f\\".to_owned());
    record.plan.cells[0].access_spec = record.cells[0].access_spec.clone();
    record
}

fn warn(record: &mut RunRecord, code: WarningCode, message: &str, cell: Option<u32>) {
    record.warnings.push(Warning {
        code,
        message: message.to_owned(),
        cell,
    });
}

#[test]
fn a_cell_with_errors_is_a_failed_test_case() {
    let mut record = sample::record();
    record.warnings.clear();
    warn(
        &mut record,
        WarningCode::IoErrors,
        "3 reads failed",
        Some(1),
    );
    warn(
        &mut record,
        WarningCode::NotSteady,
        "the rate fell",
        Some(0),
    );
    let junit = text(&record, Format::Junit);
    assert!(junit.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>"));
    assert!(
        junit.contains("tests=\"2\" failures=\"1\" errors=\"0\""),
        "{junit}"
    );
    let cases: Vec<&str> = junit.split("<testcase").skip(1).collect();
    assert!(!cases[0].contains("<failure"), "{junit}");
    assert!(cases[0].contains("doubt: the rate fell"), "{junit}");
    assert!(
        cases[1].contains("<failure message=\"3 reads failed\">3 reads failed</failure>"),
        "{junit}"
    );
    assert_eq!(junit.matches("</testcase>").count(), 2, "{junit}");
}

#[test]
fn a_failed_run_is_a_test_case_of_its_own() {
    let mut record = sample::record();
    record.warnings.clear();
    record.status = Status::Failed;
    warn(&mut record, WarningCode::RunFailed, "no space left", None);
    let junit = text(&record, Format::Junit);
    assert!(junit.contains("tests=\"3\" failures=\"1\""), "{junit}");
    assert!(
        junit.contains("name=\"run\" time=\"0\"><failure"),
        "{junit}"
    );
}

#[test]
fn names_cannot_break_a_format() {
    let record = hostile();
    let junit = text(&record, Format::Junit);
    assert_eq!(junit.matches("<testcase").count(), 2, "{junit}");
    let metrics = text(&record, Format::OpenMetrics);
    for line in metrics.lines() {
        let is_metric = line.starts_with("pgmeter_") || line.starts_with("# ");
        assert!(is_metric, "{line}");
    }
    let influx = text(&record, Format::Influx);
    for line in influx.lines() {
        assert!(line.starts_with("pgmeter,cell="), "{line}");
        assert_eq!(split(line, ' ').len(), 3, "{line}");
    }
    let tag = split(&split(influx.lines().next().unwrap(), ' ')[0], ',')[2].clone();
    assert_eq!(split(&tag, '=').len(), 2, "{tag}");
}

/// Splits a line of the line protocol where the separator is not escaped.
fn split(line: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_escaped = false;
    for character in line.chars() {
        if character == separator && !is_escaped {
            parts.push(String::new());
            continue;
        }
        // A backslash does not escape another one.
        is_escaped = character == '\\';
        parts.last_mut().unwrap().push(character);
    }
    parts
}

#[test]
fn metrics_are_exact_and_have_their_units() {
    let metrics = text(&sample::record(), Format::OpenMetrics);
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let read = |name: &str| {
        let is_read = |it: &&str| {
            it.starts_with(name) && it.contains("cell=\"0\"") && it.contains("operation=\"read\"")
        };
        let line = metrics
            .lines()
            .find(is_read)
            .unwrap_or_else(|| panic!("{name}: {metrics}"));
        line.rsplit(' ').next().unwrap().to_owned()
    };
    for (name, wanted) in [
        ("pgmeter_operations_total{", "80000"),
        ("pgmeter_operation_errors_total{", "0"),
        ("pgmeter_transferred_bytes_total{", "327680000"),
        ("pgmeter_operations_per_second{", "8000"),
        ("pgmeter_bytes_per_second{", "32768000"),
        ("pgmeter_latency_seconds_count{", "80000"),
    ] {
        assert_eq!(read(name), wanted, "{name}");
    }
    let p99 = metrics
        .lines()
        .find(|it| it.contains("quantile=\"0.99\""))
        .unwrap();
    assert!(p99.ends_with(" 0.000199680"), "{p99}");
    assert!(
        metrics.contains("# UNIT pgmeter_latency_seconds seconds\n"),
        "{metrics}"
    );
    assert!(metrics.contains("quantile=\"0.5\""), "{metrics}");
    // All samples of a metric follow its head.
    let names = metrics.lines().filter(|it| it.starts_with("# TYPE "));
    let names: Vec<&str> = names.map(|it| it.split(' ').nth(2).unwrap()).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(names.len(), unique.len(), "{names:?}");
}

#[test]
fn a_value_that_was_not_measured_is_absent() {
    let mut record = sample::record();
    record.cells[0].total.per_second = f64::NAN;
    for format in [Format::OpenMetrics, Format::Influx, Format::Bencher] {
        let text = text(&record, format);
        assert!(!text.contains("NaN") && !text.contains("null"), "{text}");
    }
}

#[test]
fn line_protocol_has_the_time_at_which_a_cell_ended() {
    let record = sample::record();
    let influx = text(&record, Format::Influx);
    let cell = &record.cells[0];
    let end_ns =
        cell.started_at.unwrap_or(record.started_at).as_nanosecond() + i128::from(cell.run_time_ns);
    let line = influx.lines().next().unwrap();
    assert!(line.ends_with(&format!(" {end_ns}")), "{line}");
    assert!(line.contains(",count=80000i,"), "{line}");
    assert!(line.contains("latency_p99_ns=199680i"), "{line}");
}

#[test]
fn benchmarks_have_the_interval_of_their_rate() {
    let mut record = sample::record();
    record.cells[0].within = Some(WithinRun {
        intervals: 30,
        mean: 10_000.0,
        stddev: 100.5,
        effective: Some(20.0),
        ci95_low: Some(9_950.0),
        ci95_high: Some(10_050.0),
        warm_up: None,
        drift: None,
    });
    let benchmarks: Value = serde_json::from_str(&text(&record, Format::Bencher)).unwrap();
    let benchmarks = benchmarks.as_object().unwrap();
    assert_eq!(benchmarks.len(), 2, "{benchmarks:?}");
    let (name, first) = benchmarks
        .iter()
        .find(|(name, _)| name.starts_with("File Server"))
        .unwrap();
    assert_eq!(first["throughput"]["value"], 10_000.0, "{name}");
    assert_eq!(first["throughput"]["lower_value"], 9_950.0, "{name}");
    assert_eq!(
        first["latency"]["value"],
        record.cells[0].total.latency.mean_ns.unwrap()
    );
    assert!(first["latency"].get("lower_value").is_none(), "{first}");
}

#[test]
fn a_summary_for_github_folds_all_but_the_verdict() {
    let summary = text(&sample::record(), Format::GithubSummary);
    let first = summary.find("<details>").unwrap();
    let verdict = summary.find("## Verdict").unwrap_or(0);
    assert!(verdict < first, "{summary}");
    let [opened, closed] = ["<details>", "</details>"].map(|it| summary.matches(it).count());
    assert!(opened >= 2 && opened == closed, "{summary}");
    assert!(!summary[first..].contains("\n## "), "{summary}");
    // Markdown within an HTML element needs a blank line before it.
    assert!(summary.contains("</summary>\n\n"), "{summary}");
}
