//! Workloads in one line or from standard input, words and files of other programs, and output
//! about pgmeter's own keys.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use end_to_end::{FileSystem, Finished, MountedImage, ScratchTarget, need, run_tool};
use serde_json::Value;

/// Usage, or the workload file.
const USAGE: i32 = 2;
/// This system cannot run it.
const UNSUPPORTED: i32 = 3;

fn bed() -> ScratchTarget {
    ScratchTarget::new().unwrap()
}

/// Options of a short run that shows whether a target is accepted.
fn short(target: &str) -> [&str; 7] {
    [
        "--run-time",
        "200ms",
        "--ramp-time",
        "0s",
        "--no-html",
        "-t",
        target,
    ]
}

/// Runs the program with a file as standard input.
fn run_reading(bed: &ScratchTarget, input: &Path, arguments: &[&str]) -> Finished {
    let output = bed
        .command(arguments)
        .stdin(File::open(input).unwrap())
        .output()
        .unwrap();
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The work of a checked plan, without the sources of its values.
fn plan(output: &Finished) -> Value {
    assert_eq!(output.code, 0, "{}", output.text());
    let printed: Value = serde_json::from_str(&output.stdout).unwrap();
    let plan = printed.get("plan").unwrap_or(&printed);
    serde_json::json!([
        plan["cells"],
        plan["targets"],
        plan["workloads"],
        plan["seed"]
    ])
}

#[test]
fn a_workload_in_one_line_is_measured_under_its_name() {
    let bed = bed();
    let line = [
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--iodepth",
        "4",
        "--size",
        "4m",
        "--cache",
        "buffered",
    ];
    let (output, record) = bed.record(&line);
    assert_eq!(output.code, 0, "{}", output.text());
    let cell = &record["cells"][0];
    assert_eq!(cell["workload"], "randread 4k");
    assert_eq!(cell["iodepth"], 4);
    assert!(cell["operations"]["read"]["count"].as_u64().unwrap() > 0);
    assert!(cell["operations"].get("write").is_none(), "{cell}");
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_mix_reads_and_writes_in_its_sizes() {
    let bed = bed();
    let line = [
        "--rw=randrw",
        "--rwmix=70",
        "--bs=4k:60,64k:40",
        "--size=4m",
        "--cache=buffered",
    ];
    let (output, record) = bed.record(&line);
    assert_eq!(output.code, 0, "{}", output.text());
    let operations = &record["cells"][0]["operations"];
    let count = |kind: &str| operations[kind]["count"].as_f64().unwrap();
    let share = count("read") / (count("read") + count("write"));
    assert!((0.6..0.8).contains(&share), "{share}");
    let mean = operations["read"]["bytes"].as_f64().unwrap() / count("read");
    assert!((20_000.0..40_000.0).contains(&mean), "{mean}");
}

#[test]
fn lists_of_values_are_measured_in_all_combinations_and_compared_in_a_table() {
    let bed = bed();
    let arguments = [
        "run",
        "--rw",
        "randread",
        "--bs",
        "4k,64k",
        "--iodepth",
        "1,8",
        "--workers",
        "1,2",
        "--set",
        "batch=1,4",
        "--engine",
        "null",
        "--run-time",
        "10ms",
        "--ramp-time",
        "0s",
        "--json=run.json",
    ];
    let output = bed.run(&arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output
            .stdout
            .contains("randread 4k,64k: operations per second by bs, workers, batch and iodepth"),
        "{}",
        output.text()
    );
    let document = fs::read_to_string(bed.path().join("run.json")).unwrap();
    let record: Value = serde_json::from_str(&document).unwrap();
    let plan = &record["plan"];
    let mut combinations: Vec<String> = Vec::new();
    for cell in record["cells"].as_array().unwrap() {
        let first = usize::try_from(cell["first_index"].as_u64().unwrap()).unwrap();
        let planned = &plan["cells"][first];
        let index = usize::try_from(planned["workload_index"].as_u64().unwrap()).unwrap();
        let varied = &plan["workloads"][index]["varied"];
        assert_eq!(varied["of"], "randread 4k,64k");
        let settings = varied["settings"].as_array().unwrap();
        let value = |at: usize| settings[at]["value"].as_str().unwrap().to_owned();
        // The values in the table match the measured work.
        assert_eq!(value(1), cell["workers"].to_string());
        let request = &planned["workers"][0]["lines"][0]["size_bytes"];
        let bytes = if value(0) == "4k" { 4096 } else { 65_536 };
        assert_eq!(request.as_u64(), Some(bytes));
        let depth = cell["iodepth"].to_string();
        combinations.push([value(0), value(1), value(2), depth].join(" "));
    }
    combinations.sort();
    combinations.dedup();
    assert_eq!(combinations.len(), 16, "{combinations:?}");
    let page = bed.run(&["report", "run.json", "-o", "page.html"]);
    assert_eq!(page.code, 0, "{}", page.text());
    let page = fs::read_to_string(bed.path().join("page.html")).unwrap();
    assert!(page.contains("Settings that vary"));
}

#[test]
fn a_wrong_value_in_a_list_is_named() {
    let bed = bed();
    let arguments = [
        "run",
        "--rw",
        "read",
        "--engine",
        "null",
        "--set",
        "batch=1,x",
    ];
    bed.run(&arguments)
        .assert_refused(USAGE, &["`batch` is `x`"]);
    let twice = ["run", "--rw", "read", "--bs", "4k,4k", "--engine", "null"];
    bed.run(&twice)
        .assert_refused(USAGE, &["`4k` is given twice"]);
}

#[test]
fn printed_toml_reads_back_to_the_same_plan() {
    let bed = bed();
    let lines: [&[&str]; 5] = [
        // The combinations are still compared in a table.
        &[
            "--rw",
            "randread",
            "--bs",
            "4k,64k",
            "--workers",
            "1,2",
            "--size",
            "1m,4m",
            "-t",
            "/",
        ],
        &[
            "--rw",
            "randread",
            "--bs",
            "4k",
            "--iodepth",
            "1,32",
            "-t",
            "/",
        ],
        &[
            "--rw",
            "rw",
            "--rwmixread",
            "70",
            "--bs",
            "4k:60,64k:40",
            "--size",
            "2g",
            "-t",
            "/",
        ],
        &[
            "--read",
            "70",
            "--random",
            "100",
            "--bs",
            "8k",
            "--run-time",
            "5s",
            "-t",
            "/",
        ],
        &["quick", "--size", "64m", "--seed", "7", "-t", "/"],
    ];
    for (index, line) in lines.into_iter().enumerate() {
        let printed = bed.run(&[&["run", "--print", "toml"], line].concat());
        assert_eq!(printed.code, 0, "{}", printed.text());
        let name = format!("printed-{index}.toml");
        bed.file(&name, &printed.stdout);
        let planned = plan(&bed.run(&[&["check", "--json"], line].concat()));
        let read = plan(&bed.run(&["check", "--json", &name]));
        assert_eq!(read, planned, "{}", printed.stdout);
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn contradictory_options_are_refused_with_a_correction() {
    let bed = bed();
    let cases: [(&[&str], &[&str]); 8] = [
        (
            &["oltp", "--rw", "read"],
            &["`--rw`", "`oltp`", "help: leave out"],
        ),
        (
            &["--rw", "read", "--read", "50"],
            &["`--rw read` and `--read`", "help: "],
        ),
        (
            &["--rw", "randread", "--rwmix", "50"],
            &["is not a mix", "help: use `--rw randrw`"],
        ),
        (
            &["--bs", "4k"],
            &[
                "nothing sets the access pattern",
                "help: add `--rw randread`",
            ],
        ),
        (
            &["--rw", "read", "--bs", "4k:60,64k:30"],
            &["90 %, not 100 %"],
        ),
        (
            &["--rw", "read", "--bs", "4k:60,64k"],
            &["`64k` has no share", "4k:60,64k:40"],
        ),
        (
            &["--rw", "trim"],
            &["`--rw` has no trims", "trim = \"only\""],
        ),
        (&["--rw", "sideways"], &["'sideways'", "randread"]),
    ];
    for (line, phrases) in cases {
        for command in ["run", "check"] {
            bed.run(&[&[command], line].concat())
                .assert_refused(USAGE, phrases);
        }
    }
}

#[test]
fn short_names_are_listed_and_similar_ones_get_the_options_to_use() {
    let bed = bed();
    let names = bed.run(&["list", "--names"]).stdout;
    for name in [
        "randread-4k",
        "randwrite-4k",
        "randrw-4k",
        "seqread-1m",
        "seqwrite-1m",
    ] {
        assert!(names.lines().any(|line| line == name), "{names}");
    }
    let output = bed.run(&["run", "randread-16k"]);
    output.assert_refused(USAGE, &["help: write `--rw randread --bs 16k` instead"]);
}

#[test]
fn a_workload_is_read_from_standard_input_whatever_its_kind() {
    let bed = bed();
    let toml = bed.file(
        "w",
        "size = \"4m\"\n[[access_spec]]\nline = [{ size = \"4k\" }]\n",
    );
    let postmark = bed.file("p", "set number 100\nset transactions 100\nrun\nquit\n");
    for (input, name) in [(&toml, "stdin"), (&postmark, "stdin")] {
        let output = run_reading(&bed, input, &["check", "-", "--json", "-t", "/"]);
        assert_eq!(plan(&output)[2][0]["name"], name, "{}", output.text());
    }
    let target = bed.target().to_string_lossy().into_owned();
    let all = [
        "run",
        "-",
        "-t",
        &target,
        "--cache",
        "buffered",
        "--run-time",
        "200ms",
        "--ramp-time",
        "0s",
        "--no-html",
    ];
    let output = run_reading(&bed, &toml, &all);
    assert_eq!(output.code, 0, "{}", output.text());
    let invalid = bed.file("x", "size = \"4m\"\niodpth = 4\n");
    run_reading(&bed, &invalid, &["check", "-"])
        .assert_refused(USAGE, &["--> <stdin>:2:1", "`iodepth`"]);
    run_reading(&bed, &toml, &["check", "-", "-"])
        .assert_refused(USAGE, &["can be read only once"]);
    bed.run(&["check", "-"])
        .assert_refused(USAGE, &["--> <stdin>", "empty"]);
}

#[test]
fn options_of_other_programs_are_translated() {
    let bed = bed();
    let cases: [(&[&str], &[&str]); 6] = [
        (
            &[
                "--ioengine=libaio",
                "--direct=1",
                "--numjobs=4",
                "--runtime=60",
            ],
            &[
                "--engine io_uring",
                "--cache direct",
                "--workers 4",
                "--run-time 60",
            ],
        ),
        (&["--filename=/x/y"], &["`--target /x/y`"]),
        (&["--blocksize=4k"], &["`--bs 4k`"]),
        (
            &["-b", "4k", "-t", "4", "--rand"],
            &["--bs 4k", "--workers 4", "--random 100"],
        ),
        (
            &["-i", "0", "-r", "4k", "-s", "1g"],
            &["--rw write --bs 4k --size 1g"],
        ),
        (&["xfersize=4k"], &["`--bs 4k`", "vdbench"]),
    ];
    for (line, phrases) in cases {
        let output = bed.run(&[&["run"], line].concat());
        output.assert_refused(USAGE, phrases);
        assert!(!output.stderr.contains("overwrite"), "{}", output.text());
    }
}

#[test]
fn unsupported_files_of_other_programs_are_identified() {
    let bed = bed();
    let cases = [(
        "x.vdb",
        "sd=sd1,lun=/dev/x\nwd=wd1,sd=sd1,rdpct=70\n",
        "a vdbench parameter file",
    )];
    for (name, text, phrase) in cases {
        bed.file(name, text);
        let output = bed.run(&["run", name]);
        output.assert_refused(USAGE, &[phrase, "does not read yet", "help: "]);
    }
}

/// Content, size, and times of content and attributes.
fn state(path: &Path) -> (Vec<u8>, u64, [i64; 4]) {
    let metadata = fs::metadata(path).unwrap();
    let times = [
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ];
    (fs::read(path).unwrap(), metadata.ino(), times)
}

#[test]
fn a_workload_that_only_reads_reads_any_file_and_leaves_it() {
    let bed = bed();
    let path = bed.target().join("mail.db");
    let content: Vec<u8> = (0..1_u32 << 20).map(|at| (at % 251) as u8).collect();
    fs::write(&path, content).unwrap();
    let before = state(&path);
    let target = path.to_string_lossy().into_owned();
    let short = short(&target);
    for (workload, engine) in [
        (&["--rw", "randread"][..], "psync"),
        (&["--rw", "read", "--bs", "64k"], "io_uring"),
        (&["randread-4k", "--set", "warm=true", "--keep"], "psync"),
        (
            &["--read", "100", "--random", "50", "--repetitions", "2"],
            "mmap",
        ),
    ] {
        let more = ["--engine", engine, "--cache", "buffered"];
        let output = bed.run(&[&["run"], workload, &short, &more].concat());
        assert_eq!(output.code, 0, "{}", output.text());
        assert!(state(&path) == before, "{workload:?} changed the file");
        assert_eq!(bed.left_in_target(), ["mail.db"]);
    }
    for workload in [
        &["--rw", "randwrite"][..],
        &["--rw", "randrw", "--rwmix", "99"],
        &["--read", "99.9"],
        &["--rw", "randread", "--verify"],
        &["--rw", "randread", "--precondition", "1x"],
        &["--rw", "write", "--set", "new_file=true"],
        &["oltp"],
        &["quick"],
    ] {
        let output = bed.run(&[&["run"], workload, &short].concat());
        output.assert_refused(UNSUPPORTED, &["was not created by pgmeter", "help: "]);
        assert!(state(&path) == before, "{workload:?} changed the file");
        assert_eq!(bed.left_in_target(), ["mail.db"]);
    }
    let output = bed.run(&[&["run", "--rw", "read", "--size", "2m"][..], &short].concat());
    output.assert_refused(
        UNSUPPORTED,
        &["has 1 MiB, not the 2 MiB requested", "--size 1m"],
    );
    assert!(state(&path) == before);
}

#[test]
fn a_file_on_a_file_system_that_is_mounted_read_only_is_read() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let path = mounted.path().join("data");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let point = mounted.path().to_string_lossy().into_owned();
    need!(run_tool("mount", &["-o", "remount,ro", &point]));
    let target = path.to_string_lossy().into_owned();
    let short = short(&target);
    let output = bed().run(&[&["run", "--rw", "randread"][..], &short].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let output = bed().run(&[&["run", "--rw", "randwrite"][..], &short].concat());
    output.assert_refused(UNSUPPORTED, &["mounted read-only"]);
}

#[test]
fn check_reports_a_foreign_file_and_that_nothing_is_prepared() {
    let bed = bed();
    let path = bed.target().join("mail.db");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let target = path.to_string_lossy().into_owned();
    let output = bed.run(&["check", "--rw", "read", "-t", &target]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("file that pgmeter did not make"),
        "{}",
        output.text()
    );
    assert!(!output.stdout.contains("are written"), "{}", output.text());
    let output = bed.run(&["check", "--rw", "write", "-t", &target]);
    assert!(
        output.stdout.contains("`run` would refuse this"),
        "{}",
        output.text()
    );
}

#[test]
fn keys_schema_and_template_come_from_the_program() {
    let bed = bed();
    let output = bed.run(&["keys", "iodepth"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.starts_with("iodepth: number, or a list\n"),
        "{}",
        output.text()
    );
    assert!(output.stdout.contains("Default: 1."), "{}", output.text());
    let output = bed.run(&["keys", "numjobs"]);
    output.assert_says(0, &["`numjobs` is `workers` in workload files"]);
    assert!(
        output.stdout.starts_with("workers: number\n"),
        "{}",
        output.text()
    );
    let all: Value = serde_json::from_str(&bed.run(&["keys", "--json"]).stdout).unwrap();
    assert!(all["keys"].as_array().unwrap().len() > 100);
    bed.run(&["keys", "iodpeth"])
        .assert_refused(USAGE, &["did you mean `pgmeter keys iodepth`?"]);
    let schema: Value = serde_json::from_str(&bed.run(&["schema"]).stdout).unwrap();
    assert!(schema["properties"]["iodepth"].is_object());
    let template = bed.run(&["show", "--template"]);
    bed.file("mine.toml", &template.stdout);
    let output = bed.run(&["check", "mine.toml"]);
    assert_eq!(output.code, 0, "{}", output.text());
    bed.run(&["show"]).assert_refused(USAGE, &["NAME"]);
}
