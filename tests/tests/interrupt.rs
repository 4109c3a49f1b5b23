//! Ctrl-C and worse: what was measured is saved, and what was made is removed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use end_to_end::{ScratchTarget, run_tool, wait_for};
use serde_json::Value;

const LONG: &str = "size = \"16m\"\nrun_time = 60\nramp_time = 0\ncache = \"buffered\"\n\
    [[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";

fn signal(child: &Child, name: &str) {
    run_tool("kill", &[&format!("-{name}"), &child.id().to_string()]).unwrap();
}

/// Waits for the end and returns the exit code; none when a signal ended it.
fn end(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        // A run that does not heed a signal takes a minute of measuring more.
        if start.elapsed() > Duration::from_secs(50) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("did not end within 50 s");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a long run and waits until it measures.
fn measuring(bed: &ScratchTarget, more: &[&str]) -> Child {
    bed.file("long.toml", LONG);
    let target = bed.target().to_string_lossy().into_owned();
    let child = bed.start(&[&["run", "long.toml", "--target", &target], more].concat());
    bed.wait_for_intervals(1);
    child
}

#[test]
fn ctrl_c_saves_what_was_measured_and_removes_the_files() {
    for name in ["INT", "TERM"] {
        let bed = ScratchTarget::new().unwrap();
        let mut child = measuring(&bed, &["--json", "saved.json"]);
        signal(&child, name);
        assert_eq!(end(&mut child), Some(130), "SIG{name}");
        assert!(
            bed.left_in_target().is_empty(),
            "{:?}",
            bed.left_in_target()
        );
        let text = std::fs::read_to_string(bed.path().join("saved.json")).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["status"], "interrupted");
        let warnings = record["warnings"].to_string();
        assert!(warnings.contains("cell-cut-short"), "{warnings}");
        assert!(record["cells"][0]["total"]["count"].as_u64().unwrap() > 0);
        let run_time_ns = record["cells"][0]["run_time_ns"].as_u64().unwrap();
        assert!(run_time_ns < 60_000_000_000, "{run_time_ns}");
    }
}

/// Starts the program as `nohup` does, or a shell in the background: these signals are ignored.
fn start_ignoring(bed: &ScratchTarget, signals: &str, arguments: &[&str]) -> Child {
    let run = bed.command(arguments);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("trap '' {signals}; exec \"$@\""), "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(bed.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.spawn().unwrap()
}

#[test]
fn signals_ignored_at_the_start_do_not_end_a_run() {
    for name in ["HUP", "INT"] {
        let bed = ScratchTarget::new().unwrap();
        bed.file("long.toml", LONG);
        let target = bed.target().to_string_lossy().into_owned();
        let run = ["run", "long.toml", "--target", &target, "--run-time", "3s"];
        let run = [&run[..], &["--json", "saved.json"]].concat();
        let mut child = start_ignoring(&bed, "HUP INT", &run);
        bed.wait_for_intervals(1);
        signal(&child, name);
        assert_eq!(end(&mut child), Some(0), "SIG{name}");
        let text = std::fs::read_to_string(bed.path().join("saved.json")).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["status"], "complete", "SIG{name}");
    }
}

#[test]
fn signals_not_ignored_at_the_start_still_end_a_run() {
    for (ignored, name) in [("HUP INT", "TERM"), ("HUP", "INT")] {
        let bed = ScratchTarget::new().unwrap();
        bed.file("long.toml", LONG);
        let target = bed.target().to_string_lossy().into_owned();
        let run = ["run", "long.toml", "--target", &target];
        let mut child = start_ignoring(&bed, ignored, &run);
        bed.wait_for_intervals(1);
        signal(&child, name);
        assert_eq!(end(&mut child), Some(130), "SIG{name}");
    }
}

#[test]
fn a_comparison_ignores_signals_that_were_ignored_at_its_start() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("short.toml", SHORT.replace("run_time = 4", "run_time = 1"));
    let target = bed.target().to_string_lossy().into_owned();
    let targets = ["--target", &target, "--target", &target];
    let line = [&["compare"][..], &targets, &["short.toml"]].concat();
    let mut child = start_ignoring(&bed, "HUP INT", &line);
    wait_for("the first cell", || complete_cells(&bed) >= 1);
    signal(&child, "HUP");
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(0));
}

#[test]
fn ctrl_c_still_prints_the_record_to_standard_output() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("long.toml", LONG);
    let target = bed.target().to_string_lossy().into_owned();
    let mut command = bed.command(&[
        "run",
        "long.toml",
        "--target",
        &target,
        "--json",
        "-",
        "--quiet",
    ]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    bed.wait_for_intervals(1);
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["status"], "interrupted");
}

#[test]
fn ctrl_c_while_preparing_leaves_nothing() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("large.toml", LONG.replace("16m", "1g"));
    let target = bed.target().to_string_lossy().into_owned();
    let mut child = bed.start(&["run", "large.toml", "--target", &target]);
    wait_for("the test file", || !bed.left_in_target().is_empty());
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(130));
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let bed = ScratchTarget::new().unwrap();
    let mut child = measuring(&bed, &[]);
    signal(&child, "INT");
    signal(&child, "INT");
    let code = end(&mut child);
    assert!(code.is_none_or(|code| code == 130), "{code:?}");
    let output = bed.run(&["clean", &bed.target().to_string_lossy()]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
}

#[test]
fn leftovers_of_a_killed_run_are_found_and_removed() {
    let bed = ScratchTarget::new().unwrap();
    let mine = bed.target().join("mine");
    let mut child = measuring(&bed, &[]);
    std::fs::write(&mine, "precious").unwrap();
    signal(&child, "KILL");
    assert_eq!(end(&mut child), None);
    assert!(
        bed.left_in_target().len() > 1,
        "a killed run leaves its file"
    );
    let output = bed.run(&["clean", &bed.target().to_string_lossy()]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(bed.left_in_target(), ["mine"]);
    assert_eq!(std::fs::read(&mine).unwrap(), b"precious");
}

#[test]
fn the_files_of_a_running_run_are_not_cleaned() {
    let bed = ScratchTarget::new().unwrap();
    let mut child = measuring(&bed, &[]);
    let output = bed.run(&["clean", &bed.target().to_string_lossy()]);
    let left = bed.left_in_target();
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(130));
    assert!(!left.is_empty(), "{}", output.text());
}

#[test]
fn an_interrupted_run_in_a_terminal_ends_its_line() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("long.toml", LONG);
    let target = bed.target().to_string_lossy().into_owned();
    let run = bed.command(&["run", "long.toml", "--target", &target]);
    let line = format!(
        "'{}' run long.toml --target '{target}'",
        run.get_program().to_string_lossy()
    );
    if run_tool("script", &["--version"]).is_err() {
        end_to_end::skip!("`script` is not installed");
    }
    let mut command = Command::new("timeout");
    command.args([
        "--signal=INT",
        "4",
        "script",
        "--quiet",
        "--command",
        &line,
        "/dev/null",
    ]);
    command
        .current_dir(bed.path())
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    let output = end_to_end::finish(&mut command);
    assert!(!output.text().contains("panicked"), "{}", output.text());
}

const SHORT: &str = "size = \"4m\"\nrun_time = 4\nramp_time = 0\ncache = \"buffered\"\n\
    engine = \"psync\"\n[[access_spec]]\nname = \"Reads\"\n\
    line = [{ size = \"4k\", random = 100 }]\n";

/// How many cells of each of the newest runs are complete, the newest first.
fn complete_counts(bed: &ScratchTarget, runs: &[&str]) -> Vec<usize> {
    let count = |run: &&str| {
        let record: Value =
            serde_json::from_str(&bed.run(&["runs", "export", run]).stdout).unwrap();
        let cells = record["cells"].as_array().unwrap().iter();
        cells.filter(|cell| cell["status"] == "complete").count()
    };
    runs.iter().map(count).collect()
}

#[test]
fn ctrl_c_compares_the_complete_pairs_and_reports_the_missing_ones() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("short.toml", SHORT);
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "compare",
        "--target",
        &target,
        "--target",
        &target,
        "short.toml",
    ];
    let mut command = bed.command(&line);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A B B A: the third cell is over, and the fourth not.
    wait_for("three cells", || {
        let counts = complete_cells(&bed);
        counts >= 3
    });
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(130));
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let counts = complete_counts(&bed, &["@-2", "last"]);
    // On a busy machine the fourth may be over, too.
    assert!(counts.iter().sum::<usize>() >= 3, "{counts:?}");
    let is_unpaired = counts[0] != counts[1];
    assert_eq!(
        text.contains("compared without pairs"),
        is_unpaired,
        "{text}"
    );
    assert!(bed.left_in_target().is_empty());
}

/// How many cells the runs in the store have, while they go on.
fn complete_cells(bed: &ScratchTarget) -> u64 {
    let runs = bed.listed(&[]);
    runs.iter()
        .filter_map(|run| run["cell_count"].as_u64())
        .sum()
}
