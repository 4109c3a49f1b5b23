//! fio's jobs that wait for each other, share their requests out or end together; what they write
//! out, verify and tell on the way; beside fio itself where it is there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::process::Command;

use end_to_end::{Bed, Finished, finish, installed};
use serde_json::Value;

fn as_fio(bed: &Bed, arguments: &[&str]) -> Finished {
    let directory = format!("--directory={}", bed.target().display());
    bed.run(&[&["as", "fio", &directory], arguments].concat())
}

/// What pgmeter does of the same arguments, and fio, where it is there.
fn both(bed: &Bed, arguments: &[&str]) -> Vec<Finished> {
    let mut seen = vec![as_fio(bed, arguments)];
    if installed("fio").is_ok() {
        let mut fio = Command::new("fio");
        seen.push(finish(fio.args(arguments).current_dir(bed.target())));
    }
    seen
}

/// The JSON documents on standard output; fio has notes before them.
fn documents(seen: &Finished) -> Vec<Value> {
    let begin = seen.stdout.find("{\n");
    let begin = begin.unwrap_or_else(|| panic!("{}", seen.text()));
    let documents = serde_json::Deserializer::from_str(&seen.stdout[begin..]).into_iter();
    documents.map(Result::unwrap).collect()
}

fn jobs(seen: &Finished) -> Vec<Value> {
    let document = documents(seen).pop().unwrap();
    document["jobs"].as_array().unwrap().clone()
}

fn number(of: &Value, pointer: &str) -> u64 {
    let found = of.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number at {pointer} of {of}"))
}

#[test]
fn a_job_begins_behind_those_of_a_name_and_beside_all_others() {
    let bed = Bed::in_memory().unwrap();
    // Ten requests in 450 ms.
    let arguments = [
        "--output-format=json",
        "--bs=4k",
        "--rw=write",
        "--size=40k",
        "--name=first",
        "--rate_iops=20",
        "--name=second",
        "--wait_for=first",
        "--name=third",
    ];
    let seen = as_fio(&bed, &arguments);
    assert_eq!(seen.code, 0, "{}", seen.text());
    let jobs = jobs(&seen);
    let begins: Vec<u64> = jobs.iter().map(|job| number(job, "/job_start")).collect();
    assert!(begins[1] >= begins[0] + 400, "{begins:?}");
    assert!(begins[2] < begins[0] + 300, "{begins:?}");
    assert!(jobs.iter().all(|job| number(job, "/groupid") == 0));
    // Chained, and clones together.
    let chained = as_fio(
        &bed,
        &[
            "--output-format=json",
            "--ioengine=null",
            "--size=1m",
            "--name=a",
            "--numjobs=3",
            "--name=b",
            "--wait_for=a",
            "--numjobs=2",
            "--name=c",
            "--wait_for=b",
        ],
    );
    assert_eq!(chained.code, 0, "{}", chained.text());
    assert_eq!(documents(&chained)[0]["jobs"].as_array().unwrap().len(), 6);
}

#[test]
fn jobs_of_a_flow_have_requests_by_their_weights() {
    let bed = Bed::in_memory().unwrap();
    let arguments = [
        "--output-format=json",
        "--ioengine=null",
        "--size=1g",
        "--rw=read",
        "--time_based",
        "--runtime=2",
        "--flow_id=3",
        "--name=a",
        "--flow=8",
        "--name=b",
        "--flow=2",
    ];
    for seen in both(&bed, &arguments) {
        let jobs = jobs(&seen);
        let counts = [0, 1].map(|at| number(&jobs[at], "/read/total_ios") as f64);
        assert!(counts[1] > 100.0, "{counts:?}");
        // Whoever begins first or ends last on a busy machine is alone for a while, with all that
        // there is; without the flow they have as much each.
        assert!((2.0..8.0).contains(&(counts[0] / counts[1])), "{counts:?}");
    }
    let alone = as_fio(
        &bed,
        &["--name=a", "--ioengine=null", "--size=1m", "--flow=5"],
    );
    assert_eq!(alone.code, 0, "{}", alone.text());
    let old = as_fio(&bed, &["--name=a", "--size=1m", "--flow=-5"]);
    old.assert_refused(1, &["`flow` with this value", "weights from 1 on"]);
}

#[test]
fn a_job_that_misses_its_goal_ends_the_others_where_that_is_asked_for() {
    let bed = Bed::in_memory().unwrap();
    let line = [
        "--output-format=json",
        "--ioengine=null",
        "--size=1g",
        "--time_based",
        "--runtime=3",
        "--rate_iops=100",
        "--name=a",
        "--max_latency=1ns",
        "--ioengine=psync",
        "--size=1m",
        "--name=b",
    ];
    let run_time = |arguments: &[&str]| {
        let seen = as_fio(&bed, arguments);
        assert_eq!(seen.code, 1, "{}", seen.text());
        number(&jobs(&seen)[1], "/read/runtime")
    };
    assert!(run_time(&line) > 2500);
    assert!(run_time(&[&["--exitall_on_error"], &line[..]].concat()) < 2000);
}

#[test]
fn ranges_are_written_out_as_often_as_by_fio() {
    let bed = Bed::in_memory().unwrap();
    for engine in ["psync", "io_uring", "mmap"] {
        let engine = format!("--ioengine={engine}");
        for rule in ["write:8", "wait_before,write,wait_after:5"] {
            let rule = format!("--sync_file_range={rule}");
            let arguments = [
                "--output-format=json",
                "--name=a",
                "--rw=write",
                "--bs=4k",
                "--size=256k",
                "--nrfiles=2",
                &engine,
                &rule,
            ];
            let counts = both(&bed, &arguments).into_iter().map(|seen| {
                assert_eq!(seen.code, 0, "{}", seen.text());
                let job = &jobs(&seen)[0];
                // fio 3.33 takes them for short writes.
                let syncs = number(job, "/sync/total_ios") + number(job, "/write/short_ios");
                [number(job, "/write/total_ios"), syncs]
            });
            let counts: Vec<[u64; 2]> = counts.collect();
            assert!(counts[0][1] > 6, "{arguments:?}: {counts:?}");
            let is_same = counts.iter().all(|it| *it == counts[0]);
            assert!(is_same, "{arguments:?}: {counts:?}");
        }
    }
}

#[test]
fn content_that_no_job_wrote_cannot_be_verified() {
    let bed = Bed::in_memory().unwrap();
    let content = vec![7; 1 << 16];
    fs::write(bed.target().join("mine"), &content).unwrap();
    let read = ["--name=v", "--rw=read", "--verify=crc32c", "--size=64k"];
    for arguments in [&read[..], &[&read[..], &["--filename=mine"]].concat()] {
        let seen = both(&bed, arguments);
        assert!(seen.iter().all(|it| it.code == 1), "{}", seen[0].text());
        seen[0].assert_refused(1, &["which no job above it writes with `verify`"]);
    }
    assert!(fs::read(bed.target().join("mine")).unwrap() == content);
    let written = [
        "--output-format=json",
        "--filename=mine.too",
        "--size=64k",
        "--verify=crc32c",
        "--name=w",
        "--rw=write",
        "--do_verify=0",
        "--name=v",
        "--stonewall",
        "--rw=read",
    ];
    for seen in both(&bed, &written) {
        assert_eq!(seen.code, 0, "{}", seen.text());
        assert_eq!(number(&jobs(&seen)[1], "/read/io_bytes"), 1 << 16);
    }
}

#[test]
fn results_are_told_while_jobs_run() {
    let bed = Bed::in_memory().unwrap();
    let arguments = [
        "--output-format=json",
        "--status-interval=1",
        "--ioengine=null",
        "--size=1g",
        "--rw=randread",
        "--rate_iops=1000",
        "--time_based",
        "--name=a",
        "--runtime=3",
        "--name=b",
        "--stonewall",
        "--runtime=100ms",
    ];
    let seen = as_fio(&bed, &arguments);
    assert_eq!(seen.code, 0, "{}", seen.text());
    let documents = documents(&seen);
    assert!((3..6).contains(&documents.len()), "{}", documents.len());
    let counts = documents
        .iter()
        .map(|it| number(it, "/jobs/0/read/total_ios"));
    let counts: Vec<u64> = counts.collect();
    assert!(counts.is_sorted() && counts[0] < 2000, "{counts:?}");
    assert!(counts[1] > 500, "{counts:?}");
    // What has not begun is there with nothing.
    assert_eq!(number(&documents[0], "/jobs/1/read/total_ios"), 0);
    let file = bed.path().join("results");
    let output = format!("--output={}", file.display());
    let seen = as_fio(&bed, &[&arguments[..], &[&output]].concat());
    assert_eq!(
        (seen.code, seen.stdout.as_str()),
        (0, ""),
        "{}",
        seen.text()
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.matches("\"fio version\"").count() >= 3, "{text}");
}

#[test]
fn what_is_written_without_end_is_read_back_behind_so_many_writes() {
    let bed = Bed::in_memory().unwrap();
    let arguments = [
        "--output-format=json",
        "--name=a",
        "--rw=randwrite",
        "--percentage_random=50%",
        "--size=1m",
        "--verify=crc32c",
        "--verify_backlog=100",
        "--time_based",
        "--runtime=1",
        "--rate_iops=2000",
    ];
    for seen in both(&bed, &arguments) {
        assert_eq!(seen.code, 0, "{}", seen.text());
        let job = &jobs(&seen)[0];
        let [reads, writes] = ["read", "write"].map(|it| number(job, &format!("/{it}/total_ios")));
        assert!(reads > 500 && reads <= writes, "{reads} of {writes}");
    }
}

#[test]
fn options_of_globals_and_groups_are_told_as_by_fio() {
    let bed = Bed::in_memory().unwrap();
    let text = "[global]\nname=first\nname=all\nioengine=null\nsize=1m\ngroup_reporting\n\
                [a]\nrw=read\n[b]\nrw=write\nbs=8k\n[c]\nnew_group\nname=own\n";
    let file = bed.file("named.fio", text).display().to_string();
    let told = both(&bed, &["--output-format=json", &file]);
    let options = told.iter().map(|seen| {
        assert_eq!(seen.code, 0, "{}", seen.text());
        let document = documents(seen).pop().unwrap();
        let jobs = document["jobs"].as_array().unwrap();
        let of_jobs = jobs.iter().map(|job| job["job options"].clone()).collect();
        // Ours are told where files are, too.
        (document["global options"]["name"].clone(), of_jobs)
    });
    let options: Vec<(Value, Vec<Value>)> = options.collect();
    assert_eq!(options[0].0, "all");
    assert_eq!(options[0].1[0]["bs"], "8k");
    assert!(options.iter().all(|it| *it == options[0]), "{options:?}");
}

#[test]
fn goals_are_the_same_in_a_workload_file() {
    let bed = Bed::in_memory().unwrap();
    let text = "[global]\nioengine=null\nsize=1m\n[a]\nrate_min=1k,2k\nmax_latency=20s\n\
                latency_target=5s\nlatency_window=100ms\nlatency_percentile=99\nflow=3\n\
                exitall_on_error\n[b]\nwait_for=a\nsync_file_range=wait_after:4\nrw=write\n\
                [c]\nstonewall\nss=bw_slope:0.5%\nss_dur=10\nss_ramp=2\n";
    let file = bed.file("goals.fio", text).display().to_string();
    let toml = bed.path().join("goals.toml").display().to_string();
    let seen = bed.run(&["convert", &file, "--to", "toml", "-o", &toml]);
    assert_eq!(seen.code, 0, "{}", seen.text());
    let written = fs::read_to_string(&toml).unwrap();
    for key in [
        "byte_rate_min = \"2KiB\"",
        "latency_max = \"20s\"",
        "latency_target = \"5s\"",
        "flow_weight = 3",
        "after = \"a\"",
        "sync_range = \"wait-after\"",
        "slope = true",
    ] {
        assert!(written.contains(key), "{key}\n{written}");
    }
    let seen = bed.run(&["run", &toml, "--quiet"]);
    assert_eq!(seen.code, 0, "{}", seen.text());
}
