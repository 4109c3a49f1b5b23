//! fio's jobs that wait for each other, share their requests or end together; their logs,
//! verification and progress output; compared with fio if it is installed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::process::Command;

use end_to_end::{Finished, ScratchTarget, finish, installed};
use serde_json::Value;

fn as_fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let directory = format!("--directory={}", bed.target().display());
    bed.run(&[&["as", "fio", &directory], arguments].concat())
}

/// What pgmeter does of the same arguments, and fio, where it is there.
fn both(bed: &ScratchTarget, arguments: &[&str]) -> Vec<Finished> {
    let mut outputs = vec![as_fio(bed, arguments)];
    if installed("fio").is_ok() {
        let mut fio = Command::new("fio");
        outputs.push(finish(fio.args(arguments).current_dir(bed.target())));
    }
    outputs
}

/// The JSON documents on standard output; fio has notes before them.
fn documents(output: &Finished) -> Vec<Value> {
    let begin = output.stdout.find("{\n");
    let begin = begin.unwrap_or_else(|| panic!("{}", output.text()));
    let documents = serde_json::Deserializer::from_str(&output.stdout[begin..]).into_iter();
    documents.map(Result::unwrap).collect()
}

fn jobs(output: &Finished) -> Vec<Value> {
    let document = documents(output).pop().unwrap();
    document["jobs"].as_array().unwrap().clone()
}

fn number(of: &Value, pointer: &str) -> u64 {
    let found = of.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number at {pointer} of {of}"))
}

#[test]
fn wait_for_starts_a_job_after_the_named_jobs_only() {
    let bed = ScratchTarget::in_memory().unwrap();
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
    let output = as_fio(&bed, &arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    let jobs = jobs(&output);
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
fn jobs_that_share_a_flow_issue_requests_by_weight() {
    let bed = ScratchTarget::in_memory().unwrap();
    let arguments = [
        "--output-format=json",
        "--ioengine=null",
        "--size=1g",
        "--rw=read",
        "--time_based",
        "--runtime=2",
        "--rate_iops=1000",
        "--flow_id=3",
        "--name=a",
        "--flow=8",
        "--name=b",
        "--flow=2",
    ];
    // A job that began later on a busy machine ends later, too. It is alone then, and catches up
    // with its rate immediately, so several tries are allowed. fio itself is not tested: its jobs
    // catch up first. Without the flow both jobs have 2,000 requests in every try.
    let has_weights = || {
        let jobs = jobs(&as_fio(&bed, &arguments));
        let counts = [0, 1].map(|at| number(&jobs[at], "/read/total_ios") as f64);
        assert!(counts[1] > 10.0, "{counts:?}");
        (2.0..8.0).contains(&(counts[0] / counts[1]))
    };
    assert!((0..5).any(|_| has_weights()));
    let alone = as_fio(
        &bed,
        &["--name=a", "--ioengine=null", "--size=1m", "--flow=5"],
    );
    assert_eq!(alone.code, 0, "{}", alone.text());
    let old = as_fio(&bed, &["--name=a", "--size=1m", "--flow=-5"]);
    old.assert_refused(1, &["`flow` with this value", "weights of at least 1"]);
}

#[test]
fn exitall_on_error_ends_the_other_jobs_after_a_missed_goal() {
    let bed = ScratchTarget::in_memory().unwrap();
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
        let output = as_fio(&bed, arguments);
        assert_eq!(output.code, 1, "{}", output.text());
        number(&jobs(&output)[1], "/read/runtime")
    };
    assert!(run_time(&line) > 2500);
    assert!(run_time(&[&["--exitall_on_error"], &line[..]].concat()) < 2000);
}

#[test]
fn sync_file_range_is_called_as_often_as_in_fio() {
    let bed = ScratchTarget::in_memory().unwrap();
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
            let counts = both(&bed, &arguments).into_iter().map(|output| {
                assert_eq!(output.code, 0, "{}", output.text());
                let job = &jobs(&output)[0];
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
    let bed = ScratchTarget::in_memory().unwrap();
    let content = vec![7; 1 << 16];
    fs::write(bed.target().join("mine"), &content).unwrap();
    let read = ["--name=v", "--rw=read", "--verify=crc32c", "--size=64k"];
    let missing = "which does not exist, and no job above it writes it with `verify`";
    let wrong = "mine at offset 0 (read of 4096 bytes): wanted a header";
    let of_user = [&read[..], &["--filename=mine"]].concat();
    for (arguments, reason) in [(&read[..], missing), (&of_user, wrong)] {
        let outputs = both(&bed, arguments);
        assert!(
            outputs.iter().all(|it| it.code == 1),
            "{}",
            outputs[0].text()
        );
        assert!(outputs[0].text().contains(reason), "{}", outputs[0].text());
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
    for output in both(&bed, &written) {
        assert_eq!(output.code, 0, "{}", output.text());
        assert_eq!(number(&jobs(&output)[1], "/read/io_bytes"), 1 << 16);
    }
}

#[test]
fn results_are_printed_while_jobs_run() {
    let bed = ScratchTarget::in_memory().unwrap();
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
    let finished = as_fio(&bed, &arguments);
    assert_eq!(finished.code, 0, "{}", finished.text());
    let documents = documents(&finished);
    assert!((3..6).contains(&documents.len()), "{}", documents.len());
    let counts = documents
        .iter()
        .map(|it| number(it, "/jobs/0/read/total_ios"));
    let counts: Vec<u64> = counts.collect();
    assert!(counts.is_sorted() && counts[0] < 2000, "{counts:?}");
    assert!(counts[1] > 500, "{counts:?}");
    // Each contains its own time, and the counts until then.
    for (document, count) in documents.iter().zip(&counts) {
        let runtime_ms = number(document, "/jobs/0/read/runtime");
        assert!(*count >= runtime_ms * 7 / 10, "{count} of {runtime_ms} ms");
    }
    let times_ms: Vec<u64> = documents
        .iter()
        .map(|it| number(it, "/timestamp_ms"))
        .collect();
    assert!(times_ms[1] >= times_ms[0] + 500, "{times_ms:?}");
    // What has not begun is there with nothing.
    assert_eq!(number(&documents[0], "/jobs/1/read/total_ios"), 0);
    let file = bed.path().join("results");
    let output = format!("--output={}", file.display());
    let finished = as_fio(&bed, &[&arguments[..], &[&output]].concat());
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (0, ""),
        "{}",
        finished.text()
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.matches("\"fio version\"").count() >= 3, "{text}");
}

#[test]
fn endless_writes_are_verified_after_every_backlog() {
    let bed = ScratchTarget::in_memory().unwrap();
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
    for output in both(&bed, &arguments) {
        assert_eq!(output.code, 0, "{}", output.text());
        let job = &jobs(&output)[0];
        let [reads, writes] = ["read", "write"].map(|it| number(job, &format!("/{it}/total_ios")));
        assert!(reads > 500 && reads <= writes, "{reads} of {writes}");
    }
}

#[test]
fn global_and_group_options_are_reported_as_in_fio() {
    let bed = ScratchTarget::in_memory().unwrap();
    let text = "[global]\nname=first\nname=all\nioengine=null\nsize=1m\ngroup_reporting\n\
                [a]\nrw=read\n[b]\nrw=write\nbs=8k\n[c]\nnew_group\nname=own\n";
    let file = bed.file("named.fio", text).display().to_string();
    let outputs = both(&bed, &["--output-format=json", &file]);
    let options = outputs.iter().map(|output| {
        assert_eq!(output.code, 0, "{}", output.text());
        let document = documents(output).pop().unwrap();
        let jobs = document["jobs"].as_array().unwrap();
        let job_options = jobs.iter().map(|job| job["job options"].clone()).collect();
        // Ours also contain the location of the files.
        (document["global options"]["name"].clone(), job_options)
    });
    let options: Vec<(Value, Vec<Value>)> = options.collect();
    assert_eq!(options[0].0, "all");
    assert_eq!(options[0].1[0]["bs"], "8k");
    assert!(options.iter().all(|it| *it == options[0]), "{options:?}");
}

#[test]
fn goals_survive_conversion_to_a_workload_file() {
    let bed = ScratchTarget::in_memory().unwrap();
    let text = "[global]\nioengine=null\nsize=1m\n[a]\nrate_min=1k,2k\nmax_latency=20s\n\
                latency_target=5s\nlatency_window=100ms\nlatency_percentile=99\nflow=3\n\
                exitall_on_error\n[b]\nwait_for=a\nsync_file_range=wait_after:4\nrw=write\n\
                [c]\nstonewall\nss=bw_slope:0.5%\nss_dur=10\nss_ramp=2\n";
    let file = bed.file("goals.fio", text).display().to_string();
    let toml = bed.path().join("goals.toml").display().to_string();
    let output = bed.run(&["convert", &file, "--to", "toml", "-o", &toml]);
    assert_eq!(output.code, 0, "{}", output.text());
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
    let output = bed.run(&["run", &toml, "--quiet"]);
    assert_eq!(output.code, 0, "{}", output.text());
}

/// A job that writes 1 MiB for verification, one whose lines are given, and one that verifies all.
fn verified_after(between: &str) -> String {
    format!(
        "[global]\nbs=4k\nsize=1m\n[a]\nfilename=vf\nrw=write\nverify=crc32c\ndo_verify=0\n\
         [b]\nstonewall\n{between}\n[c]\nfilename=vf\nstonewall\nrw=read\nverify=crc32c\n"
    )
}

#[test]
fn blocks_written_by_a_job_without_verify_do_not_verify() {
    for (between, offset) in [
        ("filename=vf\nrw=write\nsize=64k\nzero_buffers", 0),
        ("filename=vf\nrw=write\nsize=4k\noffset=68k", 69_632),
        (
            "filename=vf\nrw=write\nbs=512\nsize=512\noffset=1023k",
            1_044_480,
        ),
        ("filename=vf\nrw=randwrite\nbs=1m\nbuffer_pattern=0xaa", 0),
    ] {
        let bed = ScratchTarget::in_memory().unwrap();
        let file = bed.file("verified.fio", verified_after(between));
        let output = as_fio(&bed, &["--output-format=json", &file.to_string_lossy()]);
        assert_eq!(output.code, 1, "{between}: {}", output.text());
        let errors: Vec<u64> = jobs(&output)
            .iter()
            .map(|it| number(it, "/error"))
            .collect();
        assert_eq!(errors, [0, 0, 84], "{between}");
        let line = format!("/vf at offset {offset} (read of 4096 bytes): wanted ");
        assert!(
            output.stderr.contains(&line),
            "{between}: {}",
            output.stderr
        );
        // As in fio, the first wrong read ends the job.
        let reads = number(&jobs(&output)[2], "/read/total_ios");
        assert_eq!(reads, offset / 4096 + 1, "{between}");
    }
}

#[test]
fn a_job_continues_after_wrong_reads_on_request() {
    let bed = ScratchTarget::in_memory().unwrap();
    let text = verified_after("filename=vf\nrw=write\nsize=64k\nzero_buffers\n");
    let file = bed.file("verified.fio", &text);
    for option in ["continue_on_error=verify", "ignore_error=,,EILSEQ"] {
        let option = format!("--{option}");
        let arguments = [&option, "--output-format=json", &file.to_string_lossy()];
        let output = as_fio(&bed, &arguments);
        let job = &jobs(&output)[2];
        assert_eq!(number(job, "/read/total_ios"), 256, "{option}");
        let errors = ["/error", "/total_err", "/first_error"].map(|it| number(job, it));
        assert_eq!(errors, [84, 16, 84], "{option}");
        assert!(
            output.stderr.contains("16 reads of the job are wrong"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn a_byte_changed_after_the_layout_is_reported_with_its_offset() {
    let between = "filename=other\nrw=write\nrate_iops=200";
    for mode in ["as", "run"] {
        let bed = ScratchTarget::in_memory().unwrap();
        let file = bed.file("verified.fio", verified_after(between));
        let files = bed.target().join("pgmeter.work/files-0");
        let change = std::thread::spawn(move || {
            let give_up = std::time::Instant::now() + std::time::Duration::from_secs(60);
            while !files.join("other").exists() && std::time::Instant::now() < give_up {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            let file = fs::OpenOptions::new().write(true).open(files.join("vf"));
            std::os::unix::fs::FileExt::write_all_at(&file.unwrap(), b"!", 70_000).unwrap();
        });
        let output = match mode {
            "as" => as_fio(&bed, &[&file.to_string_lossy()]),
            _ => bed.run(&[
                "run",
                &file.to_string_lossy(),
                "--target",
                &bed.target().to_string_lossy(),
            ]),
        };
        change.join().unwrap();
        assert_eq!(output.code, 1, "{}", output.text());
        let location = match mode {
            "as" => "/vf at offset 69632 (read of 4096 bytes): wanted ",
            _ => "pgmeter.work/files-0/vf` at offset 69632",
        };
        // Messages are wrapped to the width of the terminal.
        let words = output
            .text()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(words.contains(location), "{words}");
        if mode == "as" {
            assert!(output.stdout.contains("err=84 ("), "{}", output.stdout);
        }
    }
}

/// As fio 3.42 counts them: reads and writes.
#[test]
fn a_job_that_moves_more_than_its_size_makes_as_many_passes_as_in_fio() {
    for (arguments, reads, writes) in [
        ("--rw=read --io_size=512k --loops=3", 24, 0),
        ("--rw=read --io_size=1m --loops=3", 48, 0),
        ("--rw=read --io_size=2560k", 40, 0),
        ("--rw=read --io_size=1536k --loops=2", 32, 0),
        ("--rw=read --io_size=2560k --loops=2", 48, 0),
        ("--rw=write --io_size=3m --loops=2", 0, 48),
        ("--rw=randwrite --io_size=3m --loops=3", 0, 48),
        ("--rw=randread --io_size=3m --loops=4", 64, 0),
        ("--rw=read --io_size=3m --loops=2 --offset=512k", 48, 0),
        (
            "--rw=randread --norandommap=1 --io_size=3m --loops=2",
            96,
            0,
        ),
        (
            "--rw=randwrite --norandommap=1 --io_size=3m --loops=2",
            0,
            96,
        ),
        (
            "--rw=randread --norandommap=1 --io_size=3m --loops=2 --ioengine=libaio",
            48,
            0,
        ),
        ("--rw=read:64k --io_size=3m --loops=2", 96, 0),
        ("--rw=write --io_size=2m --verify=crc32c", 16, 16),
        ("--rw=write --io_size=2560k --verify=crc32c", 32, 32),
        ("--rw=write --io_size=3m --loops=4 --verify=crc32c", 64, 64),
        (
            "--rw=write --io_size=512k --loops=3 --verify=crc32c",
            24,
            24,
        ),
    ] {
        let bed = ScratchTarget::in_memory().unwrap();
        let words = arguments.split_ascii_whitespace();
        let all: Vec<&str> = "--output-format=json --name=a --bs=64k --size=1m"
            .split_ascii_whitespace()
            .chain(words)
            .collect();
        let output = as_fio(&bed, &all);
        let counts =
            ["/read/total_ios", "/write/total_ios"].map(|it| number(&jobs(&output)[0], it));
        assert_eq!(counts, [reads, writes], "{arguments}");
    }
}

#[test]
fn requests_of_the_depth_search_count_if_the_job_ends_before_it() {
    let bed = ScratchTarget::in_memory().unwrap();
    let output = as_fio(
        &bed,
        &[
            "--output-format=json",
            "--name=t",
            "--size=4m",
            "--rw=randread",
            "--ioengine=psync",
            "--latency_target=10s",
            "--latency_window=100s",
        ],
    );
    assert_eq!(
        number(&jobs(&output)[0], "/read/total_ios"),
        1024,
        "{}",
        output.text()
    );
}
