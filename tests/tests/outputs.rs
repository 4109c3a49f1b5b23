//! Requested output files are either complete or absent, and no result is lost with them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;

use end_to_end::{Mount, ScratchTarget, names_in, need};
use serde_json::Value;

const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"100ms\"\nramp_time = \"0s\"\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\" }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    bed
}

fn record(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The one file here whose name ends so.
fn only(directory: &Path, ending: &str) -> String {
    let names = names_in(directory);
    let mut found = names.iter().filter(|name| name.ends_with(ending));
    let only = found.next().unwrap_or_else(|| panic!("{names:?}")).clone();
    assert_eq!(found.next(), None, "{names:?}");
    only
}

#[test]
fn results_are_shown_and_kept_if_outputs_cannot_be_written() {
    let bed = bed();
    let output = bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-db",
        "--no-html",
        "--json",
        "/dev/full",
        "--csv",
        "o.csv",
    ]);
    output.assert_refused(
        1,
        &[
            "cannot write `/dev/full`: No space left",
            "the run's record is in `",
        ],
    );
    assert!(output.stdout.contains("Nothing"), "{}", output.text());
    assert!(bed.path().join("o.csv").exists(), "{}", output.text());
    let name = only(bed.path(), ".json");
    assert_eq!(record(&bed.path().join(name))["status"], "complete");

    let output = bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--json",
        "/dev/full",
    ]);
    output.assert_refused(
        1,
        &[
            "cannot write `/dev/full`",
            "in the results store: `pgmeter show",
        ],
    );
    assert!(output.stdout.contains("Nothing"), "{}", output.text());
    only(bed.path(), ".json");
}

#[test]
fn a_full_disk_loses_no_result_and_leaves_no_file() {
    let bed = bed();
    let full = bed.path().join("full");
    fs::create_dir(&full).unwrap();
    let _mount = need!(Mount::tmpfs(&full, 64 << 10));
    let _ = fs::write(full.join("filling"), vec![1; 1 << 20]);
    let temporary = full.to_string_lossy().into_owned();
    let names = names_in(&full);
    let run = |arguments: &[&str]| {
        let all = [&["run", "../null.toml", "--quiet", "--no-html"], arguments].concat();
        let mut command = bed.command(&all);
        // Neither here nor where temporary files are can anything be written.
        command.current_dir(&full).env("TMPDIR", &temporary);
        end_to_end::finish(&mut command)
    };
    let output = run(&["--no-db", "--json", "o.json", "--csv", "o.csv"]);
    let phrases = [
        "cannot write `o.json`: No",
        "cannot write `o.csv`",
        "on standard output",
    ];
    output.assert_refused(1, &phrases);
    let (table, document) = output.stdout.split_at(output.stdout.find("\n{").unwrap());
    assert!(table.contains("Nothing"), "{}", output.text());
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["status"], "complete");
    assert_eq!(names_in(&full), names);

    let output = run(&["--db", "../null.toml", "--csv", "-"]);
    output.assert_says(
        1,
        &[
            "warning: the run is not in the results store",
            "the run's record follows",
        ],
    );
    assert!(
        output.stderr.contains("\"status\": \"complete\""),
        "{}",
        output.text()
    );
    assert_eq!(names_in(&full), names);
}

#[test]
fn every_output_file_is_complete_or_absent() {
    let bed = bed();
    let full = bed.path().join("full");
    fs::create_dir(&full).unwrap();
    bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--json",
        "r.json",
    ]);
    let _mount = need!(Mount::tmpfs(&full, 16 << 10));
    let _ = fs::write(full.join("filling"), vec![1; 1 << 20]);
    for arguments in [
        &["report", "r.json", "--format", "html"][..],
        &["convert", "null.toml", "--to", "toml"],
        &["compare", "r.json", "r.json"],
        &["runs", "export", "last"],
    ] {
        let output = bed.run(&[arguments, &["-o", "full/x"]].concat());
        output.assert_refused(3, &["cannot write `full/x`: No space left"]);
        assert_eq!(names_in(&full), ["filling"], "{arguments:?}");
    }
}

#[test]
fn draft_files_of_killed_runs_do_not_block_other_runs() {
    let bed = bed();
    // In containers numbers of processes repeat: every run may be number 1.
    for number in 1..=4096 {
        bed.file(&format!("o.json.part-{number}"), "");
    }
    let mut command = bed.command(&["run", "null.toml", "--quiet", "--json", "o.json"]);
    command.arg("--run-time").arg("30s");
    let mut child = command.spawn().unwrap();
    let before = names_in(bed.path()).len();
    end_to_end::wait_for("the run", || {
        names_in(bed.path()).contains(&".store".to_owned())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(names_in(bed.path()).len() <= before + 1);
    assert!(!names_in(bed.path()).contains(&"o.json".to_owned()));
    let output = bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--json",
        "o.json",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(record(&bed.path().join("o.json"))["status"], "complete");
}

#[test]
fn an_output_that_is_not_a_regular_file_is_written_in_place() {
    let bed = bed();
    let output = bed.run(&["convert", "null.toml", "--to", "toml", "-o", "/dev/stdout"]);
    assert!(
        output.code == 0 && output.stdout.contains("Nothing"),
        "{}",
        output.text()
    );
    let output = bed.run(&["convert", "null.toml", "--to", "toml", "-o", "/dev/stderr"]);
    assert!(
        output.code == 0 && output.stderr.contains("Nothing"),
        "{}",
        output.text()
    );
    let output = bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--json",
        "/dev/stdout",
        "--no-html",
    ]);
    let read: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(read["status"], "complete");
    let output = bed.run(&["convert", "null.toml", "--to", "toml", "-o", "target"]);
    output.assert_refused(2, &["cannot write `target`: it is a directory"]);
}

#[test]
fn an_output_link_stays_and_its_target_is_replaced() {
    let bed = bed();
    bed.file("real.json", "old");
    std::os::unix::fs::symlink("real.json", bed.path().join("link.json")).unwrap();
    let output = bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--json",
        "link.json",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(bed.path().join("link.json").is_symlink());
    assert_eq!(record(&bed.path().join("real.json"))["status"], "complete");
    let output = bed.run(&["report", "real.json", "-o", "link.json"]);
    output.assert_refused(2, &["already exists", "choose another name"]);
}
