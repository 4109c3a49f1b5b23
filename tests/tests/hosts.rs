//! Runs that processes on several hosts share, here all on this one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "hosts/managers.rs"]
mod managers;

use std::fs;

use end_to_end::{ScratchTarget, finish, need, wait_for};
use serde_json::Value;

const READS: &str = "size = \"4m\"\nengine = \"psync\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", random = 100 }]\n";

/// A command instead of ssh: it runs the program here, and records the process of each host.
fn ssh(bed: &ScratchTarget) -> String {
    let program = bed
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    let script = format!(
        "#!/bin/sh\necho $$ > {}/pid-\"$1\"\nshift 2\nexec {program} \"$@\"\n",
        bed.path().display()
    );
    bed.script("ssh", script)
}

/// A host instead of ssh: a shell that runs the given command, with its own directory for temporary
/// files.
fn shell(bed: &ScratchTarget) -> String {
    let directory = bed.path().join("elsewhere");
    fs::create_dir(&directory).unwrap();
    let script = format!(
        "#!/bin/sh\nshift\nexport TMPDIR={}\neval \"$*\"\n",
        directory.display()
    );
    bed.script("shell", script)
}

#[test]
fn the_program_is_copied_for_the_run_and_removed() {
    let bed = need!(ScratchTarget::new());
    bed.file("reads.toml", READS);
    let shell = shell(&bed);
    let hosts = ["--hosts", "a,b,a", "--ssh", &shell, "--copy-binary"];
    let (output, record) = bed.record(&[&["reads.toml"], &hosts[..]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(record["crew"]["ranks"], 3);
    assert!(end_to_end::names_in(&bed.path().join("elsewhere")).is_empty());
}

#[test]
fn no_copy_stays_if_another_host_refuses_or_the_first_process_is_killed() {
    let bed = need!(ScratchTarget::new());
    bed.file("reads.toml", READS);
    let directory = bed.path().join("elsewhere");
    let shell = shell(&bed);
    let choosy = bed.script(
        "choosy",
        format!("#!/bin/sh\n[ \"$1\" = b ] && exit 1\nexec {shell} \"$@\"\n"),
    );
    let hosts = ["--hosts", "a,b", "--ssh", &choosy, "--copy-binary"];
    let output = bed.measure(&[&["reads.toml"], &hosts[..]].concat());
    assert_eq!(output.code, 3, "{}", output.text());
    wait_for("no copy", || end_to_end::names_in(&directory).is_empty());
    // A host that takes the program and never starts it.
    let slow = bed.script(
        "slow",
        format!("#!/bin/sh\ncase \"$*\" in *worker) exec sleep 60;; esac\nexec {shell} \"$@\"\n"),
    );
    for signal in ["-KILL", "-TERM"] {
        let arguments = [
            "run",
            "reads.toml",
            "--hosts",
            "a",
            "--ssh",
            &slow,
            "--copy-binary",
            "--no-db",
        ];
        let mut command = bed.command(&arguments);
        command.stdout(std::process::Stdio::null());
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        wait_for("a copy", || !end_to_end::names_in(&directory).is_empty());
        end_to_end::run_tool("kill", &[signal, &child.id().to_string()]).unwrap();
        child.wait().unwrap();
        wait_for("no copy", || end_to_end::names_in(&directory).is_empty());
    }
}

#[test]
fn a_host_that_refuses_the_copy_is_reported_with_its_message() {
    let bed = need!(ScratchTarget::new());
    bed.file("reads.toml", READS);
    let ssh = bed.script(
        "ssh",
        "#!/bin/sh\nprintf '\\n\\033[31mno space\\n' >&2\nexit 1\n",
    );
    let hosts = ["--hosts", "a", "--ssh", &ssh, "--copy-binary"];
    let output = bed.measure(&[&["reads.toml"], &hosts[..]].concat());
    let message = "`a` did not accept a copy of the program: its command printed \
                `\\u{1b}[31mno space`";
    output.assert_refused(3, &[message, "help: check that `ssh HOST` works"]);
}

#[test]
fn under_a_launcher_only_the_first_process_refuses_hosts() {
    let bed = need!(ScratchTarget::new());
    bed.file("reads.toml", READS);
    let below = |rank: &str, count: &str| {
        let mut command = bed.command(&["run", "reads.toml", "--hosts", "a", "--ssh", "false"]);
        command.env("OMPI_COMM_WORLD_SIZE", count);
        finish(command.env("OMPI_COMM_WORLD_RANK", rank))
    };
    below("0", "4").assert_refused(
        2,
        &[
            "`--hosts` has processes started by ssh, but Open MPI has started 4 processes already",
            "help: leave `--hosts` out, or start `pgmeter` without the launcher",
        ],
    );
    let other = below("3", "4");
    assert_eq!(
        (other.code, other.stdout + &other.stderr),
        (2, String::new())
    );
    // One process alone is no job.
    below("0", "1").assert_refused(3, &["rank 0"]);
}

#[test]
fn hosts_are_measured_until_their_total_is_steady() {
    let bed = need!(ScratchTarget::new());
    let workload = READS.replace("engine = \"psync\"", "engine = \"null\"");
    bed.file("null.toml", workload);
    let ssh = ssh(&bed);
    let steady = [
        "--until",
        "steady",
        "--set",
        "steady.rounds=8",
        "--hosts",
        "a,b",
    ];
    let (output, record) = bed.record(&[&["null.toml", "--ssh", &ssh], &steady[..]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let cell = &record["cells"][0];
    assert_eq!(cell["status"], "complete");
    assert_ne!(cell["steady"]["verdict"], "not-yet");
    let rounds = cell["steady"]["rounds"].as_array().unwrap();
    assert!((5..=8).contains(&rounds.len()), "{}", output.text());
    let first = cell["steady"]["window"]["first_round_index"]
        .as_u64()
        .unwrap() as usize;
    let count = |it: &Value| it["count"].as_u64().unwrap();
    let window_count: u64 = rounds[first..].iter().map(count).sum();
    let ranks = cell["crew"]["ranks"].as_array().unwrap();
    assert_eq!(window_count, count(&cell["total"]));
    assert_eq!(ranks.iter().map(count).sum::<u64>(), window_count);
    assert!(ranks.iter().all(|it| count(it) > 0), "{ranks:?}");
}

#[test]
fn a_killed_process_is_reported_and_the_others_continue() {
    let bed = need!(ScratchTarget::new());
    let (ssh, workload) = (ssh(&bed), bed.file("reads.toml", READS));
    let target = bed.target().to_string_lossy().into_owned();
    let arguments = [
        "run",
        workload.to_str().unwrap(),
        "--target",
        &target,
        "--hosts",
        "a,b,c",
        "--ssh",
        &ssh,
        "--on-lost",
        "continue",
        "--run-time",
        "6s",
        "--json",
        "seen.json",
        "--no-html",
    ];
    let mut child = bed.start(&arguments);
    bed.wait_for_intervals(1);
    let pid: u32 = fs::read_to_string(bed.path().join("pid-b"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status();
    assert!(killed.unwrap().success());
    wait_for("the end of the run", || child.try_wait().unwrap().is_some());
    let text = fs::read_to_string(bed.path().join("seen.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let warnings = record["warnings"].as_array().unwrap();
    let lost = warnings.iter().find(|it| it["code"] == "rank-lost");
    let message = lost.unwrap_or_else(|| panic!("{warnings:?}"))["message"]
        .as_str()
        .unwrap();
    assert!(message.starts_with("rank 1 on "), "{message}");
    let ranks = record["cells"][0]["crew"]["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 3);
    assert!(ranks[1]["lost_ns"].as_u64().unwrap() > 0, "{ranks:?}");
    assert!(
        ranks[0]["count"].as_u64().unwrap() > 0 && ranks[0]["lost_ns"].is_null(),
        "{ranks:?}"
    );
    let report = bed.run(&["report", "last"]);
    for wanted in [
        "3 processes on ",
        "by process: reads",
        "lost at ",
        "1 of 3 processes was lost: the results do not include its work",
    ] {
        assert!(
            report.stdout.contains(wanted),
            "`{wanted}` is missing:\n{}",
            report.stdout
        );
    }
}
