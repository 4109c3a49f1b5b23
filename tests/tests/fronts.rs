//! The program in the place of mdtest, smallfile and IOR: outputs, counts, what is stored and left.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use end_to_end::{Bed, Finished, finish, names_in};
use serde_json::Value;

/// As the program with that name, in a target in memory.
fn stand_in(bed: &Bed, name: &str, arguments: &[&str]) -> Finished {
    bed.run(&[&["as", name], arguments].concat())
}

/// The first figure of a row of mdtest's table.
fn rate(text: &str, row: &str) -> f64 {
    let line = text.lines().find(|line| line.trim_start().starts_with(row));
    let figures = line.unwrap().trim_start().strip_prefix(row).unwrap();
    figures.split_whitespace().next().unwrap().parse().unwrap()
}

/// As the sample of the original, on two ranks.
#[test]
fn mdtest_prints_its_summary_and_the_run_is_stored() {
    let bed = Bed::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let arguments = ["-u", "-z", "2", "-b", "3", "-I", "20", "-w", "3901"];
    let more = ["-e", "3901", "--ranks", "2", "-i", "2", "-d", target];
    let seen = stand_in(&bed, "mdtest", &[&arguments[..], &more].concat());
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(seen.stdout.contains("\n2 tasks, 520 files/directories\n"));
    assert!(
        seen.stderr
            .contains("differ from mdtest 4.1.0; `--differences` lists them")
    );
    for row in [
        "Directory creation",
        "Directory stat",
        "Directory rename",
        "Directory removal",
        "File creation",
        "File stat",
        "File read",
        "File removal",
        "Tree creation",
        "Tree removal",
    ] {
        assert!(rate(&seen.stdout, row) > 0.0, "{row}");
    }
    assert!(bed.left_in_target().is_empty());
    let again = bed.run(&["report", "last", "--format", "classic"]);
    assert_eq!(again.stdout, seen.stdout);
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    let warnings = record["warnings"].as_array().unwrap();
    let code = "differs-from-original";
    assert!(warnings.iter().any(|it| it["code"] == code));
    // For each rank and iteration: 260 items, and a tree of 13 directories.
    let counts = record["cells"].as_array().unwrap().iter().map(|cell| {
        let phase = cell["phase"].as_str().unwrap();
        let count = cell["total"]["count"].as_u64().unwrap();
        (
            phase.starts_with("tree"),
            count,
            cell["total"]["errors"].clone(),
        )
    });
    for (is_tree, count, errors) in counts {
        assert_eq!(count, if is_tree { 52 } else { 1040 });
        assert_eq!(errors, 0);
    }
}

#[test]
fn what_differs_is_listed_and_what_is_not_done_is_refused() {
    let bed = Bed::in_memory().unwrap();
    let seen = stand_in(&bed, "mdtest", &["--differences", "-n", "5", "-T"]);
    assert_eq!(seen.code, 0);
    assert!(
        seen.stdout
            .contains("ranks differs: they are threads of one process\n")
    );
    assert!(seen.stdout.contains("made before, untimed"));
    let seen = stand_in(&bed, "mdtest", &["-n", "5", "-k"]);
    seen.assert_refused(1, &["`-k` makes files by mknod, which is not done here"]);
    let seen = stand_in(&bed, "smallfile", &["--operation", "readdir"]);
    seen.assert_refused(1, &["the operation `readdir` is not done here"]);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn smallfile_counts_files_and_writes_its_document() {
    let bed = Bed::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let json = bed.path().join("results.json");
    for operation in [
        "create", "append", "read", "stat", "rename", "delete", "mkdir", "rmdir",
    ] {
        let arguments = [
            "--no-db",
            "--operation",
            operation,
            "--files",
            "250",
            "--file-size",
            "16",
            "--stonewall",
            "N",
            "--output-json",
            json.to_str().unwrap(),
            "--top",
            target,
        ];
        let seen = stand_in(&bed, "smallfile", &arguments);
        assert_eq!(seen.code, 0, "{operation}: {}", seen.stderr);
        let lines: Vec<&str> = seen.stdout.lines().collect();
        assert!(lines.contains(&"total files = 500"), "{}", seen.stdout);
        let threads = lines.iter().filter(|line| line.contains(",files = 250,"));
        assert_eq!(threads.count(), 2, "{operation}");
        let document: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        assert_eq!(document["params"]["operation"], operation);
        assert_eq!(document["results"]["files"], 500);
    }
    assert!(bed.left_in_target().is_empty());
}

/// Of one file that ranks share, of files of their own, and of ranks that wait for each other.
#[test]
fn ior_moves_every_block_once_and_prints_its_summary() {
    let bed = Bed::in_memory().unwrap();
    let file = bed.target().join("testFile");
    for more in [
        &["-C", "-g"][..],
        &["-F", "-e", "-u", "-z"],
        &["-F", "-i", "2"],
    ] {
        let size = ["-b", "64k", "-t", "4k", "-s", "4", "-N", "3", "-o"];
        let arguments = [&size[..], &[file.to_str().unwrap()], more].concat();
        let seen = stand_in(&bed, "ior", &arguments);
        assert_eq!(seen.code, 0, "{}", seen.stderr);
        let lines: Vec<&str> = seen.stdout.lines().collect();
        assert!(lines.contains(&"aggregate filesize  : 786432 bytes"));
        let reads = lines.iter().filter(|line| line.starts_with("read "));
        let repetitions = if more.contains(&"-i") { 2 } else { 1 };
        assert_eq!(reads.count(), repetitions + 1, "{}", seen.stdout);
        assert!(bed.left_in_target().is_empty());
        let again = bed.run(&["report", "last", "--format", "classic"]);
        assert_eq!(again.stdout, seen.stdout);
        let record = bed.run(&["report", "last", "--format", "json"]);
        let record: Value = serde_json::from_str(&record.stdout).unwrap();
        for phase in ["write", "read"] {
            let cells = record["cells"].as_array().unwrap();
            let cell = cells.iter().find(|cell| cell["phase"] == phase).unwrap();
            let figures = &cell["operations"][phase];
            assert_eq!(figures["count"], 192 * repetitions, "{phase} of {more:?}");
            assert_eq!(figures["bytes"], 786_432 * repetitions);
            assert_eq!(figures["errors"], 0);
        }
    }
    let seen = stand_in(&bed, "ior", &["-R"]);
    seen.assert_refused(1, &["`-R` checks what was read, which is not done here"]);
}

#[test]
fn a_link_of_the_programs_name_stands_in_for_it() {
    let bed = Bed::in_memory().unwrap();
    let link = bed.path().join("mdtest");
    symlink(bed.command(&[]).get_program(), &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["--no-db", "-n", "5", "-F", "-C", "-d"]);
    let seen = finish(command.arg(bed.target()));
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(seen.stdout.contains("\n1 tasks, 5 files\n"));
    assert!(names_in(bed.target()).is_empty());
}
