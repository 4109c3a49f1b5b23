//! fio's jobs, from their files and command lines to their results, compared with fio if it is
//! installed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use end_to_end::{Finished, ScratchTarget, finish, installed, need, samples};
use serde_json::Value;

fn as_fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let directory = format!("--directory={}", bed.target().display());
    bed.run(&[&["as", "fio", &directory], arguments].concat())
}

fn json(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let output = as_fio(bed, &[arguments, &["--output-format=json"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    serde_json::from_str(&output.stdout).unwrap()
}

fn count(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number at {pointer}"))
}

/// What fio itself does of the same jobs.
fn run_fio(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let output = Command::new("fio")
        .args(arguments)
        .arg("--output-format=json")
        .current_dir(bed.target())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let begin = text.find("{\n").unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(&text[begin..]).unwrap()
}

/// Command lines whose requests do not depend on chance.
const CERTAIN: [&[&str]; 15] = [
    &["--name=a", "--rw=read", "--size=4m", "--bs=64k"],
    &[
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--bs=4k",
        "--fsync=4",
    ],
    &[
        "--name=a",
        "--rw=write",
        "--size=1m",
        "--nrfiles=4",
        "--bs=16k",
        "--fdatasync=3",
    ],
    &["--name=a", "--rw=randread", "--size=1m", "--loops=3"],
    &["--name=a", "--rw=read", "--size=10k", "--bs=4k"],
    &[
        "--name=a",
        "--rw=read",
        "--size=1m",
        "--io_size=4m",
        "--bs=64k",
    ],
    &[
        "--name=a",
        "--rw=write",
        "--size=4m",
        "--io_size=1m",
        "--bs=64k",
    ],
    &["--name=a", "--rw=randwrite", "--size=4m", "--number_ios=17"],
    &[
        "--name=a",
        "--rw=read",
        "--filesize=1m",
        "--nrfiles=4",
        "--size=8m",
        "--bs=64k",
    ],
    &[
        "--name=a",
        "--rw=write",
        "--offset=1m",
        "--size=4m",
        "--bs=1m",
        "--end_fsync=1",
    ],
    &["--name=a", "--rw=write", "--size=256k", "--verify=crc32c"],
    &[
        "--name=a",
        "--rw=read",
        "--size=1m",
        "--zonemode=strided",
        "--zonesize=8k",
        "--zoneskip=24k",
    ],
    &["--name=a", "--rw=read", "--size=1m", "--io_size=50%"],
    &[
        "--name=a",
        "--rw=read",
        "--filesize=1000000",
        "--size=30%",
        "--nrfiles=2",
    ],
    &["--name=a", "--rw=read", "--filesize=1m", "--io_size=50%"],
];

#[test]
fn counts_that_do_not_depend_on_chance_match_fio() {
    need!(installed("fio"));
    for arguments in CERTAIN {
        // Files that one leaves are not the next one's.
        let bed = ScratchTarget::new().unwrap();
        let (here, there) = (json(&bed, arguments), run_fio(&bed, arguments));
        for side in ["read", "write"] {
            for key in ["io_bytes", "total_ios"] {
                let pointer = format!("/jobs/0/{side}/{key}");
                assert_eq!(
                    count(&here, &pointer),
                    count(&there, &pointer),
                    "{arguments:?} {pointer}"
                );
            }
        }
        let syncs = |of: &Value| count(of, "/jobs/0/sync/total_ios");
        // fio 3.33 counts fdatasync as short reads.
        let is_synced = arguments.iter().any(|it| it.starts_with("--fsync="));
        if is_synced {
            assert_eq!(syncs(&here), syncs(&there), "{arguments:?}");
        }
    }
}

#[test]
fn groups_are_reported_together_and_stonewalled_jobs_run_in_sequence() {
    let bed = ScratchTarget::new().unwrap();
    let file = bed.file(
        "jobs.fio",
        "[global]\nsize=256k\nbs=4k\ngroup_reporting\n[a]\nrw=read\nnumjobs=3\n[b]\nstonewall\n\
         rw=write\n",
    );
    let document = json(&bed, &[file.to_str().unwrap()]);
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0]["jobname"], "a");
    assert_eq!(count(&document, "/jobs/0/read/total_ios"), 3 * 64);
    assert_eq!(count(&document, "/jobs/1/write/total_ios"), 64);
}

#[test]
fn a_rate_applies_to_each_direction() {
    let bed = ScratchTarget::new().unwrap();
    let document = json(
        &bed,
        &[
            "--name=a",
            "--rw=randrw",
            "--rwmixread=90",
            "--rate_iops=200",
            "--size=8m",
            "--runtime=2",
            "--time_based",
        ],
    );
    for side in ["read", "write"] {
        let done = count(&document, &format!("/jobs/0/{side}/total_ios"));
        assert!((300..=401).contains(&done), "{side}: {done}");
    }
}

#[test]
fn latencies_at_a_rate_count_from_when_requests_are_due() {
    let bed = ScratchTarget::new().unwrap();
    let rate = ["--rate_iops=500", "--runtime=1", "--time_based"];
    let document = json(
        &bed,
        &[&["--name=a", "--rw=randread", "--size=1m"], &rate[..]].concat(),
    );
    let mean = |key: &str| {
        document
            .pointer(&format!("/jobs/0/read/{key}/mean"))
            .unwrap()
            .as_f64()
    };
    // A thread that slept wakes up a little late.
    assert!(
        mean("lat_ns").unwrap() > mean("clat_ns").unwrap(),
        "{document}"
    );
}

#[test]
fn existing_files_of_the_user_stay_unchanged() {
    let bed = ScratchTarget::new().unwrap();
    let mine = bed.target().join("mine");
    fs::write(&mine, b"mine").unwrap();
    let document = json(
        &bed,
        &["--name=a", "--filename=mine", "--rw=write", "--size=1m"],
    );
    assert_eq!(count(&document, "/jobs/0/write/io_bytes"), 1 << 20);
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    let left: Vec<PathBuf> = fs::read_dir(bed.target())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left, [mine]);
    for name in ["../out", "a/../../b", ".."] {
        let argument = format!("--filename={name}");
        let output = as_fio(&bed, &["--name=a", &argument, "--rw=write", "--size=1m"]);
        output.assert_refused(1, &["cannot be used", "help: "]);
    }
}

#[test]
fn unsupported_options_are_refused_with_their_position() {
    let bed = ScratchTarget::new().unwrap();
    for (text, phrases) in [
        (
            "[j]\nsize=1m\nioengine=cpuio\n",
            ["`ioengine=cpuio`", ":3:1"],
        ),
        ("[j]\nsize=1m\nioengine=rbd\n", ["`ioengine=rbd`", ":3:1"]),
        (
            "[j]\nrw=read\nread_iolog=x\n",
            ["`x`: No such file", ":3:1"],
        ),
        ("[j]\nrw=read\niodeph=4\n", ["`iodeph`", "iodepth"]),
    ] {
        let file = bed.file("odd.fio", text);
        let name = file.to_str().unwrap();
        for command in ["check", "run"] {
            bed.run(&[command, name]).assert_refused(2, &phrases);
        }
    }
    let output = as_fio(&bed, &["--parse-only", "--name=a", "--size=1m"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    let output = as_fio(&bed, &["--version"]);
    assert!(output.stdout.starts_with("fio-3"), "{}", output.text());
}

#[test]
fn a_job_file_runs_and_checks_like_any_workload() {
    let bed = ScratchTarget::new().unwrap();
    let file = bed.file(
        "two.fio",
        "[global]\nsize=1m\nruntime=200ms\ntime_based\n[r]\nrw=randread\nioengine=libaio\n\
         iodepth=4\n[w]\nrw=write\nbs=16k\nfsync=4\n",
    );
    let name = file.to_str().unwrap();
    let target = bed.target();
    let target = target.to_str().unwrap();
    let checked = bed.run(&["check", name, "--target", target]);
    assert_eq!(checked.code, 0, "{}", checked.text());
    for phrase in [
        "what runs when",
        "libaio",
        "random reads of 4 KiB",
        "writes per fsync: 4",
    ] {
        assert!(
            checked.stdout.contains(phrase),
            "{phrase}: {}",
            checked.stdout
        );
    }
    let out = bed.target().join("out.json");
    let output = bed.run(&[
        "run",
        name,
        "--target",
        target,
        "--json",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    let record: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    let workers = record.pointer("/cells/0/worker_figures").unwrap();
    let names: Vec<&str> = workers
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["r", "w"]);
    let of = |worker: usize, operation: &str| {
        let pointer = format!("/cells/0/worker_figures/{worker}/operations/{operation}/count");
        record
            .pointer(&pointer)
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    assert!(of(0, "read") > 0 && of(0, "write") == 0);
    assert!(of(1, "write") > 0 && of(1, "fsync") > 0);
}

#[test]
fn collected_job_files_run_without_a_device() {
    let folder = need!(samples("fio"));
    let bed = ScratchTarget::new().unwrap();
    let mut run_count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "fio") {
            continue;
        }
        let name = path.to_str().unwrap();
        let quick = ["--engine", "null", "--run-time", "20ms", "--ramp-time", "0"];
        let output = bed.run(&[&["run", name, "--no-db", "--quiet"], &quick[..]].concat());
        match output.code {
            0 => run_count += 1,
            code => assert_eq!(code, 2, "{name}: {}", output.text()),
        }
    }
    assert!(run_count >= 18, "only {run_count} run");
}

/// Bytes read and written, and syncs, of the first job.
fn moved(document: &Value) -> [u64; 3] {
    ["read/io_bytes", "write/io_bytes", "sync/total_ios"]
        .map(|it| count(document, &format!("/jobs/0/{it}")))
}

#[test]
fn an_io_log_is_replayed_as_in_fio() {
    let bed = ScratchTarget::new().unwrap();
    let log = bed.target().join("requests.log");
    let lines = "fio version 3 iolog\n1 data.a add\n1 data.a open\n2 data.a write 0 8192\n\
        30 data.a sync 0 0\n60000 data.a read 4096 4096\n60010 data.a close\n";
    fs::write(&log, lines).unwrap();
    let read = format!("--read_iolog={}", log.display());
    let replayed = json(&bed, &["--name=a", &read]);
    assert_eq!(moved(&replayed), [4096, 8192, 1]);
    // Each request waits for its time.
    assert!(count(&replayed, "/jobs/0/job_runtime") >= 59, "{replayed}");
    assert!(!bed.target().join("data.a").exists());
    if installed("fio").is_ok() {
        assert_eq!(moved(&run_fio(&bed, &["--name=a", &read])), [4096, 8192, 1]);
    }
    let invalid = log.with_extension("wrong");
    fs::write(&invalid, "fio version 3 iolog\n5 a trim 0 0\n").unwrap();
    let output = as_fio(
        &bed,
        &["--name=a", &format!("--read_iolog={}", invalid.display())],
    );
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains(":2:1"), "{}", output.text());
    assert!(output.stderr.contains("below 4 GiB"), "{}", output.text());
}

#[test]
fn a_compressed_log_is_printed_on_request() {
    let bed = need!(ScratchTarget::in_memory());
    let line = [
        "--name=a",
        "--ioengine=null",
        "--rw=write",
        "--filesize=1m",
        "--bs=4k",
        "--write_bw_log=test",
        "--per_job_logs=0",
        "--log_offset=1",
        "--log_compression=10K",
    ];
    assert_eq!(as_fio(&bed, &line).code, 0);
    assert!(bed.path().join("test_bw.log").exists());
    let line = [&line[..], &["--log_store_compressed=1"]].concat();
    assert_eq!(as_fio(&bed, &line).code, 0);
    let compressed = fs::read(bed.path().join("test_bw.log.fz")).unwrap();
    assert!(compressed.len() < 256 * 16, "{}", compressed.len());
    let output = bed.run(&["as", "fio", "--inflate-log=test_bw.log.fz"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let offsets = output
        .stdout
        .lines()
        .map(|it| it.split(", ").nth(4).unwrap());
    let offsets: Vec<u64> = offsets.map(|it| it.parse().unwrap()).collect();
    let wanted: Vec<u64> = (0..256).map(|it| it * 4096).collect();
    assert_eq!(offsets, wanted);
    let output = bed.run(&["as", "fio", "--inflate-log=test_bw.log"]);
    output.assert_refused(1, &["is not a compressed log", "log_store_compressed"]);
}

#[test]
fn an_io_log_written_by_pgmeter_replays_the_same_here_and_in_fio() {
    let bed = ScratchTarget::new().unwrap();
    let log = bed.target().join("own.log");
    let job = [
        "--name=a",
        "--rw=randrw",
        "--size=256k",
        "--bs=4k",
        "--nrfiles=2",
        "--fsync=7",
    ];
    let write = format!("--write_iolog={}", log.display());
    let expected = moved(&json(&bed, &[&job[..], &[&write]].concat()));
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("fio version 3 iolog\n1 "), "{text}");
    let of = |action: &str| text.lines().filter(|it| it.contains(action)).count() as u64;
    assert_eq!(
        [of(" read ") * 4096, of(" write ") * 4096, of(" sync ")],
        expected
    );
    let read = format!("--read_iolog={}", log.display());
    assert_eq!(moved(&json(&bed, &["--name=b", &read])), expected);
    if installed("fio").is_ok() {
        // fio reads the existing files.
        for name in ["a.0.0", "a.0.1"] {
            fs::write(bed.target().join(name), vec![0; 128 << 10]).unwrap();
        }
        assert_eq!(moved(&run_fio(&bed, &["--name=b", &read])), expected);
    }
}

/// The lines of a log, in fields.
fn log_lines(bed: &ScratchTarget, name: &str) -> Vec<Vec<u64>> {
    let text = fs::read_to_string(bed.path().join(name)).unwrap();
    let line = |line: &str| line.split(", ").map(|it| it.parse().unwrap()).collect();
    text.lines().map(line).collect()
}

#[test]
fn logs_without_averaging_have_a_line_per_request() {
    let bed = ScratchTarget::in_memory().unwrap();
    let arguments = [
        "--name=a",
        "--ioengine=null",
        "--filesize=1m",
        "--rw=randread",
        "--write_bw_log=test",
        "--write_lat_log=test",
        "--write_iops_log=test",
        "--log_offset=1",
        "--per_job_logs=0",
        "--output=out",
    ];
    for is_fio in [true, false] {
        match is_fio {
            true if installed("fio").is_err() => continue,
            true => {
                let mut command = Command::new("fio");
                finish(command.args(arguments).current_dir(bed.path()));
            }
            false => {
                as_fio(&bed, &arguments);
            }
        }
        for kind in ["bw", "lat", "clat", "iops"] {
            let lines = log_lines(&bed, &format!("test_{kind}.log"));
            let mut offsets: Vec<u64> = lines.iter().map(|it| it[4]).collect();
            assert!(!offsets.is_sorted(), "{kind}");
            offsets.sort_unstable();
            assert!(
                offsets.into_iter().eq((0..256).map(|it| it * 4096)),
                "{kind}"
            );
            let has_rest = |it: &Vec<u64>| [it[2], it[3], it[5]] == [0, 4096, 0] && it.len() == 6;
            assert!(lines.iter().all(has_rest), "{kind}: {lines:?}");
        }
        let counts = log_lines(&bed, "test_iops.log");
        assert!(counts.iter().all(|it| it[1] == 1));
        fs::remove_file(bed.path().join("test_bw.log")).unwrap();
    }
}

#[test]
fn an_output_that_cannot_be_written_ends_the_run_before_it_measures() {
    let bed = ScratchTarget::in_memory().unwrap();
    let begun = std::time::Instant::now();
    let output = bed.run(&[
        "as",
        "fio",
        "--name=a",
        "--ioengine=null",
        "--size=1m",
        "--rw=randread",
        "--runtime=60",
        "--time_based",
        "--output=none/x",
    ]);
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(
        output.stderr.contains("cannot write `none/x`"),
        "{}",
        output.text()
    );
    assert!(begun.elapsed().as_secs() < 30);
}

#[test]
fn filecreate_filestat_and_filedelete_count_as_in_fio() {
    let bed = ScratchTarget::new().unwrap();
    let job = |engine: &str| {
        let engine = format!("--ioengine={engine}");
        let document = json(
            &bed,
            &[
                "--name=a",
                "--nrfiles=20",
                "--filesize=8k",
                "--bs=4k",
                &engine,
            ],
        );
        let of = |key: &str| count(&document, &format!("/jobs/0/read/{key}"));
        [of("total_ios"), of("io_bytes"), of("clat_ns/N")]
    };
    for engine in ["filecreate", "filestat", "filedelete"] {
        assert_eq!(job(engine), [40, 20 * 8192, 20], "{engine}");
        if installed("fio").is_ok() {
            let engine = format!("--ioengine={engine}");
            let theirs = run_fio(
                &bed,
                &[
                    "--name=a",
                    "--nrfiles=20",
                    "--filesize=8k",
                    "--bs=4k",
                    "--openfiles=1",
                    &engine,
                ],
            );
            let of = |key: &str| count(&theirs, &format!("/jobs/0/read/{key}"));
            assert_eq!(
                [of("total_ios"), of("io_bytes"), of("clat_ns/N")],
                [40, 20 * 8192, 20]
            );
        }
    }
}

#[test]
fn dircreate_dirstat_and_dirdelete_count_as_in_fio() {
    let bed = ScratchTarget::new().unwrap();
    let jobs = ["dircreate", "dirstat", "dirdelete"];
    let sections = jobs.map(|engine| format!("[{engine}]\nioengine={engine}\nstonewall\n"));
    let text = format!(
        "[global]\nnrfiles=20\nfilesize=8k\nbs=4k\n{}",
        sections.concat()
    );
    let file = bed.file("directories.fio", text);
    let document = json(&bed, &[file.to_str().unwrap()]);
    for (index, engine) in jobs.iter().enumerate() {
        let of = |key: &str| count(&document, &format!("/jobs/{index}/read/{key}"));
        let counts = [of("total_ios"), of("io_bytes"), of("clat_ns/N")];
        assert_eq!(counts, [40, 20 * 8192, 20], "{engine}");
        assert_eq!(document["jobs"][index]["error"], 0, "{engine}");
    }
    assert_eq!(fs::read_dir(bed.target()).unwrap().count(), 0);
}

#[test]
fn directories_that_a_job_creates_can_be_removed_by_the_next() {
    let bed = ScratchTarget::new().unwrap();
    let text = "[global]\nnrfiles=5\nfilesize=4k\nfilename_format=d$filenum\nstonewall\n\
                [make]\nioengine=dircreate\n[stat]\nioengine=dirstat\n\
                [remove]\nioengine=dirdelete\n[again]\nioengine=dirdelete\n\
                [file]\nioengine=filestat\n";
    let file = bed.file("chain.fio", text);
    let document = json(&bed, &[file.to_str().unwrap()]);
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!(job["error"], 0, "{job}");
        assert_eq!(job["read"]["total_ios"], 5, "{job}");
    }
}

/// Each request has a submission and a completion latency, which together are its latency.
#[test]
fn submissions_are_timed_if_percentiles_or_logs_have_them() {
    let bed = ScratchTarget::in_memory().unwrap();
    let line = "--name=a --ioengine=libaio --iodepth=4 --size=1m --rw=randread --write_lat_log=x \
                --output-format=json+ --output=out";
    let run = |more: &[&str]| {
        let arguments: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        let output = as_fio(&bed, &arguments);
        assert_eq!(output.code, 0, "{}", output.text());
        let text = fs::read_to_string(bed.path().join("out")).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        document["jobs"][0]["read"].clone()
    };
    let read = run(&["--slat_percentiles=1", "--lat_percentiles=1"]);
    for name in ["slat_ns", "clat_ns", "lat_ns"] {
        assert_eq!(read[name]["N"].as_u64(), Some(256), "{name}");
        assert!(read[name]["percentile"]["50.000000"].is_u64(), "{name}");
        assert!(read[name]["bins"].is_object(), "{name}");
    }
    let values = |kind: &str| -> Vec<u64> {
        let lines = log_lines(&bed, &format!("x_{kind}.1.log"));
        lines.iter().map(|it| it[1]).collect()
    };
    let [slat, clat, lat] = ["slat", "clat", "lat"].map(values);
    assert_eq!(lat.len(), 256);
    let both: Vec<u64> = slat.iter().zip(&clat).map(|(one, two)| one + two).collect();
    assert_eq!(both, lat);
    let text = as_fio(
        &bed,
        &[
            "--name=a",
            "--ioengine=io_uring",
            "--size=64k",
            "--slat_percentiles=1",
        ],
    );
    assert!(
        text.stdout.contains("    slat percentiles ("),
        "{}",
        text.text()
    );
    // Without them, one call submits and waits, and the whole latency is completion latency.
    let unsplit = run(&["--disable_slat=1"]);
    assert_eq!(unsplit["slat_ns"]["N"].as_u64(), Some(0));
    assert_eq!(values("clat"), values("lat"));
}
