//! Runs that several processes share and that are ended, or cannot go on.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::site::{HANG_TIMEOUT, RelayHosts};
use end_to_end::{Mount, need, run_tool, wait_for};

/// Starts a long run by two hosts and waits until both measure.
fn measuring(site: &RelayHosts) -> Child {
    let arguments = site.arguments("a,b", &["files.toml", "--run-time", "60s"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let child = site.bed.start(&arguments);
    site.bed.wait_for_intervals(1);
    child
}

fn signal(child: &Child, name: &str) {
    run_tool("kill", &[&format!("-{name}"), &child.id().to_string()]).unwrap();
}

fn end(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(
            begun.elapsed() < HANG_TIMEOUT,
            "did not end within {HANG_TIMEOUT:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_keeps_the_figures_of_all_processes_and_removes_their_files() {
    for name in ["INT", "TERM"] {
        let site = RelayHosts::new(&[]);
        let mut child = measuring(&site);
        signal(&child, name);
        assert_eq!(end(&mut child), Some(130), "SIG{name}");
        site.wait_for_workers();
        assert!(site.bed.left_in_target().is_empty());
        let record = site.stored();
        assert_eq!(record["status"], "interrupted");
        let cell = &record["cells"][0];
        let ranks = cell["crew"]["ranks"].as_array().unwrap();
        let counts = ranks.iter().map(|it| it["count"].as_u64().unwrap());
        assert!(counts.clone().all(|count| count > 0), "{ranks:?}");
        assert_eq!(
            counts.sum::<u64>(),
            cell["total"]["count"].as_u64().unwrap()
        );
    }
}

#[test]
fn a_second_ctrl_c_ends_the_leader_at_once_and_the_workers_clean_up() {
    // It does not answer, so that the leader waits for it.
    let site = RelayHosts::new(&["rule b order:stop stop-worker"]);
    let mut child = measuring(&site);
    signal(&child, "INT");
    wait_for("the first signal's effect", || {
        site.log().iter().any(|line| line[1] == "stop-worker")
    });
    let begun = Instant::now();
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(130));
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
}

#[test]
fn ctrl_c_keeps_the_figures_of_the_processes_that_answer() {
    let site = RelayHosts::new(&["rule b order:stop stop-worker"]);
    let mut child = measuring(&site);
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(130));
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
    let record = site.stored();
    assert_eq!(record["status"], "interrupted");
    let ranks = record["cells"][0]["crew"]["ranks"].as_array().unwrap();
    assert!(ranks[0]["count"].as_u64().unwrap() > 0);
    assert!(ranks[1]["lost_ns"].is_u64());
}

#[test]
fn ctrl_c_ends_processes_that_are_preparing() {
    let site = RelayHosts::new(&[]);
    let large = crate::site::FILES.replace("\"4m\"", "\"1g\"");
    site.bed.file("large.toml", large);
    let arguments = site.arguments("a,b", &["large.toml"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = site.bed.start(&arguments);
    wait_for("files", || !site.bed.left_in_target().is_empty());
    signal(&child, "INT");
    assert_eq!(end(&mut child), Some(130));
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
}

#[test]
fn a_terminated_worker_removes_its_files() {
    let site = RelayHosts::new(&[]);
    let mut child = measuring(&site);
    let log = site.log();
    let entry = log.iter().find(|line| line[0] == "b").unwrap();
    run_tool("kill", &["-TERM", &entry[2]]).unwrap();
    assert_eq!(end(&mut child), Some(3));
    let warnings = site.stored()["warnings"].to_string();
    assert!(warnings.contains("was ended there"), "{warnings}");
    site.wait_for_workers();
    assert!(site.bed.left_in_target().is_empty());
}

#[test]
fn a_full_disk_of_one_process_is_reported_and_nothing_is_left() {
    // Both see the same directory, which has room for the file of one.
    let site = RelayHosts::new(&[]);
    let small = site.bed.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = need!(Mount::tmpfs(&small, 6 << 20));
    let carrier = site.carrier("work");
    let target = small.to_string_lossy().into_owned();
    let run = ["run", "files.toml", "--target", &target, "--hosts", "a,b"];
    let begun = Instant::now();
    let output = site
        .bed
        .run(&[&run[..], &["--ssh", &carrier, "--quiet"]].concat());
    assert!(begun.elapsed() < HANG_TIMEOUT + Duration::from_secs(2));
    output.assert_refused(output.code, &["rank "]);
    assert!(output.code == 2 || output.code == 3, "{}", output.text());
    site.wait_for_workers();
    assert!(end_to_end::names_in(&small).is_empty());
    drop(mount);
}

#[test]
fn a_disk_that_fills_up_while_files_are_made_is_counted_as_errors() {
    let site = RelayHosts::new(&[]);
    let small = site.bed.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = need!(Mount::tmpfs(&small, 4 << 20));
    site.bed.file("writes.toml", WRITES);
    let carrier = site.carrier("work");
    let target = small.to_string_lossy().into_owned();
    let run = ["run", "writes.toml", "--target", &target, "--hosts", "a,b"];
    let output = site
        .bed
        .run(&[&run[..], &["--ssh", &carrier, "--quiet"]].concat());
    assert!(!output.stderr.contains("panicked"), "{}", output.text());
    assert_ne!(output.code, 0, "{}", output.text());
    site.wait_for_workers();
    assert!(end_to_end::names_in(&small).is_empty());
    drop(mount);
}

/// Files of more bytes than there is room for.
const WRITES: &str = "engine = \"psync\"\ncache = \"buffered\"\n[files]\ncount = 200\n\
    size = \"256k\"\n";

#[test]
fn a_remote_program_other_than_pgmeter_is_an_error_with_its_output() {
    let site = RelayHosts::new(&[]);
    let target = site.bed.target().to_string_lossy().into_owned();
    let scripts = [
        ("yes", "exec yes\n", "`y`"),
        ("zeros", "exec cat /dev/zero\n", "is not pgmeter"),
        (
            "refuses",
            "echo 'Permission denied (publickey).' >&2; exit 255\n",
            "Permission denied",
        ),
        ("colors", "printf '\\033[2Jhello\\n'; exit 1\n", "hello"),
        (
            "wrong",
            "printf '\\000pgmeter crew\\n\\003\\000\\000\\000\\001{}'; sleep 1\n",
            "sent",
        ),
        (
            "huge",
            "printf '\\000pgmeter crew\\n\\377\\377\\377\\377\\001{}'; sleep 1\n",
            "bytes",
        ),
        (
            "half",
            "printf '\\000pgmeter crew\\n\\377\\000\\000\\000\\001{}'; exit 0\n",
            "broke off",
        ),
    ];
    for (name, text, phrase) in scripts {
        let path = site.bed.file(name, format!("#!/bin/sh\n{text}"));
        run_tool("chmod", &["700", &path.to_string_lossy()]).unwrap();
        let carrier = path.to_string_lossy().into_owned();
        let begun = Instant::now();
        let run = ["run", "files.toml", "--target", &target, "--hosts", "a"];
        let output = site.bed.run(&[&run[..], &["--ssh", &carrier]].concat());
        assert!(
            begun.elapsed() < HANG_TIMEOUT,
            "{name}: {:?}",
            begun.elapsed()
        );
        output.assert_refused(3, &["rank 0", phrase]);
        assert!(
            !output.stderr.contains('\u{1b}') && output.stderr.len() < 2000,
            "{name}"
        );
        assert!(site.bed.left_in_target().is_empty());
    }
}

#[test]
fn a_missing_ssh_program_is_an_error() {
    let site = RelayHosts::new(&[]);
    let target = site.bed.target().to_string_lossy().into_owned();
    let run = ["run", "files.toml", "--target", &target, "--hosts", "a,b"];
    let output = site
        .bed
        .run(&[&run[..], &["--ssh", "/nonexistent/ssh"]].concat());
    output.assert_refused(3, &["cannot start", "/nonexistent/ssh"]);
}
