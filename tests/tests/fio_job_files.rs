//! Workloads that `convert --to fio` writes as job files: fio does as many requests of them as
//! pgmeter does of the workloads.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use end_to_end::{ScratchTarget, finish, installed, need, samples};
use serde_json::Value;

/// What all workloads of access specifications have here, which end after an amount.
const HEADER: &str = "size = \"4m\"\nrun_time = 0\nramp_time = 0\n";

/// Requests of reads and of writes, by cell.
type Counts = Vec<[u64; 2]>;

fn number(of: &Value, pointer: &str) -> u64 {
    of.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// The job file of a workload, below the name `job.fio`.
fn convert(bed: &ScratchTarget, file: &str) {
    let output = bed.run(&["convert", file, "--to", "fio"]);
    assert_eq!(output.code, 0, "{}", output.text());
    bed.file("job.fio", &output.stdout);
}

/// What pgmeter does of a workload.
fn run_pgmeter(bed: &ScratchTarget, file: &str) -> Counts {
    let target = bed.target().to_str().unwrap().to_owned();
    let output = bed.run(&["run", file, "--target", &target, "--json", "-", "--quiet"]);
    let record: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", output.text()));
    let cells = record["cells"].as_array().unwrap().iter();
    let count = |cell: &Value, kind: &str| number(cell, &format!("/operations/{kind}/count"));
    let counts = cells.map(|cell| [count(cell, "read"), count(cell, "write")]);
    counts.collect()
}

/// What fio does of the job file, by groups.
fn run_fio(bed: &ScratchTarget) -> Counts {
    let mut fio = Command::new("fio");
    let file = bed.path().join("job.fio");
    fio.arg("--output-format=json").arg(file);
    counted(&finish(fio.current_dir(bed.target())).stdout)
}

/// The counts of a JSON document of fio, which notes may stand before.
fn counted(text: &str) -> Counts {
    let begin = text.find("{\n").unwrap_or_else(|| panic!("{text}"));
    let document: Value = serde_json::from_str(&text[begin..]).unwrap();
    let mut groups: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!(number(job, "/error"), 0, "{job}");
        let group = groups.entry(number(job, "/groupid")).or_default();
        group[0] += number(job, "/read/total_ios");
        group[1] += number(job, "/write/total_ios");
    }
    groups.into_values().collect()
}

/// Runs a workload with pgmeter, and its job file with fio.
fn both(toml: &str) -> [Counts; 2] {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("x.toml", toml);
    convert(&bed, "x.toml");
    [run_pgmeter(&bed, "x.toml"), run_fio(&bed)]
}

#[test]
fn converted_access_specifications_do_the_same_in_fio() {
    need!(installed("fio"));
    let spec = |line: &str| format!("[[access_spec]]\nname = \"s\"\nline = [{{ {line} }}]\n");
    let ending = |keys: &str| format!("{HEADER}operations = 960\n{keys}\n");
    let lines = "size = \"4k\", of_size = 60, random = 100, align = \"4k\" }, \
                 { size = \"16k\", of_size = 40, random = 100, align = \"4k\"";
    let cases = [
        (
            ending("workers = 3\niodepth = 8"),
            spec("size = \"4k\", random = 100"),
        ),
        (ending("iodepth = [1, 4]"), spec("size = \"4k\"")),
        (ending(""), spec("size = \"4k\", sequence = \"backward\"")),
        (
            ending(""),
            spec("size = \"4k\", sequence = { strided = \"64k\" }"),
        ),
        (
            ending(""),
            spec("size = \"16k\", read = 0, random = 50, align = \"16k\""),
        ),
        (
            ending(""),
            spec("size = \"4k\", random = 100, align = \"4k\", distribution = { zipf = 1.2 }"),
        ),
        (ending(""), spec(lines)),
        (
            ending("engine = \"psync\"\niodepth = 8"),
            spec("size = \"4k\", random = 100"),
        ),
        (
            ending("engine = \"null\""),
            spec("size = \"4k\", random = 100"),
        ),
        (
            ending("[[worker]]\ncount = 2\n[[worker]]\niodepth = 4\nsize = \"2m\""),
            spec("size = \"4k\""),
        ),
        (
            ending("rate = 4000\nworkers = 2"),
            spec("size = \"4k\", random = 100"),
        ),
        (
            "size = \"4m\"\nnew_file = true\n".to_owned(),
            spec("size = \"64k\", read = 0, random = 0"),
        ),
    ];
    for (keys, specs) in cases {
        let [ours, theirs] = both(&format!("{keys}{specs}"));
        assert_eq!(ours, theirs, "{keys}{specs}");
        assert!(
            ours.iter().all(|[read, write]| read + write > 0),
            "{ours:?}"
        );
    }
}

#[test]
fn converted_mixes_issue_as_many_requests_in_fio() {
    need!(installed("fio"));
    let lines = "{ size = \"4k\", of_size = 50, random = 100 }, \
                 { size = \"8k\", of_size = 50, read = 0, random = 100 }";
    let toml = format!(
        "{HEADER}operations = 4000\nworkers = 2\n[[access_spec]]\nname = \"s\"\nline = [{lines}]\n"
    );
    let [ours, theirs] = both(&toml);
    for [read, write] in [ours[0], theirs[0]] {
        assert_eq!(read + write, 4000);
        // Half of them, and what chance may add to it.
        assert!((1800..2200).contains(&read), "{read}");
    }
}

#[test]
fn converted_jobs_do_the_same_in_fio() {
    need!(installed("fio"));
    let second = "[[job]]\nname = \"k\"\nsize = \"1m\"\nloops = 1\n";
    let cases = [
        "loops = 1\ncount = 2\n",
        "read = 0\nloops = 3\nfsync_each = 8\n",
        "random = 100\nbytes = \"3m\"\niodepth = 8\nfiles = 4\n",
        "random = 100\noperations = 77\n",
        "random = 100\ndistribution = \"uniform\"\nblock_size = \"12k\"\nbytes = \"600k\"\n",
        "skip = \"12k\"\nloops = 1\n",
        "back = \"8k\"\nloops = 1\n",
        "zone_size = \"64k\"\nzone_skip = \"64k\"\nloops = 1\n",
        "random = 100\nrun_length = 4\nloops = 1\n",
        "read = 0\nverify = true\nread_back = true\nloops = 1\n",
        "loops = 1\nstart_step = \"256k\"\ncount = 3\nfiles = [\"x\"]\n",
        "loops = 1\nfile_names = \"f-{file}-{clone}\"\nfiles = 2\ncount = 2\n",
        "read = 0\nrandom = 40\nengine = \"psync\"\ncache = \"buffered\"\nloops = 1\n",
        "loops = 1\nread = 0\nlayout = \"empty\"\nblock_size = \"64k\"\n",
    ];
    for keys in cases {
        let toml =
            format!("[[job]]\nname = \"j\"\nsize = \"1m\"\n{keys}{second}waits = true\nread = 0\n");
        let [ours, theirs] = both(&toml);
        assert_eq!(ours, theirs, "{toml}");
    }
}

/// A job file goes to TOML and back, and as it is; all of them plan the same jobs.
#[test]
fn collected_job_files_survive_conversion() {
    let folder = need!(samples("fio"));
    let bed = ScratchTarget::new().unwrap();
    let cells = |file: &str| {
        let output = bed.run(&["check", file, "--json"]);
        let plan: Value = serde_json::from_str(&output.stdout).ok()?;
        Some(plan["cells"].clone())
    };
    let (mut same_count, mut refused_count) = (0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_str().unwrap();
        let toml = bed.run(&["convert", name, "--to", "toml"]);
        let direct = bed.run(&["convert", name, "--to", "fio"]);
        if !name.ends_with(".fio") || toml.code != 0 || direct.code != 0 {
            refused_count += 1;
            continue;
        }
        bed.file("again.toml", &toml.stdout);
        bed.file("direct.fio", &direct.stdout);
        convert(&bed, "again.toml");
        let texts =
            ["direct.fio", "job.fio"].map(|it| fs::read_to_string(bed.path().join(it)).unwrap());
        let [direct, again] = texts.map(|it| it.lines().skip(1).collect::<Vec<_>>().join("\n"));
        assert_eq!(direct, again, "{name}");
        // Devices and directories of others are not on this machine.
        if let (Some(one), Some(other)) = (cells(name), cells("direct.fio")) {
            let jobs = |cells: &Value| cells.as_array().map(Vec::len);
            assert_eq!(jobs(&one), jobs(&other), "{name}");
        }
        same_count += 1;
    }
    assert!(
        same_count >= 20,
        "{same_count} converted, {refused_count} refused"
    );
}

#[test]
fn workloads_that_fio_cannot_express_are_refused_with_one_action() {
    let bed = ScratchTarget::new().unwrap();
    let lines = "[[access_spec]]\nline = [{ size = \"4k\", reply = \"4k\" }]\n";
    bed.file("x.toml", lines);
    let output = bed.run(&["convert", "x.toml", "--to", "fio"]);
    output.assert_refused(2, &["fio cannot do `reply`", "help: leave `reply` out"]);
    bed.run(&["convert", "mail-server", "--to", "fio"])
        .assert_refused(
            2,
            &["`mail-server` works on many files", "convert workloads of"],
        );
    let output = bed.run(&["convert", "randread-4k", "--to", "fio"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let begin = "; converted by pgmeter from randread-4k\n";
    assert!(output.stdout.starts_with(begin), "{}", output.text());
}
