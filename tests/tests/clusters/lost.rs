//! Runs that lose one of their processes: nothing hangs, no file is left, and the loss is reported.

use std::time::Duration;

use crate::site::{HANG_TIMEOUT, RelayHosts};

/// Message that the second process has just received or is about to send.
const STATES: [&str; 6] = [
    "order:hello",
    "order:prepare",
    "report:armed",
    "order:start",
    "report:measured",
    "order:clean",
];

#[test]
fn a_leader_that_is_killed_leaves_no_file_and_no_worker() {
    for state in STATES {
        let site = RelayHosts::new(&[&format!("rule b {state} kill-leader")]);
        let (output, _) = site.run("a,b", &["files.toml"]);
        assert_eq!(output.code, 137, "{state}: {}", output.text());
        site.wait_for_workers();
        let left = site.bed.left_in_target();
        assert!(left.is_empty(), "{state}: {left:?}");
    }
}

#[test]
fn a_killed_worker_or_ssh_command_is_reported_and_leaves_no_file() {
    for (state, what) in STATES
        .iter()
        .flat_map(|it| [(it, "kill-worker"), (it, "kill-command")])
    {
        let site = RelayHosts::new(&[&format!("rule b {state} {what}")]);
        let (output, took) = site.run("a,b", &["files.toml"]);
        let context = format!("{what} at {state}, {took:?}: {}", output.text());
        assert!(took < HANG_TIMEOUT + Duration::from_secs(2), "{context}");
        // Results are kept if a process is lost after its report.
        let is_measured =
            *state == "order:clean" || (*state, what) == ("report:measured", "kill-worker");
        assert_eq!(output.code, if is_measured { 0 } else { 3 }, "{context}");
        if !is_measured {
            assert!(output.stderr.contains("rank 1"), "{context}");
            assert!(!output.stderr.contains("panicked"), "{context}");
        }
        site.wait_for_workers();
        let left = site.bed.left_in_target();
        assert!(left.is_empty(), "{context}: {left:?}");
        let record = site.stored();
        match *state {
            // It may have answered before it was killed: then the run has begun.
            "order:hello" if record.is_null() => {}
            _ if is_measured => assert_eq!(record["status"], "complete", "{context}"),
            _ => {
                assert_eq!(record["status"], "failed", "{context}");
                let warnings = record["warnings"].to_string();
                assert!(warnings.contains("rank-lost"), "{context}: {warnings}");
            }
        }
    }
}

#[test]
fn a_process_lost_while_probing_targets_is_reported() {
    for what in ["kill-worker", "kill-command", "cut"] {
        let site = RelayHosts::new(&[&format!("rule a order:probe {what}")]);
        let (output, took) = site.run("a,b", &["files.toml"]);
        output.assert_refused(3, &["rank 0"]);
        assert!(took < HANG_TIMEOUT, "{what}: {took:?}");
        site.wait_for_workers();
        assert!(site.bed.left_in_target().is_empty(), "{what}");
    }
}

#[test]
fn clean_removes_the_files_of_a_killed_first_worker() {
    for state in ["order:prepare", "order:start", "order:clean"] {
        let site = RelayHosts::new(&[&format!("rule a {state} kill-worker")]);
        let (output, took) = site.run("a,b", &["files.toml"]);
        assert!(
            took < HANG_TIMEOUT + Duration::from_secs(2),
            "{state}: {took:?}"
        );
        site.wait_for_workers();
        let record = site.stored();
        let warnings = record["warnings"].to_string();
        assert!(
            warnings.contains("pgmeter clean"),
            "{state}: {}",
            output.text()
        );
        let target = site.bed.target().to_string_lossy().into_owned();
        site.bed
            .run(&["clean", "--yes", &target])
            .assert_says(0, &[]);
        let left = site.bed.left_in_target();
        assert!(left.is_empty(), "{state}: {left:?}");
    }
}

#[test]
fn a_stopped_worker_is_lost_and_cleans_up_when_it_continues() {
    let site = RelayHosts::new(&["rule b order:start stop-worker"]);
    let (output, took) = site.run("a,b", &["files.toml", "--run-time", "30s"]);
    output.assert_says(3, &["rank 1", "sent nothing for 5 s", "--on-lost continue"]);
    assert!(took < HANG_TIMEOUT, "{took:?}");
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
}

#[test]
fn on_lost_continue_keeps_the_other_processes_running() {
    let site = RelayHosts::new(&["rule b order:start stop-worker"]);
    let more = ["files.toml", "--run-time", "9s", "--on-lost", "continue"];
    let (output, _) = site.run("a,b", &more);
    assert_eq!(output.code, 1, "{}", output.text());
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
    let record = site.stored();
    assert_eq!(record["status"], "complete");
    let cell = &record["cells"][0];
    assert_eq!(cell["status"], "interrupted");
    let ranks = cell["crew"]["ranks"].as_array().unwrap();
    assert!(ranks[0]["count"].as_u64().unwrap() > 0);
    assert_eq!(ranks[0]["count"], cell["total"]["count"]);
    assert!(
        ranks[1]["lost_ns"].as_u64().unwrap() > 4_000_000_000,
        "{ranks:?}"
    );
    let output = site.bed.run(&["runs", "show", "last"]);
    assert!(output.stdout.contains("rank-lost"), "{}", output.text());
}

#[test]
fn a_connection_that_is_cut_ends_both_sides() {
    let site = RelayHosts::new(&["rule b order:start cut"]);
    let (output, took) = site.run("a,b", &["files.toml", "--run-time", "60s"]);
    output.assert_says(3, &["rank 1", "sent nothing for 5 s"]);
    assert!(took < HANG_TIMEOUT, "{took:?}");
    // Only the silence shows the worker that the leader is gone.
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
}
