use serde_json::Value;

use super::*;
use crate::sample;

fn rendered(record: &RunRecord) -> Value {
    serde_json::from_str(&render(record)).unwrap()
}

#[test]
fn a_cell_is_a_job_with_its_options() {
    let json = rendered(&sample::record());
    let jobs = json["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0]["jobname"], "File Server, 2 workers, depth 8");
    let options = &jobs[0]["job options"];
    for (name, wanted) in [
        ("rw", "randrw"),
        ("bs", "4k"),
        ("iodepth", "8"),
        ("numjobs", "2"),
        ("ioengine", "io_uring"),
        ("direct", "1"),
        ("rwmixread", "80"),
        ("directory", "/mnt/array"),
        ("runtime", "10"),
    ] {
        assert_eq!(options[name], *wanted, "{name}");
    }
    assert_eq!(jobs[1]["job options"]["rw"], "randread");
}

#[test]
fn directions_have_fios_units() {
    let record = sample::record();
    let json = rendered(&record);
    let read = &json["jobs"][0]["read"];
    let figures = &record.cells[0].operations["read"];
    assert_eq!(read["io_bytes"], figures.bytes);
    assert_eq!(read["bw"], (figures.bytes_per_second / 1024.0) as u64);
    assert_eq!(read["iops"], figures.per_second);
    assert_eq!(read["runtime"], 10_000);
    assert_eq!(read["lat_ns"]["N"], figures.count);
    let median = figures.latency.percentiles_ns.p50.unwrap();
    assert_eq!(read["clat_ns"]["percentile"]["50.000000"], median);
    assert_eq!(json["jobs"][0]["trim"]["total_ios"], 0);
    assert!(
        json["jobs"][0]["trim"]["clat_ns"]
            .get("percentile")
            .is_none()
    );
}

#[test]
fn the_latency_classes_add_up_to_one_hundred() {
    let json = rendered(&sample::record());
    let job = &json["jobs"][0];
    let classes = ["latency_ns", "latency_us", "latency_ms"];
    let shares = classes
        .iter()
        .flat_map(|class| job[class].as_object().unwrap().values());
    let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 1e-9, "{sum}");
    // 100 to 200 microseconds, and one in a thousand takes 12 milliseconds.
    assert!(job["latency_us"]["250"].as_f64().unwrap() > 99.0);
    assert!(job["latency_ms"]["20"].as_f64().unwrap() > 0.09);
}

#[test]
fn keys_keep_their_order() {
    let text = render(&sample::record());
    let position = |key: &str| text.find(key).unwrap();
    assert!(position("\"5.000000\"") < position("\"10.000000\""));
    assert!(position("\"fio version\"") < position("\"jobs\""));
}

#[test]
fn failures_have_their_error_number() {
    let mut record = sample::record();
    record.cells[0].total.errors = 3;
    record.cells[0].errors = vec![results::ErrnoCount {
        errno: 5,
        ..results::ErrnoCount::default()
    }];
    let json = rendered(&record);
    assert_eq!(
        (&json["jobs"][0]["error"], &json["jobs"][0]["total_err"]),
        (&5.into(), &3.into())
    );
    assert_eq!(json["jobs"][1]["error"], 0);
}

#[test]
fn several_sizes_are_a_range_and_a_split() {
    let mut record = sample::record();
    let worker = &mut record.plan.cells[1].workers[0];
    let mut line = worker.lines[0].clone();
    line.size_bytes = 1 << 20;
    line.of_size_percent = 25.0;
    worker.lines[0].of_size_percent = 75.0;
    worker.lines.push(line);
    let options = &rendered(&record)["jobs"][1]["job options"];
    assert_eq!(options["bs"], "4k-1m");
    assert_eq!(options["bssplit"], "4k/75:1m/25");
}

#[test]
fn devices_are_added_up_over_the_cells() {
    let json = rendered(&sample::record());
    let disk = &json["disk_util"][0];
    assert_eq!(
        (&disk["name"], &disk["read_ios"]),
        (&"nvme0n1".into(), &105_000.into())
    );
    assert!((disk["util"].as_f64().unwrap() - 98.7).abs() < 1e-9);
}

#[test]
fn a_run_without_cells_has_no_jobs() {
    let mut record = sample::record();
    record.cells.clear();
    assert_eq!(rendered(&record)["jobs"], Value::Array(Vec::new()));
}
