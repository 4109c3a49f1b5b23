//! Recordings of the system calls of programs, beside those of strace.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write;
use std::process::{Command, Stdio};

use end_to_end::{ScratchTarget, installed, need, run_within, wait_for};
use serde_json::Value;

/// Programs that make, write, read, rename and remove files, in processes of their own.
const PROGRAM: &str = "mkdir d
dd if=/dev/zero of=d/a bs=4096 count=50 conv=fsync status=none
dd if=d/a of=d/b bs=1000 skip=3 count=7 status=none
(cat d/a; cat d/b) > d/c
mv d/c d/e
cat d/missing 2>/dev/null
rm -r d";

/// Name, count, failures and bytes of the calls of a trace, except those that run programs, which
/// strace begins differently.
fn calls(bed: &ScratchTarget, file: &str) -> Vec<(String, [u64; 3])> {
    let output = bed.run(&["check", file, "--json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let call = |call: &Value| {
        let number = |key: &str| call[key].as_u64().unwrap();
        let name = call["name"].as_str().unwrap().to_owned();
        (name, ["count", "failed", "bytes"].map(number))
    };
    let all = document["system_calls"].as_array().unwrap().iter();
    let mut calls: Vec<_> = all.map(call).filter(|(name, _)| name != "execve").collect();
    calls.sort();
    calls
}

#[test]
fn a_recording_has_every_call_on_files_that_strace_has() {
    need!(installed("strace"));
    let bed = ScratchTarget::in_memory().unwrap();
    let line = [
        "-f",
        "-ttt",
        "-T",
        "-y",
        "-o",
        "strace.txt",
        "sh",
        "-c",
        PROGRAM,
    ];
    let mut strace = Command::new("strace");
    strace.args(line).current_dir(bed.path());
    let limit = std::time::Duration::from_secs(60);
    assert_eq!(run_within(&mut strace, limit).unwrap().code, 0);
    let output = bed.run(&["record", "-o", "own.txt", "--", "sh", "-c", PROGRAM]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("next: `pgmeter check own.txt`"),
        "{}",
        output.text()
    );
    let own = calls(&bed, "own.txt");
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["openat", "read", "write", "close", "fsync"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let mut wanted = calls(&bed, "strace.txt");
    wanted.retain(|(name, _)| names.contains(&name.as_str()));
    assert_eq!(own, wanted);
}

#[test]
fn processes_that_run_already_are_recorded_until_they_end() {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("a", vec![b'x'; 5000]);
    let mut program = Command::new("sh");
    program.args(["-c", "read line; dd if=a of=b bs=5000 status=none"]);
    program.current_dir(bed.path()).stdin(Stdio::piped());
    let mut program = program.spawn().unwrap();
    let pid = program.id().to_string();
    let recording = bed.start(&["record", "--pid", &pid, "-o", "a.txt"]);
    wait_for("the process to be traced", || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        !status.contains("TracerPid:\t0\n")
    });
    program.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(program.wait().unwrap().success());
    let output = recording.wait_with_output().unwrap();
    assert!(output.status.success());
    let calls = calls(&bed, "a.txt");
    let write = calls.iter().find(|(name, _)| name == "write").unwrap();
    assert_eq!(write.1, [1, 0, 5000]);
}

#[test]
fn a_command_continues_after_the_end_of_its_recording() {
    let bed = ScratchTarget::in_memory().unwrap();
    let program = "for i in 1 2 3 4 5; do sleep 0.2; done; echo > finished";
    let line = [
        "record", "--for", "300ms", "-o", "a.txt", "--", "sh", "-c", program,
    ];
    let output = bed.run(&line);
    output.assert_says(0, &["the command is still running"]);
    wait_for("the command to finish", || {
        bed.path().join("finished").exists()
    });
}

#[test]
fn what_cannot_be_recorded_is_named() {
    let bed = ScratchTarget::in_memory().unwrap();
    let refused = |more: &[&str], phrases: &[&str]| {
        bed.run(&[&["record", "-o", "a.txt"], more].concat())
            .assert_refused(2, phrases);
        assert!(!bed.path().join("a.txt").exists());
    };
    refused(&[], &["nothing to record was given", "--pid PID"]);
    refused(
        &["--", "no-such-program"],
        &["there is no program `no-such-program`"],
    );
    refused(
        &["--layer", "issue", "--", "true"],
        &["belong to devices", "--target"],
    );
    refused(
        &["--layer", "calls", "--target", "."],
        &["belongs to programs", "leave out `--device`"],
    );
    let output = bed.run(&["record", "-o", "a.txt", "--pid", "2147483646"]);
    output.assert_refused(3, &["cannot trace process 2147483646", "it may have ended"]);
}
