//! The reports of a run: records in forms that people and other programs read.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;

use end_to_end::{PythonPackages, ScratchTarget, need, run_tool, skip};
use serde_json::Value;

const SMALL: &str = "size = \"4m\"\ncache = \"buffered\"\n[[access_spec]]\nname = \"Mixed\"\n\
    line = [{ size = \"4k\", read = 70, random = 100 }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("small.toml", SMALL);
    bed
}

#[test]
fn parts_with_the_same_name_are_estimated_and_listed_separately() {
    let bed = ScratchTarget::new().unwrap();
    let part = |size: &str| {
        format!(
            "[[part]]\nname = \"same\"\n[[part.access_spec]]\n\
             line = [{{ size = \"{size}\", random = 100 }}]\n"
        )
    };
    let head = "name = \"pack\"\nengine = \"null\"\nsize = \"4m\"\nramp_time = 0\n";
    bed.file("pack.toml", [head, &part("4k"), &part("1m")].concat());
    let options = ["pack.toml", "--repetitions", "3", "--run-time", "50ms"];
    let (output, record) = bed.record(&options);
    assert_eq!(output.code, 0, "{}", output.text());
    let output = bed.run(&["report", "last"]);
    assert!(output.stdout.contains("same (2)"), "{}", output.text());
    let cells = record["cells"].as_array().unwrap();
    let estimates = record["estimates"].as_array().unwrap();
    let is_rate = |it: &&Value| it["operation"] == "total" && it["metric"] == "per_second";
    let rates: Vec<&Value> = estimates.iter().filter(is_rate).collect();
    assert_eq!(rates.len(), 2, "{estimates:?}");
    for (part, estimate) in rates.into_iter().enumerate() {
        let own = cells.iter().filter(|cell| cell["first_index"] == part);
        let own: Vec<f64> = own
            .map(|cell| cell["total"]["per_second"].as_f64().unwrap())
            .collect();
        let mean = own.iter().sum::<f64>() / 3.0;
        assert_eq!(
            (&estimate["first_index"], &estimate["n"]),
            (&part.into(), &3.into())
        );
        assert!((estimate["mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-9);
    }
    let stored = bed.run(&["report", "last", "--format", "json"]);
    let stored: Value = serde_json::from_str(&stored.stdout).unwrap();
    assert_eq!(
        (&stored["cells"], &stored["estimates"]),
        (&record["cells"], &record["estimates"])
    );
}

#[test]
fn several_records_are_shown_side_by_side_only_on_a_page() {
    let bed = bed();
    for name in ["a.json", "b.json"] {
        let output = bed.measure(&["small.toml", "--no-html", "--quiet", "--json", name]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let both = ["report", "a.json", "b.json"];
    let output = bed.run(&[&both[..], &["--format", "html", "-o", "both.html"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let page = std::fs::read_to_string(bed.path().join("both.html")).unwrap();
    assert!(page.contains("2 runs compared"));
    let output = bed.run(&both);
    assert_eq!(output.code, 2, "{}", output.text());
    assert!(
        output.stderr.contains("use `--format html`"),
        "{}",
        output.text()
    );
}

/// Keys that fio has and pgmeter has nothing to say about.
const OMITTED_KEYS: [&str; 11] = [
    "eta",
    "ctx",
    "majf",
    "minf",
    "iodepth_level",
    "iodepth_submit",
    "iodepth_complete",
    "latency_depth",
    "latency_target",
    "latency_percentile",
    "latency_window",
];

/// The keys of an object and of the objects in it, as paths.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (name, part) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        // Every job has its own options.
        if name != "job options" {
            keys(part, &path, found);
        }
        found.insert(path);
    }
}

#[test]
fn fio_json_has_the_keys_of_fio() {
    let bed = bed();
    let file = bed.path().join("fio.json").to_string_lossy().into_owned();
    need!(run_tool(
        "fio",
        &[
            "--name=x",
            "--ioengine=null",
            "--rw=randrw",
            "--bs=4k",
            "--size=64m",
            "--output-format=json",
            &format!("--output={file}"),
        ],
    ));
    let fio: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    bed.measure(&["small.toml", "--quiet", "--no-html", "--json", "saved.json"]);
    let output = bed.run(&["report", "saved.json", "--format", "fio-json"]);
    let ours: Value = serde_json::from_str(&output.stdout).unwrap();
    let [fios, ours] = [&fio, &ours].map(|document| {
        let mut found = BTreeSet::new();
        keys(document, "", &mut found);
        keys(&document["jobs"][0], "/jobs", &mut found);
        found
    });
    let is_left_out = |path: &&String| {
        OMITTED_KEYS
            .iter()
            .any(|key| path.contains(&format!("/{key}")))
    };
    let missing: Vec<&String> = fios
        .difference(&ours)
        .filter(|path| !is_left_out(path))
        .collect();
    // The null engine has no device, so fio reports no utilization.
    let more = ours.difference(&fios).filter(|path| *path != "/disk_util");
    let more: Vec<&String> = more.collect();
    assert!(missing.is_empty(), "fio has these too: {missing:?}");
    assert!(more.is_empty(), "fio has no such keys: {more:?}");
}

#[test]
fn a_summary_is_a_page_of_one_run() {
    let bed = bed();
    bed.measure(&["small.toml", "--quiet", "--no-html", "--json", "saved.json"]);
    let summary = ["report", "saved.json", "--format", "summary"];
    let output = bed.run(&[&summary[..], &["-o", "sheet.html"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let page = std::fs::read_to_string(bed.path().join("sheet.html")).unwrap();
    for text in ["<h2>Conditions</h2>", "<h2>Repeat</h2>", "class=\"tiles\""] {
        assert!(page.contains(text), "no `{text}`");
    }
    assert!(!page.contains("<h2>Cells</h2>"), "only the summary");
    let output = bed.run(&[&summary[..], &["-o", "sheet.csv"]].concat());
    output.assert_refused(2, &["contradicts the file name", "help: "]);
    let output = bed.run(&["report", "saved.json", "saved.json", "--format", "summary"]);
    output.assert_refused(2, &["takes one record, not 2", "help: "]);
}

#[test]
fn fio_json_of_several_depths_notes_what_fio_plot_draws() {
    let bed = bed();
    let says = |depths: &str| {
        let run = ["small.toml", "--quiet", "--no-html", "--json", "saved.json"];
        bed.measure(&[&run[..], &["--iodepth", depths]].concat());
        let output = bed.run(&["report", "saved.json", "--format", "fio-json"]);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert!(document["jobs"].is_array());
        output.stderr
    };
    let notes = says("1,2");
    assert!(
        notes.contains("note: fio-plot merges the jobs of a file"),
        "{notes}"
    );
    assert!(notes.contains("run each `--iodepth` separately"), "{notes}");
    assert_eq!(says("2"), "");
}

/// Reads all files with the parsers of their consumers, and prints what these found.
const CONSUMERS: &str = "
import json
from line_protocol_parser import parse_line
from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
cases = [case for suite in JUnitXml.fromfile('r.xml') for case in suite]
samples = [
    [sample.name, sample.labels, sample.value]
    for family in text_string_to_metric_families(open('r.prom').read())
    for sample in family.samples
]
print(json.dumps({
    'cases': [[case.name, len(case.result)] for case in cases],
    'samples': samples,
    'points': [parse_line(line) for line in open('r.lp')],
}))
";

#[test]
fn exports_are_read_by_the_parsers_of_their_consumers() {
    let bed = bed();
    let packages = ["junitparser", "prometheus-client", "line-protocol-parser"];
    let packages = need!(PythonPackages::new(bed.path(), &packages));
    let (output, record) = bed.record(&["small.toml", "--run-time", "300ms", "--ramp-time", "0"]);
    assert_eq!(output.code, 0, "{}", output.text());
    for name in ["r.xml", "r.prom", "r.lp"] {
        let output = bed.run(&["report", "last", "-o", name]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let output = packages.run(bed.path(), &["-c", CONSUMERS]);
    assert_eq!(output.code, 0, "{}", output.text());
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(found["cases"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["cases"][0][1], 0, "{found}");
    let total = &record["cells"][0]["total"];
    let samples = found["samples"].as_array().unwrap();
    let value = |name: &str| {
        let is_total = |it: &&Value| it[0] == name && it[1]["operation"] == "total";
        let sample = samples.iter().find(is_total);
        sample.unwrap_or_else(|| panic!("{name}: {found}"))[2].as_f64()
    };
    assert_eq!(value("pgmeter_operations_total"), total["count"].as_f64());
    assert_eq!(
        value("pgmeter_transferred_bytes_total"),
        total["bytes"].as_f64()
    );
    assert_eq!(
        value("pgmeter_operations_per_second"),
        total["per_second"].as_f64()
    );
    let points = found["points"].as_array().unwrap();
    let point = points
        .iter()
        .find(|point| point["tags"]["operation"] == "total");
    let fields = &point.unwrap()["fields"];
    assert_eq!(fields["count"], total["count"]);
    assert_eq!(fields["per_second"], total["per_second"]);
}

/// Reads both tables with pandas, and prints what the test compares with the record.
const TABLES: &str = "
import json, pandas
intervals = pandas.read_parquet('intervals.parquet')
histograms = pandas.read_parquet('histograms.parquet')
cell = intervals[intervals.cell == 1]
print(json.dumps({
    'columns': list(intervals.columns),
    'types': {name: str(kind) for name, kind in intervals.dtypes.items()},
    'runs': sorted(set(intervals.run)),
    'count': int(cell['count'].sum()),
    'at_ns': [int(it) for it in cell[cell.operation == 'read'].at_ns],
    'per_second': [float(it) for it in cell[cell.operation == 'read'].per_second],
    'buckets': histograms[(histograms.cell == 1) & (histograms.kind == 'total')]
        [['lowest_ns', 'highest_ns', 'count']].values.tolist(),
}))
";

#[test]
fn pandas_reads_intervals_and_histograms_as_parquet() {
    let bed = bed();
    let packages = need!(PythonPackages::new(bed.path(), &["pandas", "pyarrow"]));
    let options = ["small.toml", "--run-time", "500ms", "--iodepth", "1,2"];
    let (output, record) = bed.record(&options);
    assert_eq!(output.code, 0, "{}", output.text());
    let formats = [
        ("parquet", "intervals.parquet"),
        ("parquet-histograms", "histograms.parquet"),
    ];
    for (format, name) in formats {
        let output = bed.run(&["report", "last", "--format", format, "-o", name]);
        if output.stderr.contains("built without Parquet") {
            skip!("the program was built without `--features parquet`");
        }
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let output = packages.run(bed.path(), &["-c", TABLES]);
    assert_eq!(output.code, 0, "{}", output.text());
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(found["runs"], serde_json::json!([record["id"]]));
    assert_eq!(found["types"]["count"], "uint64", "{found}");
    assert_eq!(found["columns"][13], "operation", "{found}");
    let cell = &record["cells"][1];
    let intervals = cell["intervals"].as_array().unwrap();
    let of_all = |interval: &Value| -> u64 {
        let operations = interval["operations"].as_object().unwrap().values();
        operations.map(|it| it["count"].as_u64().unwrap()).sum()
    };
    assert_eq!(found["count"], intervals.iter().map(of_all).sum::<u64>());
    let starts: Vec<&Value> = intervals.iter().map(|it| &it["at_ns"]).collect();
    assert_eq!(found["at_ns"], serde_json::json!(starts));
    let first = &intervals[0];
    let rate = first["operations"]["read"]["count"].as_f64().unwrap() * 1e9
        / first["length_ns"].as_f64().unwrap();
    assert_eq!(found["per_second"][0].as_f64().unwrap(), rate);
    let buckets = &cell["total"]["latency"]["histogram"]["buckets_ns"];
    assert_eq!(&found["buckets"], buckets);
}

#[test]
fn parquet_needs_a_file_of_its_own() {
    let bed = bed();
    let (output, _) = bed.record(&["small.toml", "--run-time", "100ms"]);
    assert_eq!(output.code, 0, "{}", output.text());
    for more in [&[][..], &["-o", "-"], &["-o", "a.parquet", "--json"]] {
        let words = ["report", "last", "--format", "parquet"];
        let output = bed.run(&[&words[..], more].concat());
        assert_eq!(output.code, 2, "{}", output.text());
        assert!(
            output.stderr.contains("--output run.parquet"),
            "{}",
            output.text()
        );
    }
    assert!(!bed.path().join("a.parquet").exists());
}
