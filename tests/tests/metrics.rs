//! `serve --metrics`: what Prometheus reads of the stored and the running runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::{PythonPackages, ScratchTarget, Server, need, wait_for};
use serde_json::Value;

/// A workload that touches nothing.
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nramp_time = 0\n[[access_spec]]\n\
    name = \"Nothing \\\"at all\\\"\"\nline = [{ size = \"4k\", random = 100 }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    bed
}

fn measure(bed: &ScratchTarget, more: &[&str]) -> Value {
    let short = ["null.toml", "--run-time", "300ms", "--no-html"];
    let (output, record) = bed.record(&[&short[..], more].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    record
}

/// Lines of the metrics that begin like this.
fn samples(server: &Server, start: &str) -> Vec<String> {
    let answer = server.get("/metrics");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let lines = answer.body.lines().filter(|line| line.starts_with(start));
    lines.map(str::to_owned).collect()
}

/// The value of the only sample that begins like this and has this label.
#[track_caller]
fn value(server: &Server, start: &str, label: &str) -> f64 {
    let samples = samples(server, start);
    let mut found = samples.iter().filter(|line| line.contains(label));
    let (sample, others) = (found.next(), found.count());
    assert_eq!(others, 0, "{start} {label}: {samples:#?}");
    let sample = sample.unwrap_or_else(|| panic!("{start} {label}: {samples:#?}"));
    sample.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn there_are_no_metrics_unless_requested() {
    let bed = bed();
    let answer = Server::start(&bed, &[]).get("/metrics");
    assert_eq!(answer.status, 404, "{}", answer.body);
    assert!(answer.body.contains("--metrics"), "{}", answer.body);
}

#[test]
fn metrics_need_the_token_and_the_name_of_the_server_like_all_requests() {
    let server = Server::start(&bed(), &["--metrics"]);
    let line = "GET /metrics";
    let host = format!("Host: {}", server.address);
    let token = format!("Authorization: Bearer {}", server.token);
    let answer = server.ask_bare(line, &[&host], "");
    assert_eq!(answer.status, 401, "{}", answer.body);
    let answer = server.ask_bare(line, &["Host: elsewhere", &token], "");
    assert_eq!(answer.status, 403, "{}", answer.body);
    let answer = server.ask_bare(line, &[&host, &token], "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let kind = answer.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"));
}

#[test]
fn the_newest_run_of_each_cell_is_shown() {
    let bed = bed();
    let server = Server::start(&bed, &["--metrics"]);
    assert!(samples(&server, "pgmeter_operations_per_second").is_empty());
    measure(&bed, &[]);
    let rate = |record: &Value| record["cells"][0]["total"]["per_second"].as_f64().unwrap();
    let newest = measure(&bed, &["--iodepth", "1,2"]);
    let shown = |label: &str| {
        let start = "pgmeter_operations_per_second";
        value(
            &server,
            start,
            &format!("{label},workers=\"1\",repetition=\"0\",phase=\"\",kind=\"total\""),
        )
    };
    assert_eq!(shown("iodepth=\"1\""), rate(&newest));
    assert!(shown("iodepth=\"2\"") > 0.0);
    let id = newest["id"].as_str().unwrap();
    assert_eq!(samples(&server, "pgmeter_cell_run_info").len(), 2);
    assert_eq!(
        value(&server, "pgmeter_cell_run_info", "iodepth=\"1\""),
        1.0
    );
    for sample in samples(&server, "pgmeter_cell_run_info") {
        assert!(sample.contains(id), "{sample}");
    }
    // From the cache, and with a run that was added after it was filled.
    let newest = measure(&bed, &[]);
    assert_eq!(shown("iodepth=\"1\""), rate(&newest));
    assert_eq!(value(&server, "pgmeter_runs", "\"complete\""), 3.0);
}

#[test]
fn a_running_run_shows_its_last_interval() {
    let bed = bed();
    let server = Server::start(&bed, &["--metrics"]);
    let target = bed.target().display().to_string();
    let run = ["run", "null.toml", "--target", &target, "--no-html"];
    let mut child = bed.start(&[&run[..], &["--run-time", "60s"]].concat());
    wait_for("an interval in the metrics", || {
        !samples(&server, "pgmeter_running_operations_per_second").is_empty()
    });
    let read = "operation=\"read\"";
    assert!(value(&server, "pgmeter_running_operations_per_second", read) > 0.0);
    assert!(value(&server, "pgmeter_running_bytes_per_second", read) > 0.0);
    assert_eq!(
        value(&server, "pgmeter_running_complete_cells", "run="),
        0.0
    );
    assert_eq!(value(&server, "pgmeter_runs", "\"running\""), 1.0);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the end of the run", || {
        samples(&server, "pgmeter_running_").is_empty()
    });
    assert_eq!(value(&server, "pgmeter_runs", "\"interrupted\""), 1.0);
}

/// Reads metrics with Prometheus' own parser, and prints their samples.
const PARSE: &str = "
import json
from prometheus_client.openmetrics.parser import text_string_to_metric_families
print(json.dumps([
    [sample.name, sample.labels, sample.value]
    for family in text_string_to_metric_families(open('metrics').read())
    for sample in family.samples
]))
";

#[test]
fn metrics_are_read_by_the_parser_of_prometheus() {
    let bed = bed();
    let packages = need!(PythonPackages::new(bed.path(), &["prometheus-client"]));
    let record = measure(&bed, &["--repetitions", "2"]);
    let server = Server::start(&bed, &["--metrics"]);
    bed.file("metrics", server.get("/metrics").body);
    let output = packages.run(bed.path(), &["-c", PARSE]);
    assert_eq!(output.code, 0, "{}", output.text());
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    let found = found.as_array().unwrap();
    for repetition in 0..2 {
        let total = &record["cells"][repetition]["total"];
        let number = repetition.to_string();
        let value = |name: &str, quantile: &Value| {
            let mut samples = found.iter().filter(|it| {
                it[0] == name
                    && it[1]["kind"] == "total"
                    && it[1]["workload"] == "Nothing \"at all\""
                    && it[1]["repetition"] == number.as_str()
                    && it[1]["quantile"] == *quantile
            });
            let value = samples.next().unwrap()[2].as_f64().unwrap();
            assert!(samples.next().is_none(), "{name}");
            value
        };
        let rate = value("pgmeter_operations_per_second", &Value::Null);
        assert_eq!(rate, total["per_second"].as_f64().unwrap());
        let median = value("pgmeter_latency_seconds", &Value::from("0.5"));
        let percentile = total["latency"]["percentiles_ns"]["50"].as_f64().unwrap();
        assert!((median * 1e9 - percentile).abs() < 0.5, "{median}");
    }
}
