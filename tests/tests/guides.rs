//! The guides are right: their commands run as they are written.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod documents;

use documents::{DocumentShell, blocks, commands, document};
use end_to_end::{DBENCH_CALLS, ScratchTarget, finish};

/// Parts of commands, each with what takes less time or exists on this machine.
const SHORTER: [(&str, &str); 16] = [
    ("--runtime=10 ", "--runtime=1 "),
    ("--size=1g", "--size=8m"),
    ("-t 10 4", "-t 1 4"),
    ("--set number=2000 --run-time", "--set number=10 --run-time"),
    ("--set number=2000", "--set number=100"),
    ("--set transactions=50000", "--set transactions=500"),
    ("--set transactions=5000", "--set transactions=50"),
    ("fsync=per-file ", "fsync=per-file --set number=20 "),
    // It adapts the number of files to the speed of the disk.
    ("as lat_fs ", "as lat_fs --differences "),
    ("run lat-fs ", "run lat-fs --set lat_fs.budget=100ms "),
    ("--total-size 2g", "--total-size 8m"),
    ("--repetitions 5", "--repetitions 2"),
    ("--repetitions 3", "--repetitions 1"),
    ("mpirun -n 64", "mpirun -n 4"),
    // Ids of runs that a reader has stored.
    ("20261129-080848", "@-2"),
    ("20260301-020005", "@-2"),
];
/// Parts of commands that no test runs, with the reason.
const SKIPPED: [(&str, &str); 6] = [
    ("/dev/sdx", "erases a disk"),
    ("--hosts ", "needs hosts, which the tests of `hosts` have"),
    ("fallocate ", "prepares a mount"),
    ("mkfs.ext4 ", "prepares a mount"),
    (
        "sudo mount ",
        "the tests have directories instead of mounts",
    ),
    ("sudo mkdir ", "prepares a mount"),
];

/// The commands of a document that run here.
fn runnable(text: &str, shell: &DocumentShell) -> Vec<String> {
    let mut found = Vec::new();
    for command in commands(text) {
        let mut command = command;
        for (part, replaced) in SHORTER {
            command = command.replace(part, replaced);
        }
        if let Some((_, reason)) = SKIPPED.iter().find(|(part, _)| command.contains(part)) {
            println!("left out: `{command}`: {reason}");
            continue;
        }
        let directory = |name: &str| shell.bed().path().join(name).display().to_string();
        found.push(
            command
                .replace("/mnt/test", &shell.bed().target().display().to_string())
                .replace("/mnt/", &format!("{}/", directory("mnt"))),
        );
    }
    found
}

fn shell() -> DocumentShell {
    let shell = DocumentShell::new();
    for name in ["a", "b", "old", "new", "shared"] {
        std::fs::create_dir_all(shell.bed().path().join("mnt").join(name)).unwrap();
    }
    shell
}

#[test]
fn commands_for_users_of_other_programs_run_as_written() {
    let text = document("docs/coming-from.md");
    let shell = shell();
    shell.bed().file("client.txt", DBENCH_CALLS);
    let commands = runnable(&text, &shell);
    assert!(commands.len() >= 30, "{commands:?}");
    shell.run(&commands);
}

#[test]
fn the_tutorial_runs_as_written() {
    let text = document("docs/tutorial.md");
    let shell = shell();
    shell.bed().file("mine.toml", &blocks(&text, "toml")[0]);
    let commands = runnable(&text, &shell);
    assert!(commands.len() >= 15, "{commands:?}");
    shell.run(&commands);
}

/// A session of PostMark, as printed in 2001, with the work of the first table of 1999.
fn report_of_2001(bed: &ScratchTarget) -> String {
    let commands = "set number 1000\nset transactions 50000\nset location target\nshow\nrun\n";
    bed.file("commands", commands);
    let mut command = bed.command(&["as", "postmark", "commands"]);
    let output = finish(command.stdin(std::process::Stdio::null()));
    assert_eq!(output.code, 0, "{}", output.text());
    output.stdout
}

#[test]
fn four_commands_lead_from_a_text_of_2001_and_a_run_to_a_ranking() {
    let text = document("docs/board.md");
    let shell = shell();
    let bed = shell.bed();
    // The table ranks only the whole work, so nothing is shortened.
    let program = bed.command(&[]).get_program().to_owned();
    let program = program.to_string_lossy();
    bed.script(
        "bin/pgmeter",
        format!("#!/bin/sh\nexec '{program}' \"$@\"\n"),
    );
    bed.file("postmark.txt", report_of_2001(bed));
    let commands = runnable(&text, &shell);
    assert_eq!(commands.len(), 4, "{commands:?}");
    shell.run(&commands);
    let site = std::fs::read_to_string(bed.path().join("site/board.json")).unwrap();
    let site: serde_json::Value = serde_json::from_str(&site).unwrap();
    let tables = site["tables"].as_array().unwrap();
    let table = tables.iter().find(|it| it["name"] == "netapp-postmark-1");
    let places = table.unwrap()["places"].as_array().unwrap();
    let year = |title: &str| {
        let place = places.iter().find(|it| it["title"] == title);
        place.unwrap()["year"].as_str().unwrap().to_owned()
    };
    assert_eq!(year("Server of 2001"), "2001");
    assert_ne!(year("My system"), "2001");
    // 21 published systems and these two.
    assert_eq!(places.len(), 23);
    for title in ["server-of-2001", "my-system"] {
        assert!(
            bed.path()
                .join(format!("site/submissions/{title}.html"))
                .is_file()
        );
    }
}

#[test]
fn the_guides_by_task_run_as_written() {
    let text = document("docs/how-to.md");
    let shell = shell();
    let job = blocks(&text, "ini")[0].replace("size=1g", "size=8m");
    shell.bed().file("job.fio", job);
    let commands = runnable(&text, &shell);
    assert!(commands.len() >= 30, "{commands:?}");
    shell.run(&commands);
}
