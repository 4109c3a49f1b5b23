//! Rounds until steady, from outside.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::{Finished, ScratchTarget, run_tool, wait_for};
use serde_json::Value;

/// Touches nothing.
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"200ms\"\nramp_time = 0\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\", random = 100 }]\n";

/// Checks the exit code and that the output has every phrase.
fn says(output: &Finished, code: i32, phrases: &[&str]) {
    let text = output.text();
    assert_eq!(output.code, code, "{text}");
    for phrase in phrases {
        assert!(text.contains(phrase), "no `{phrase}` in\n{text}");
    }
}

/// The workload with these keys before its access specification.
fn bed(keys: &str) -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", format!("{keys}\n{NULL}"));
    bed
}

fn record(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let fixed = ["run", "null.toml", "--json", "-", "--quiet"];
    let output = bed.run(&[&fixed, arguments].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    serde_json::from_str(&output.stdout).unwrap()
}

fn rounds(record: &Value) -> &Vec<Value> {
    record["cells"][0]["steady"]["rounds"].as_array().unwrap()
}

#[test]
fn rounds_until_steady_appear_in_every_output() {
    let bed = bed("");
    // What sleeps for most of its time is as steady on a busy machine.
    let pausing = NULL.replace("random = 100", "random = 100, delay = \"10ms\"");
    bed.file("null.toml", pausing);
    let set = ["--set", "steady.range=100", "--set", "steady.excursion=100"];
    let all = [&["--until", "steady", "--html", "page.html"], &set[..]].concat();
    let record = record(&bed, &all);
    let cell = &record["cells"][0];
    let steady = &cell["steady"];
    assert_eq!(steady["verdict"], "steady");
    assert_eq!(steady["rule"]["rounds_max"], 25);
    let rounds = rounds(&record);
    assert!(rounds.len() >= 5);
    let first = steady["window"]["first_round_index"].as_u64().unwrap();
    assert_eq!(first as usize + 5, rounds.len());
    let counts = rounds.iter().map(|round| round["count"].as_u64().unwrap());
    let in_window: u64 = counts.skip(first as usize).sum();
    assert_eq!(cell["total"]["count"].as_u64(), Some(in_window));
    // A busy machine may skip a round, whose length is then only its planned length.
    let window = rounds[first as usize..].iter();
    let measured = window.filter(|round| round["count"] != 0);
    let window_ns: u64 = measured
        .map(|round| round["length_ns"].as_u64().unwrap())
        .sum();
    assert_eq!(cell["run_time_ns"].as_u64(), Some(window_ns));
    let output = bed.run(&["report", "last"]);
    says(
        &output,
        0,
        &[
            "rounds until steady",
            "steady",
            "rounds of 0.2 s until steady",
        ],
    );
    let csv = bed.run(&["report", "last", "--format", "csv"]);
    says(&csv, 0, &["steady_rounds", ",steady,"]);
    let page = std::fs::read_to_string(bed.path().join("page.html")).unwrap();
    assert!(page.contains("Rounds until steady: steady after"));
}

#[test]
fn rounds_that_never_become_steady_are_a_warning_not_a_failure() {
    let bed = bed("until = \"steady\"\nsteady = { window = 2, range = 0.0000001, rounds = 3 }");
    let record = record(&bed, &[]);
    assert_eq!(record["cells"][0]["steady"]["verdict"], "not-steady");
    assert_eq!(
        (rounds(&record).len(), &record["status"]),
        (3, &Value::from("complete"))
    );
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("\"not-steady\""), "{warnings}");
    assert!(
        warnings.contains("not steady after 3 rounds: the last 2 differ by"),
        "{warnings}"
    );
}

#[test]
fn ctrl_c_keeps_the_rounds_measured() {
    let bed = bed("until = \"steady\"\nsteady = { range = 0.0000001, rounds = 10000 }");
    let mut child = bed.start(&["run", "null.toml", "--json", "saved.json", "--no-html"]);
    // A round has one interval.
    bed.wait_for_intervals(3);
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    wait_for("the end", || child.try_wait().unwrap().is_some());
    let text = std::fs::read_to_string(bed.path().join("saved.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["status"], "interrupted");
    let cell = &record["cells"][0];
    assert_eq!(
        (&cell["status"], &cell["steady"]["verdict"]),
        (&"interrupted".into(), &"not-yet".into())
    );
    assert!(!rounds(&record).is_empty() && cell["total"]["count"].as_u64().unwrap() > 0);
}

#[test]
fn options_that_conflict_with_rounds_are_refused() {
    for (arguments, wanted) in [
        (
            &["--until", "steady", "--rate", "100/s"][..],
            "always steady",
        ),
        (
            &["--until", "steady", "--operations", "5"],
            "has no number of `operations`",
        ),
        (
            &["--until", "steady", "--run-time", "10ms"],
            "a round takes at least 100ms",
        ),
        (
            &["--set", "steady.window=3"],
            "has no effect unless `until` is `steady`",
        ),
        (
            &["--until", "steady", "--set", "steady.rounds=3"],
            "fewer than the 5 of a window",
        ),
        (
            &["--until", "steady", "--set", "steady.window=1"],
            "not from 2 to 1000",
        ),
        (
            &["--until", "steady", "--set", "steady.range=0"],
            "no rounds can reach",
        ),
    ] {
        let bed = bed("");
        let output = bed.run(&[&["check", "null.toml"], arguments].concat());
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.text());
        assert!(
            output.text().contains(wanted),
            "{arguments:?}: {}",
            output.text()
        );
    }
    let bed = ScratchTarget::new().unwrap();
    let output = bed.run(&["check", "create-remove", "--until", "steady"]);
    says(&output, 2, &["`until` does not apply to `[create_remove]`"]);
}

#[test]
fn check_describes_the_rounds() {
    let bed = bed("until = \"steady\"");
    let output = bed.run(&["check", "null.toml"]);
    says(
        &output,
        0,
        &[
            "rounds of 200ms until steady, 25 at most",
            "steady.range = 20",
        ],
    );
}

/// Reads of a test file at two depths.
const READS: &str = "size = \"4m\"\nrun_time = \"200ms\"\nramp_time = 0\ncache = \"buffered\"\n\
    iodepth = [1, 4]\n[[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";

#[test]
fn a_target_is_preconditioned_once_and_the_record_says_how() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    for engine in ["io_uring", "psync", "mmap"] {
        let options = ["reads.toml", "--precondition", "1.5x", "--engine", engine];
        let (output, record) = bed.record(&options);
        assert_eq!(output.code, 0, "{}", output.text());
        let done = record["preconditions"].as_array().unwrap();
        assert_eq!(
            (done.len(), record["cells"].as_array().unwrap().len()),
            (1, 2)
        );
        assert_eq!(done[0]["bytes"], 6 << 20, "{engine}");
        assert_eq!(
            (&done[0]["times"], &done[0]["errors"]),
            (&1.5.into(), &0.into())
        );
        assert!(done[0]["time_ns"].as_u64().unwrap() > 0);
    }
    let output = bed.run(&["report", "last"]);
    says(&output, 0, &["preconditioned with 6 MiB (1.5x) in"]);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn preconditioning_stamps_the_blocks_to_be_verified() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    let (output, record) = bed.record(&["reads.toml", "--precondition", "2x", "--verify"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(record["preconditions"][0]["bytes"], 8 << 20);
    assert!(!record["warnings"].to_string().contains("verify-mismatch"));
}

#[test]
fn check_describes_preconditioning_and_refuses_it_where_impossible() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    let output = bed.run(&["check", "reads.toml", "--precondition", "2x"]);
    says(
        &output,
        0,
        &[
            "precondition = 2x",
            "the used part of each target is written 2x",
        ],
    );
    for times in ["2x", "none"] {
        let output = bed.run(&["check", "postmark", "--precondition", times]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let output = bed.run(&[
        "check",
        "reads.toml",
        "--precondition",
        "2x",
        "--engine",
        "null",
    ]);
    says(
        &output,
        2,
        &["the engine `null` writes nothing that could be preconditioned"],
    );
    let output = bed.run(&["check", "reads.toml", "--precondition", "twice"]);
    says(
        &output,
        2,
        &["`twice` is neither `none` nor a multiple up to 100"],
    );
}

/// Bytes that a process has written so far.
fn written_bytes(child: &std::process::Child) -> u64 {
    let path = format!("/proc/{}/io", child.id());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let wchar = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    wchar.map_or(0, |bytes| bytes.parse().unwrap())
}

#[test]
fn ctrl_c_ends_preconditioning_and_removes_the_file() {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("reads.toml", READS.replace("4m", "32m"));
    let target = bed.target().to_string_lossy().into_owned();
    let options = [
        "--precondition",
        "100x",
        "--engine",
        "psync",
        "--json",
        "saved.json",
        "--no-html",
    ];
    let mut child =
        bed.start(&[&["run", "reads.toml", "--target", &target], &options[..]].concat());
    // The file is written once, and then over and over.
    wait_for("preconditioning", || written_bytes(&child) > 33 << 20);
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    wait_for("the end", || child.try_wait().unwrap().is_some());
    assert!(bed.left_in_target().is_empty());
    let text = std::fs::read_to_string(bed.path().join("saved.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["status"], "interrupted");
    let all = 100_u64 * (32 << 20);
    let bytes = record["preconditions"][0]["bytes"].as_u64().unwrap_or(0);
    assert!(
        bytes < all && record["cells"].as_array().unwrap().is_empty(),
        "{bytes}"
    );
}

#[test]
fn a_curve_goes_up_to_its_peak_and_has_an_overall_response_time() {
    let bed = ScratchTarget::new().unwrap();
    let depth = READS.replace("[1, 4]", "4");
    bed.file(
        "reads.toml",
        depth.replace("cache", "engine = \"psync\"\ncache"),
    );
    let options = ["reads.toml", "--curve", "--html", "page.html"];
    let (output, record) = bed.record(&[&options[..], &["--run-time", "200ms"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let cells = record["cells"].as_array().unwrap();
    assert_eq!(
        (cells.len(), &cells[0]["curve"]["part"]),
        (11, &"peak".into())
    );
    let peak = cells[0]["total"]["per_second"].as_f64().unwrap();
    for (index, cell) in cells.iter().enumerate().skip(1) {
        assert_eq!(cell["curve"]["percent"], index * 10);
        assert_eq!(cell["open_loop"]["arrivals"], "poisson");
        let requested = cell["open_loop"]["asked_per_second"].as_f64().unwrap();
        let wanted = peak * index as f64 / 10.0;
        assert!((requested - wanted).abs() <= 0.5, "{requested} {wanted}");
    }
    let output = bed.run(&["report", "last"]);
    says(
        &output,
        0,
        &["response-time curve", "overall", "peak", "points"],
    );
    let page = std::fs::read_to_string(bed.path().join("page.html")).unwrap();
    assert!(page.contains("Response-time curve"));
}

#[test]
fn options_that_conflict_with_a_curve_are_refused() {
    for (arguments, wanted) in [
        (
            &["--curve", "--rate", "5/s"][..],
            "`curve` finds its rates itself",
        ),
        (&["--curve", "--operations", "5"], "last for `run_time`"),
        (&["--curve", "--until", "steady"], "always steady"),
    ] {
        let bed = bed("");
        let output = bed.run(&[&["check", "null.toml"], arguments].concat());
        says(&output, 2, &[wanted]);
    }
    let bed = bed("");
    let output = bed.run(&["check", "null.toml", "--curve", "--arrivals", "uniform"]);
    says(
        &output,
        0,
        &[
            "200ms, the peak",
            "200ms at 10 % of the peak, uniform",
            "11 cells",
        ],
    );
    let programs = ["--set", "mode=exec", "--curve"];
    let output = bed.run(&[&["check", "create-remove"], &programs[..]].concat());
    says(&output, 2, &["starting them takes the time"]);
}
