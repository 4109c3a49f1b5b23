//! The guides are right: their commands run as they are written.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod documents;

use documents::{DocumentShell, blocks, commands, document};
use end_to_end::DBENCH_CALLS;

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
