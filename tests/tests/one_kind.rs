//! Options of `run` that apply to each kind of work, and their effect.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::ScratchTarget;
use serde_json::Value;

/// Expected answer to each option for each kind of work: `yes`, or `n/a` with a reason.
const TABLE: &str = include_str!("../one-kind-of-work.tsv");

/// A workload of each kind, with few and small files.
const KINDS: [(&str, &str, &str); 9] = [
    (
        "access",
        "access.toml",
        "size = \"64m\"\n[[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n",
    ),
    ("fio", "jobs.fio", ""),
    (
        "filebench",
        "mail.f",
        "set $dir=/tmp\ndefine fileset name=files,path=$dir,size=16k,entries=10,prealloc=100\n\
         define process name=p,instances=1 {\n thread name=t,memsize=1m,instances=1 {\n  \
         flowop openfile name=open,filesetname=files,fd=1\n  \
         flowop readwholefile name=read,fd=1,iosize=1m\n  flowop closefile name=close,fd=1\n \
         }\n}\nrun 2\n",
    ),
    (
        "postmark",
        "pool.toml",
        "[postmark]\nnumber = 4\ntransactions = 10\nmin_size = 4096\nmax_size = 4096\n",
    ),
    (
        "phases",
        "phases.toml",
        "run_time = 2\n[[fileset]]\nname = \"mail\"\ncount = 10\npresent = \"100%\"\n\
         size = \"16k\"\n[[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n\
         { open = \"mail\" }, { read = \"rest\", piece = \"64k\" }, \"close\",\n]\n",
    ),
    (
        "create-remove",
        "create.toml",
        "[create_remove]\ncount = 4\nsizes = 4096\n",
    ),
    (
        "fs-mark",
        "mark.toml",
        "[fs_mark]\nfiles = 4\nsize = 4096\n",
    ),
    (
        "lat-fs",
        "lat.toml",
        "[lat_fs]\ncompat = \"1.6\"\nfiles = 4\nsizes = 4096\n",
    ),
    (
        "dbench",
        "client.txt",
        "Deltree \"\\clients\\client1\" NT_STATUS_OK\nMkdir \"\\clients\" NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 2 NT_STATUS_OK\n\
         WriteX 2 0 65536 65536 NT_STATUS_OK\nClose 2 NT_STATUS_OK\n",
    ),
];

/// Two parallel jobs that run for a time; one of them writes.
const JOBS: &str = "[global]\nsize=4m\nioengine=psync\nruntime=2\ntime_based\n\
    [look]\nrw=randread\nbs=4k\n[fill]\nrw=write\nbs=64k\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("jobs.fio", JOBS);
    bed.file(
        "access.toml",
        "size = \"4m\"\n[[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n",
    );
    bed
}

/// The cells of a run of the jobs with these options, on memory.
fn cells(options: &[&str]) -> Vec<Value> {
    let bed = bed();
    let (output, record) = bed.record(&[&["jobs.fio"], options].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    record["cells"].as_array().unwrap().clone()
}

fn count(cell: &Value) -> u64 {
    cell["total"]["count"].as_u64().unwrap()
}

#[test]
fn every_option_behaves_as_the_table_says() {
    let bed = bed();
    for (_, name, text) in KINDS {
        bed.file(name, text);
    }
    // Files that 256 threads can share.
    bed.file("jobs.fio", JOBS.replace("size=4m", "size=64m"));
    let target = bed.target().to_str().unwrap().to_owned();
    let mut lines = TABLE.lines();
    let kinds: Vec<&str> = lines.next().unwrap().split('\t').skip(1).collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    assert!(KINDS.iter().all(|(kind, ..)| kinds.contains(kind)));
    assert!(rows.len() > 20, "only {} options", rows.len());
    let mut failures = Vec::new();
    for row in rows {
        assert_eq!(row.len(), kinds.len() + 1, "{row:?}");
        for (kind, wanted) in kinds.iter().zip(&row[1..]) {
            let (_, file, _) = KINDS.into_iter().find(|it| it.0 == *kind).unwrap();
            let options: Vec<&str> = row[0].split(' ').collect();
            let fixed = ["check", file, "--target", &target];
            let output = bed.run(&[&fixed[..], &options].concat());
            let is_right = match *wanted {
                "yes" => output.code == 0,
                _ => output.code == 2 && output.stderr.contains("help: "),
            };
            assert!(!output.text().contains("no effect"), "{}", output.text());
            if !is_right {
                failures.push(format!("{kind} {}: {}", row[0], output.text()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn an_operation_count_ends_jobs_at_exactly_that_count() {
    for options in [
        &["--operations", "1001"][..],
        &["--operations", "1001", "--iodepth", "4"],
        &[
            "--operations",
            "1001",
            "--iodepth",
            "8",
            "--engine",
            "io_uring",
        ],
    ] {
        let cells = cells(options);
        assert_eq!(count(&cells[0]), 1001, "{options:?}");
    }
}

#[test]
fn jobs_are_measured_at_each_listed_depth() {
    for engine in ["psync", "io_uring"] {
        let cells = cells(&[
            "--iodepth",
            "1,4",
            "--engine",
            engine,
            "--operations",
            "400",
            "--run-time",
            "0",
            "--cache",
            "buffered",
        ]);
        let depths: Vec<u64> = cells
            .iter()
            .map(|cell| cell["iodepth"].as_u64().unwrap())
            .collect();
        assert_eq!(depths, [1, 4], "{engine}");
        let jobs = cells[1]["worker_figures"].as_array().unwrap();
        assert_eq!(jobs.len(), 2, "threads of a job are not jobs");
        // Each has half of the requests, whatever its threads did.
        for job in jobs {
            assert_eq!(job["transactions"], 200, "{engine}");
        }
    }
}

#[test]
fn requests_of_jobs_are_due_at_the_requested_rate() {
    for arrivals in ["uniform", "poisson"] {
        let cells = cells(&[
            "--rate",
            "400/s",
            "--arrivals",
            arrivals,
            "--run-time",
            "1s",
        ]);
        let open = &cells[0]["open_loop"];
        assert_eq!(open["asked_per_second"], 400.0);
        // Despite other load on the machine, each due request is completed or waits.
        let due = open["response"]["count"].as_u64().unwrap();
        // Uniform arrivals are exact; random arrivals are within five standard deviations.
        let off = if arrivals == "uniform" { 4 } else { 100 };
        assert!(due.abs_diff(400) <= off, "{arrivals}: {due}");
    }
}

#[test]
fn a_curve_of_jobs_has_a_peak_and_ten_points() {
    let cells = cells(&["--curve", "--run-time", "200ms", "--ramp-time", "0"]);
    assert_eq!(cells.len(), 11);
    let requested = |cell: &Value| cell["open_loop"]["asked_per_second"].as_f64();
    assert_eq!(requested(&cells[0]), None);
    let peak = cells[0]["total"]["per_second"].as_f64().unwrap();
    let half = requested(&cells[5]).unwrap();
    assert!((half / peak - 0.5).abs() < 0.01, "{half} of {peak}");
}

#[test]
fn jobs_repeat_in_rounds_until_steady() {
    let set = ["--set", "steady.range=100", "--set", "steady.excursion=100"];
    let rounds = [
        "--until",
        "steady",
        "--run-time",
        "200ms",
        "--ramp-time",
        "0",
    ];
    let cells = cells(&[&rounds[..], &set].concat());
    let steady = &cells[0]["steady"];
    // On a busy machine no rounds are alike.
    assert_ne!(steady["verdict"], "not-yet");
    let rounds = steady["rounds"].as_array().unwrap();
    let first = steady["window"]["first_round_index"].as_u64().unwrap();
    let counts = rounds.iter().map(|round| round["count"].as_u64().unwrap());
    let in_window: u64 = counts.skip(first as usize).sum();
    assert_eq!(count(&cells[0]), in_window);
}

#[test]
fn files_of_jobs_are_written_before_they_are_measured() {
    let bed = bed();
    let options = [
        "--precondition",
        "2x",
        "--operations",
        "10",
        "--run-time",
        "0",
        "--size",
        "2m",
    ];
    let (output, record) = bed.record(&[&["jobs.fio"], &options[..]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let done = &record["preconditions"][0];
    // Two files of 2 MiB, twice.
    assert_eq!(done["bytes"], 8 << 20);
    assert_eq!(done["errors"], 0);
}

#[test]
fn total_size_is_the_size_of_all_job_files_together() {
    let bed = bed();
    let target = bed.target().to_str().unwrap().to_owned();
    let fixed = ["check", "jobs.fio", "--json", "--target", &target];
    for (options, wanted) in [
        (["--size", "32m"], 32_u64 << 20),
        (["--total-size", "32m"], 16 << 20),
    ] {
        let output = bed.run(&[&fixed[..], &options].concat());
        assert_eq!(output.code, 0, "{}", output.text());
        let plan: Value = serde_json::from_str(&output.stdout).unwrap();
        let files = plan["cells"][0]["jobs"]["files"].as_array().unwrap();
        let sizes = files
            .iter()
            .map(|file| file["size_bytes"].as_u64().unwrap());
        assert_eq!(sizes.collect::<Vec<_>>(), [wanted, wanted], "{options:?}");
    }
}

#[test]
fn writes_of_jobs_are_verified_on_request() {
    let cells = cells(&["--verify", "--operations", "2000", "--run-time", "0"]);
    assert_eq!(cells[0]["total"]["errors"], 0);
    assert_eq!(count(&cells[0]), 2000);
}

#[test]
fn a_job_that_paces_itself_cannot_have_a_rate() {
    let bed = bed();
    bed.file(
        "think.fio",
        JOBS.replace("rw=write", "rw=write\nthinktime=10ms"),
    );
    let output = bed.run(&["check", "think.fio", "--rate", "100/s"]);
    output.assert_refused(
        2,
        &[
            "`fill` pauses between its requests, so it cannot have a `rate`",
            "help: ",
        ],
    );
}
