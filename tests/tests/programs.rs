//! Phases of filesets, from their TOML to the record: every engine, what fails, what is left.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use end_to_end::{ScratchTarget, run_tool, wait_for};
use serde_json::Value;

/// Files that are made, written, read and removed, each exactly once.
const EACH_ONCE: &str = r#"
[[fileset]]
name = "data"
count = 300
size = { uniform = ["1", "9k"] }
names = "f{number}.dat"
directories = 7

[[phase]]
name = "create"
[[phase.group]]
body = [ { create = "data" }, { write = "size", piece = "4k" }, "fsync", "close" ]

[[phase]]
name = "read"
[[phase.group]]
body = [ { open = "data", pick = "shuffled" }, { read = "rest", piece = "4k" }, "close" ]

[[phase]]
name = "remove"
[[phase.group]]
body = [ { unlink = "data", pick = "back" } ]
"#;

/// A mail server: what is delivered appears, is read, and is purged.
const MAIL: &str = r#"
run_time = "1s"
[[fileset]]
name = "tmp"
count = 64
[[fileset]]
name = "mail"
count = 400
present = "50%"
size = "6k"
directories = 4
[[phase]]
name = "serve"
[[phase.group]]
name = "delivery"
workers = 2
when_out = "skip"
body = [ { transaction = "deliver", do = [
  { create = "tmp", pick = "around", turn = "shared" },
  { write = { lognormal = "4k", spread = 1.0, most = "64k" }, piece = "16k" },
  "fsync",
  "close",
  { rename = "@", to = "mail", to_pick = "around" },
  { fsync = "directory of @" },
] } ]
[[phase.group]]
name = "readers"
workers = 2
when_out = "skip"
body = [ { mix = [
  { share = 3, transaction = "read", do = [
    { open = "mail", pick = "uniform" },
    { read = "rest", piece = "4k" },
    "close",
  ] },
  { share = 1, transaction = "purge", do = [ { unlink = "mail", pick = "uniform" } ] },
] } ]
"#;

fn record(bed: &ScratchTarget, text: &str, more: &[&str]) -> Value {
    let file = bed.file("program.toml", text);
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run",
        file.to_str().unwrap(),
        "--target",
        &target,
        "--json",
        "-",
        "--quiet",
    ];
    let output = bed.run(&[&line, more].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(bed.left_in_target(), [""; 0]);
    serde_json::from_str(&output.stdout).unwrap()
}

fn phase<'a>(record: &'a Value, name: &str) -> &'a Value {
    let cells = record["cells"].as_array().unwrap();
    let found = cells.iter().find(|cell| cell["phase"] == name);
    found.unwrap_or_else(|| panic!("no phase `{name}` in {cells:?}"))
}

fn count(phase: &Value, operation: &str) -> u64 {
    phase["operations"][operation]["count"]
        .as_u64()
        .unwrap_or(0)
}

fn transactions(phase: &Value, name: &str) -> u64 {
    phase["transactions"][name]["count"].as_u64().unwrap_or(0)
}

#[test]
fn every_engine_does_the_same_with_every_file() {
    let bed = ScratchTarget::new().unwrap();
    let mut written_first = None;
    for engine in ["psync", "io_uring", "null"] {
        for workers in [1, 3] {
            let more = ["--engine", engine, "--workers", &workers.to_string()];
            let record = record(&bed, EACH_ONCE, &more);
            let (create, read) = (phase(&record, "create"), phase(&record, "read"));
            // What one has made the others pass over, and each reads all.
            assert_eq!(count(create, "create"), 300, "{engine} {workers}");
            assert_eq!(count(create, "fsync"), 300, "{engine} {workers}");
            assert_eq!(count(read, "open"), 300 * workers, "{engine} {workers}");
            let remove = phase(&record, "remove");
            assert_eq!(count(remove, "unlink"), 300, "{engine} {workers}");
            for phase in [create, read, remove] {
                assert_eq!(phase["total"]["errors"], 0, "{engine} {workers}");
            }
            // Sizes follow from the seed alone, and what is read is what was written.
            let bytes = |phase: &Value, name: &str| {
                let bytes = &phase["operations"][name]["bytes"];
                bytes.as_u64().unwrap()
            };
            let written = bytes(create, "write");
            assert_eq!(bytes(read, "read"), written * workers, "{engine} {workers}");
            assert_eq!(*written_first.get_or_insert(written), written);
        }
    }
}

#[test]
fn groups_work_in_parallel_on_the_same_files() {
    let bed = ScratchTarget::new().unwrap();
    for engine in ["psync", "io_uring", "null"] {
        let record = record(&bed, MAIL, &["--engine", engine]);
        let serve = phase(&record, "serve");
        assert_eq!(serve["total"]["errors"], 0, "{engine}: {serve}");
        for name in ["deliver", "read", "purge"] {
            assert!(
                transactions(serve, name) > 10,
                "{engine}: no `{name}` in {serve}"
            );
        }
        // Each delivery is one of each call; those that were under way at the end have some more.
        let (deliveries, renames) = (transactions(serve, "deliver"), count(serve, "rename"));
        assert!(
            renames >= deliveries && renames <= deliveries + 2,
            "{engine}"
        );
    }
}

#[test]
fn an_interrupted_program_leaves_nothing() {
    let bed = ScratchTarget::new().unwrap();
    // So many names that deliveries do not run out of them.
    let text = MAIL.replace("run_time = \"1s\"", "run_time = \"5m\"");
    let text = text.replace(
        "count = 400\npresent = \"50%\"",
        "count = 200_000\npresent = \"0.1%\"",
    );
    assert!(text.contains("200_000") && text.contains("5m"));
    let file = bed.file("program.toml", text);
    let target = bed.target().to_string_lossy().into_owned();
    let child = bed.start(&["run", file.to_str().unwrap(), "--target", &target]);
    wait_for("the work directory", || !bed.left_in_target().is_empty());
    std::thread::sleep(Duration::from_millis(1500));
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(bed.left_in_target(), [""; 0]);
}

#[test]
fn computation_before_a_call_does_not_count_in_its_latency() {
    let bed = ScratchTarget::new().unwrap();
    let text = r#"
run_time = "1s"
[[fileset]]
name = "data"
present = 100
[[phase]]
name = "work"
[[phase.group]]
body = [ { open = "data", pick = "around" }, { burn = "50ms" }, { write = "4k" }, "close" ]
"#;
    let record = record(&bed, text, &[]);
    let latency = &phase(&record, "work")["operations"]["write"]["latency"];
    let least_ns = latency["min_ns"].as_u64().unwrap();
    assert!(least_ns < 10_000_000, "{latency}");
}

#[test]
fn workers_that_issue_no_call_end_in_time() {
    let bed = ScratchTarget::new().unwrap();
    let text = r#"
run_time = "300ms"
[[tokens]]
name = "turns"
room = 5
[[fileset]]
name = "data"
[[phase]]
name = "work"
[[phase.group]]
body = [ ACTS ]
"#;
    for acts in [r#"{ put = "turns" }"#, r#"{ burn = "1us" }"#] {
        record(&bed, &text.replace("ACTS", acts), &[]);
    }
}
