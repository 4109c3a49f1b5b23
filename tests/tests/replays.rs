//! Replays of traces whose requests are known.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::time::Duration;

use end_to_end::faultfs::{Call, Effect, Fault, FaultFs, Settings};
use end_to_end::{ScratchTarget, need};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A trace of MSR Cambridge's form: µs, kind, offset, length.
fn trace(rows: impl IntoIterator<Item = (u64, &'static str, u64, u64)>) -> String {
    let mut text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n".to_owned();
    for (us, kind, offset, length) in rows {
        let time = 128_166_385_295_514_663 + us * 10;
        writeln!(text, "{time},srv,0,{kind},{offset},{length},100").unwrap();
    }
    text
}

/// A read and a write per 2 ms, from all over 1 TiB.
fn mixed(count: u64) -> String {
    trace((0..count).map(|index| {
        let kind = if index % 2 == 0 { "Read" } else { "Write" };
        let offset = (index * 7919 % 64) * (16 << 30) + index * 4096;
        (index * 1000, kind, offset, 4096)
    }))
}

/// Replays with its default run time, and returns the record.
fn replay(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let fixed = ["--no-html", "--quiet", "--json", "-"];
    let output = bed.run(&[&["run"][..], arguments, &fixed].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    serde_json::from_str(&output.stdout).unwrap()
}

fn counts(record: &Value) -> [u64; 2] {
    let operations = &record["cells"][0]["operations"];
    ["read", "write"].map(|name| operations[name]["count"].as_u64().unwrap_or(0))
}

fn recorded(record: &Value) -> &Value {
    &record["plan"]["cells"][0]["workers"][0]["job"]["recorded"]
}

#[test]
fn a_replay_issues_every_request_once_and_lasts_as_long_as_the_trace() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", mixed(1000));
    let target = bed.target().to_string_lossy().into_owned();
    for engine in ["io_uring", "psync", "null"] {
        let record = replay(&bed, &["a.csv", "--target", &target, "--engine", engine]);
        assert_eq!(counts(&record), [500, 500], "{engine}");
        let cell = &record["cells"][0];
        assert!(
            cell["run_time_ns"].as_u64().unwrap() >= 990_000_000,
            "{engine}"
        );
        let open_loop = &cell["open_loop"];
        assert_eq!(open_loop["arrivals"], "recorded");
        assert_eq!(open_loop["response"]["count"], 1000);
        assert_eq!(open_loop["lateness"]["count"], 1000);
        let trace = &recorded(&record)["trace"];
        assert_eq!(trace["span_ns"], 999_000_000);
        assert_eq!(trace["map"], "compact");
        assert_eq!(recorded(&record)["request_count"], 1000);
    }
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
}

#[test]
fn options_select_and_speed_up_parts_of_a_trace() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", mixed(1000));
    let run = |options: &[&str]| {
        let arguments = [&["a.csv", "--engine", "null"][..], options].concat();
        replay(&bed, &arguments)
    };
    assert_eq!(
        counts(&run(&["--speed", "10x", "--first", "101"])),
        [51, 50]
    );
    assert_eq!(
        counts(&run(&["--only", "reads", "--pace", "as-fast"])),
        [500, 0]
    );
    let part = run(&["--from", "100ms", "--to", "200ms", "--device", "srv/0"]);
    assert_eq!(counts(&part), [50, 50]);
    let as_fast = run(&["--pace", "as-fast", "--iodepth", "1,32"]);
    assert_eq!(as_fast["cells"].as_array().unwrap().len(), 2);
    assert!(as_fast["cells"][0]["open_loop"].is_null());
    let scaled = run(&["--map", "scale", "--size", "1m", "--speed", "10x"]);
    assert_eq!(recorded(&scaled)["trace"]["map"], "scale");
    let sizes = &scaled["plan"]["cells"][0]["workers"][0]["job"]["files"];
    assert_eq!(sizes[0]["size_bytes"], 1 << 20);
}

#[test]
fn a_stall_leaves_the_schedule_unchanged_and_shows_as_lateness() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    let reads = (0..2000).map(|index| (index * 2000, "Read", index % 256 * 4096, 4096));
    bed.file("a.csv", trace(reads));
    let target = bed.target().to_string_lossy().into_owned();
    // Some reads examine the target beforehand.
    let stall = Effect::Stall(Duration::from_secs(2));
    faultfs.arm(&[Fault::once(Call::Read, 300, stall)]);
    let depth = ["--engine", "psync", "--iodepth", "1"];
    let record = replay(
        &bed,
        &[&["a.csv", "--target", &target][..], &depth].concat(),
    );
    assert_eq!(faultfs.hits_count(), 1);
    assert_eq!(counts(&record), [2000, 0]);
    let open_loop = &record["cells"][0]["open_loop"];
    let lateness_ns = open_loop["lateness"]["max_ns"].as_u64().unwrap();
    assert!(lateness_ns >= 1_990_000_000, "{lateness_ns}");
    let response_ns = open_loop["response"]["max_ns"].as_u64().unwrap();
    assert!(response_ns >= 2_000_000_000, "{response_ns}");
    let codes = record["warnings"].as_array().unwrap();
    assert!(
        codes.iter().any(|it| it["code"] == "replay-late"),
        "{codes:?}"
    );
}

#[test]
fn an_interrupted_replay_leaves_no_files() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", mixed(60_000));
    let target = bed.target().to_string_lossy().into_owned();
    let mut child = bed.start(&[
        "run",
        "a.csv",
        "--target",
        &target,
        "--no-html",
        "--json",
        "r.json",
    ]);
    end_to_end::wait_for("the test file", || !bed.left_in_target().is_empty());
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
}

#[test]
fn the_page_shows_recorded_beside_achieved() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", mixed(100));
    let output = bed.run(&["run", "a.csv", "--engine", "null", "--html", "page.html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("replay of the trace"),
        "{}",
        output.text()
    );
    assert!(
        output.stdout.contains("started late by"),
        "{}",
        output.text()
    );
    let page = std::fs::read_to_string(bed.path().join("page.html")).unwrap();
    assert!(page.contains("<h2>Replay</h2>"));
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", mixed(10));
    bed.file(
        "mine.toml",
        "engine = \"null\"\n[[access_spec]]\nline = [{ size = \"4k\" }]\n",
    );
    bed.file(
        "gap.csv",
        trace([(0, "Read", 0, 512), (200_000_000_000, "Read", 0, 512)]),
    );
    let cases: [(&[&str], &[&str]); 8] = [
        (&["mine.toml", "--speed", "2x"], &["apply to traces only"]),
        (
            &["a.csv", "--operations", "5"],
            &["does not apply to a trace", "--first N"],
        ),
        (
            &["a.csv", "--rate", "5"],
            &["does not apply to a trace", "--speed"],
        ),
        (
            &["a.csv", "--device", "sdz"],
            &["none of the 10 requests", "`srv/0`"],
        ),
        (&["a.csv", "--map", "wrap"], &["needs the size", "--size"]),
        (&["a.csv", "--speed", "0"], &["`2x`"]),
        (&["gap.csv"], &["row 3 comes", "--pace as-fast"]),
        (&["a.csv", "--print", "toml"], &["replays the log"]),
    ];
    for (arguments, phrases) in cases {
        let engine = ["--engine", "null"];
        let output = bed.run(&[&["run"][..], arguments, &engine].concat());
        output.assert_refused(2, phrases);
    }
}
