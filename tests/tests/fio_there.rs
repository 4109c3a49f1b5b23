//! fio's jobs on files that are there before, and on all the room that there is.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use end_to_end::{Mount, Scratch, ScratchTarget, need};
use serde_json::Value;

/// Content that nobody would make by chance.
fn content() -> Vec<u8> {
    (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect()
}

fn json(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let arguments = [&["as", "fio", "--output-format=json"], arguments].concat();
    let output = bed.run(&arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    serde_json::from_str(&output.stdout).unwrap()
}

fn moved(document: &Value, job_index: usize, direction: &str) -> u64 {
    document["jobs"][job_index][direction]["io_bytes"]
        .as_u64()
        .unwrap()
}

#[test]
fn an_existing_file_is_read_to_its_end_and_never_written() {
    let bed = need!(ScratchTarget::in_memory());
    let path = bed.file("mine", content());
    let name = format!("--filename={}", path.display());
    let read = json(&bed, &["--name=r", "--rw=randread", &name]);
    assert_eq!(moved(&read, 0, "read"), 1 << 20);
    let half = json(
        &bed,
        &["--name=h", "--rw=read", "--size=50%", "--offset=25%", &name],
    );
    assert_eq!(moved(&half, 0, "read"), 1 << 19);
    let warm = json(&bed, &["--name=w", "--rw=read", "--pre_read=1", &name]);
    assert_eq!(moved(&warm, 0, "read"), 1 << 20);
    // As long as that one, but another.
    let written = json(&bed, &["--name=w", "--rw=write", "--bs=64k", &name]);
    assert_eq!(moved(&written, 0, "write"), 1 << 20);
    assert!(fs::read(&path).unwrap() == content());
}

#[test]
fn missing_files_and_devices_are_reported_with_their_line() {
    let bed = need!(ScratchTarget::new());
    let missing = bed.path().join("none");
    let job = |text: String| bed.file("j.fio", text).display().to_string();
    let file_job = job(format!("[a]\nrw=write\nfilename={}\n", missing.display()));
    bed.run(&["check", &file_job])
        .assert_refused(2, &["has no size, and its file", "j.fio:1", "size=1g"]);
    let device_job = job("[a]\nrw=read\nfilename=/dev/not-there\nsize=1m\n".to_owned());
    let target = bed.target().display().to_string();
    bed.run(&["check", &device_job])
        .assert_refused(2, &["`/dev/not-there` does not exist", "j.fio:3"]);
    // Another target stands for it.
    let output = bed.run(&["check", &device_job, "--target", &target]);
    assert_eq!(output.code, 0, "{}", output.text());
}

#[test]
fn fill_device_uses_all_free_space_and_later_jobs_read_it_all() {
    let scratch = need!(Scratch::new());
    let mount = need!(Mount::tmpfs(scratch.path(), 64 << 20));
    let bed = need!(ScratchTarget::with_target(mount.path()));
    let name = format!("--filename={}/all", mount.path().display());
    let line = [
        "--bs=64k",
        "--fill_device=1",
        &name,
        "--name=w",
        "--rw=write",
        "--name=r",
        "--stonewall",
        "--fill_device=0",
        "--rw=read",
    ];
    let document = json(&bed, &line);
    let written = moved(&document, 0, "write");
    // Some of it stays free.
    assert!((32 << 20..62 << 20).contains(&written), "{written}");
    assert_eq!(moved(&document, 1, "read"), written);
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 0);
}

#[test]
fn missing_cpus_are_an_error_that_names_lscpu() {
    let bed = need!(ScratchTarget::new());
    let target = format!("--directory={}", bed.target().display());
    let line = ["--name=a", "--size=1m", "--cpus_allowed=1000"];
    bed.run(&[&["as", "fio", &target], &line[..]].concat())
        .assert_refused(1, &["cannot run a worker on CPU 1000", "lscpu -e"]);
}
