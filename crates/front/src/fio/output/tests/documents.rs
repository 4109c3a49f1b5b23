//! Values in JSON documents.

use results::ErrnoCount;
use serde_json::Value;

use super::*;

fn document(set: &JobSet, record: &RunRecord) -> Value {
    serde_json::from_str(&json(set, record, true)).unwrap()
}

const READ: &str = "[j]\nsize=4m\n";
const THOUSAND_FAST: [u64; 1000] = [1500; 1000];

#[test]
fn rates_are_based_on_the_measured_time() {
    let record = record(vec![vec![reader(&THOUSAND_FAST, &[250; 4])]]);
    let document = document(&jobs(READ), &record);
    let job = &document["jobs"][0];
    let read = &job["read"];
    assert_eq!(read["io_bytes"], 4_096_000);
    assert_eq!(read["io_kbytes"], 4000);
    assert_eq!(read["bw_bytes"], 2_048_000);
    assert_eq!(read["bw"], 2000);
    assert_eq!(read["iops"], 500.0);
    assert_eq!(read["runtime"], 2000);
    assert_eq!(read["total_ios"], 1000);
    assert_eq!(job["usr_cpu"], 25.0);
    assert_eq!(job["sys_cpu"], 50.0);
    assert_eq!([&job["ctx"], &job["majf"], &job["minf"]], [9, 1, 3]);
    assert_eq!(job["job_runtime"], 2000);
    assert_eq!(job["elapsed"], 3);
    assert_eq!(job["iodepth_level"]["1"], 100.0);
    assert_eq!(job["job_start"], 1_795_225_014_250_i64);
}

#[test]
fn latencies_have_percentiles_buckets_and_classes() {
    let mut values = vec![900; 90];
    values.extend([30_000; 9]);
    values.push(3_000_000_000);
    let document = document(&jobs(READ), &record(vec![vec![reader(&values, &[])]]));
    let job = &document["jobs"][0];
    let clat = &job["read"]["clat_ns"];
    assert_eq!(clat["N"], 100);
    assert_eq!([&clat["min"], &clat["max"]], [900, 3_000_000_000_u64]);
    assert_eq!(clat["percentile"]["90.000000"], 900);
    assert_eq!(clat["percentile"]["95.000000"], 30_000);
    assert_eq!(clat["percentile"]["99.990000"], 3_000_000_000_u64);
    assert_eq!(clat["bins"]["900"], 90);
    assert_eq!(job["latency_ns"]["1000"], 90.0);
    assert_eq!(job["latency_us"]["50"], 9.0);
    assert_eq!(job["latency_ms"][">=2000"], 1.0);
    assert_eq!(job["read"]["slat_ns"]["N"], 0, "it is not measured");
}

#[test]
fn latency_counts_from_the_due_time() {
    let mut paced = reader(&[1000; 10], &[]);
    paced.transaction_latency = Some(latency(&[5000; 10]));
    let document = document(&jobs(READ), &record(vec![vec![paced.clone()]]));
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["clat_ns"]["mean"], 1000.0);
    assert_eq!(read["lat_ns"]["mean"], 5000.0);
    assert_eq!(document["jobs"][0]["latency_us"]["10"], 100.0);

    let write = operation(&[2000; 10]);
    paced.operations.insert("write".to_owned(), write);
    let mixed = self::document(&jobs(READ), &record(vec![vec![paced]]));
    let lat = &mixed["jobs"][0]["read"]["lat_ns"];
    assert_eq!(lat["mean"], 1000.0, "whose it is nobody knows");
}

#[test]
fn a_group_is_reported_under_the_name_of_its_first_job() {
    let set = jobs("[global]\ngroup_reporting\nsize=4m\n[a]\n[b]\nrw=write\n[c]\nstonewall\n");
    let writer = worker(&[("write", operation(&[2000; 100]))]);
    let waves = vec![
        vec![reader(&[1000; 100], &[100; 4]), writer],
        vec![reader(&[1000; 50], &[])],
    ];
    let document = document(&set, &record(waves));
    let [ab, c] = document["jobs"].as_array().unwrap().as_slice() else {
        panic!("two results");
    };
    assert_eq!([&ab["jobname"], &c["jobname"]], ["a", "c"]);
    assert_eq!([&ab["groupid"], &c["groupid"]], [0, 1]);
    assert_eq!(ab["read"]["total_ios"], 100);
    assert_eq!(ab["write"]["total_ios"], 100);
    assert_eq!(ab["job_runtime"], 4000, "of both");
    assert_eq!(ab["read"]["runtime"], 2000, "of the longest");
    assert_eq!(ab["latency_us"]["2"], 50.0);
    assert_eq!(c["read"]["total_ios"], 50);
}

#[test]
fn clones_of_a_group_add_up() {
    let set = jobs("[j]\nsize=4m\nnumjobs=2\ngroup_reporting\n");
    let clones = vec![
        reader(&[1000; 100], &[50, 25, 25, 100]),
        reader(&[3000; 100], &[25, 50, 50, 100]),
    ];
    let document = document(&set, &record(vec![clones]));
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["clat_ns"]["mean"], 2000.0);
    let stddev = read["clat_ns"]["stddev"].as_f64().unwrap();
    assert!(
        (stddev - (200e6_f64 / 199.0).sqrt()).abs() < 1e-3,
        "{stddev}"
    );
    assert_eq!([&read["iops_min"], &read["iops_max"]], [100, 400]);
    assert_eq!(read["iops_mean"], 212.5);
    assert_eq!(read["iops_samples"], 8);
    assert_eq!(read["bw_agg"], 100.0);

    let ungrouped = self::document(
        &jobs("[j]\nsize=4m\nnumjobs=2\n"),
        &record(vec![vec![
            reader(&[1; 10], &[5; 4]),
            reader(&[1; 30], &[15; 4]),
        ]]),
    );
    assert_eq!(
        ungrouped["jobs"][0]["read"]["bw_agg"], 50.0,
        "40 of 80 KiB/s"
    );
    assert_eq!(ungrouped["jobs"][1]["jobname"], "j");
}

#[test]
fn stalls_count_as_samples_but_other_phases_do_not() {
    let job = reader(&[1000; 100], &[0, 0, 100, 0, 100, 0]);
    let document = document(&jobs(READ), &record(vec![vec![job]]));
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["iops_min"], 0);
    assert_eq!(read["iops_samples"], 3);
}

#[test]
fn syncs_are_reported_together_and_directions_merged_on_request() {
    let job = worker(&[
        ("read", operation(&[1000; 30])),
        ("write", operation(&[2000; 10])),
        ("fsync", operation(&[9000; 2])),
        ("fdatasync", operation(&[7000; 2])),
    ]);
    let measured = record(vec![vec![job]]);
    let at_end = document(&jobs("[j]\nrw=rw\nsize=4m\nend_fsync=1\n"), &measured);
    assert_eq!(at_end["jobs"][0]["sync"]["total_ios"], 2, "of data alone");
    let apart = document(&jobs("[j]\nrw=rw\nsize=4m\nfsync=8\n"), &measured);
    assert_eq!(apart["jobs"][0]["sync"]["total_ios"], 4);
    assert_eq!(apart["jobs"][0]["sync"]["lat_ns"]["mean"], 8000.0);
    let set = jobs("[j]\nrw=rw\nsize=4m\nunified_rw_reporting=mixed\n");
    let mixed = &document(&set, &measured)["jobs"][0];
    assert_eq!(mixed["mixed"]["total_ios"], 40);
    assert_eq!(mixed["mixed"]["clat_ns"]["mean"], 1250.0);
    assert!(mixed.get("read").is_none() && mixed.get("sync").is_none());
}

#[test]
fn tolerated_errors_are_still_reported() {
    let mut read = operation(&[1000; 10]);
    read.errors = 2;
    let mut measured = record(vec![vec![worker(&[("read", read)])]]);
    measured.cells[0].errors = vec![ErrnoCount {
        operation: "read".to_owned(),
        errno: 5,
        message: "Input/output error".to_owned(),
        count: 2,
    }];
    assert_eq!(document(&jobs(READ), &measured)["jobs"][0]["error"], 5);
    let set = jobs("[j]\nsize=4m\ncontinue_on_error=read\n");
    let borne = &document(&set, &measured)["jobs"][0];
    assert_eq!([&borne["error"], &borne["total_err"]], [5, 2]);
    assert_eq!(borne["first_error"], 5);
    // An error that ended the job goes first.
    let mut write = operation(&[1000; 10]);
    write.errors = 1;
    let worker = &mut measured.cells[0].worker_figures[0];
    worker.operations.insert("write".to_owned(), write);
    measured.cells[0].errors.push(ErrnoCount {
        operation: "write".to_owned(),
        errno: 28,
        message: "No space left on device".to_owned(),
        count: 1,
    });
    let failed = &document(&set, &measured)["jobs"][0];
    assert_eq!([&failed["error"], &failed["first_error"]], [28, 5]);
}

#[test]
fn a_job_without_statistics_is_left_out_of_its_group() {
    let results = |first: &str, second: &str| {
        let set = jobs(&format!(
            "[global]\ngroup_reporting\nsize=4m\n[a]\n{first}\n[b]\n{second}\n[c]\n"
        ));
        let counts = [10, 20, 40].map(|count| reader(&vec![1000; count], &[]));
        let document = document(&set, &record(vec![counts.to_vec()]));
        let jobs = document["jobs"].as_array().unwrap().iter();
        let totals = jobs.map(|it| {
            let name = it["jobname"].as_str().unwrap().to_owned();
            (name, it["read"]["total_ios"].as_u64().unwrap())
        });
        totals.collect::<Vec<_>>()
    };
    assert_eq!(results("", ""), [("a".to_owned(), 70)]);
    assert_eq!(results("stats=0", ""), [("b".to_owned(), 60)]);
    assert_eq!(results("", "stats=0"), [("a".to_owned(), 50)]);
    assert_eq!(results("stats=0", "stats=0"), [("c".to_owned(), 40)]);
}

#[test]
fn a_job_that_only_creates_files_gets_no_results_of_other_jobs() {
    let set = jobs("[global]\nsize=4m\n[a]\ncreate_only=1\n[b]\n[c]\ncreate_only=1\n[d]\n");
    let workers = [10, 20].map(|count| reader(&vec![1000; count], &[]));
    let mut record = record(vec![workers.to_vec()]);
    // The first cell lays out the files, and is not in the record.
    record.cells[0].index = 1;
    let document = document(&set, &record);
    let counts = [0, 1, 2, 3].map(|job| document["jobs"][job]["read"]["total_ios"].clone());
    assert_eq!(counts, [0, 10, 0, 20]);
}

#[test]
fn options_are_reported_as_they_were_written() {
    let (set, _) = jobs_and_options("--name=a\u{1b}[31m --size=4M --rw=randread --group_reporting");
    let document = document(&set, &record(vec![vec![reader(&[1; 10], &[])]]));
    let options = &document["jobs"][0]["job options"];
    assert_eq!(options["size"], "4M");
    assert!(options["name"].is_string() && options.get("group_reporting").is_none());
    let set = jobs("[global]\nbs=4k\n[a]\nsize=4m\n");
    let document = self::document(&set, &record(vec![vec![reader(&[1; 10], &[])]]));
    assert_eq!(document["global options"]["bs"], "4k");
    assert!(document["jobs"][0]["job options"].get("name").is_none());
}

#[test]
fn a_run_that_measured_nothing_has_a_document() {
    let document = document(
        &jobs("[a]\nsize=1m\n[b]\nstonewall\nsize=1m\n"),
        &record(vec![]),
    );
    assert_eq!(document["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(document["jobs"][1]["read"]["clat_ns"]["N"], 0);
}
