//! The README is right: its examples run as they are written, its links lead somewhere, and every
//! column that it shows of the output is explained.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{ScratchTarget, finish};

/// What makes examples short, for each command that measures: in place of what they say.
const SHORT: [(&str, &str); 4] = [
    ("run *", "--run-time 100ms --ramp-time 0s"),
    (
        "compare *",
        "--run-time 100ms --ramp-time 0s --repetitions 2",
    ),
    ("lab run", "--scale 0.001 --image-size 400MiB"),
    ("paper run", "--scale 0.0001 --run-time 20ms --ramp-time 0s"),
];
/// Options whose values are replaced, or which go.
const REPLACED: &str = "--run-time|--ramp-time|--size|--scale|--image-size|--budget";
/// Workloads of many files, whose sizes are their own.
const FILE_WORKLOADS: &str = "*postmark*|run-*.pm*|run-*create-remove*";

fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().to_path_buf()
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The lines of all blocks of that language, joined where a `\` ends them.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut found = Vec::new();
    let mut lines = text.lines();
    while lines.by_ref().any(|line| line == fence) {
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        found.push(block.join("\n").replace("\\\n", " "));
    }
    found
}

/// Every command of the blocks that are marked as `sh`.
fn examples() -> Vec<String> {
    let blocks = blocks(&readme(), "sh");
    let lines = blocks.iter().flat_map(|block| block.lines());
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    lines.filter(is_command).map(str::to_owned).collect()
}

/// A program that runs before the real one and shortens the requested measurement.
fn stand_in(bed: &ScratchTarget) -> String {
    let real = bed.command(&[]);
    let real = real.get_program().to_string_lossy();
    let mut short = String::new();
    for (command, options) in SHORT {
        let command = command.replace(' ', "\\ ");
        short.push_str(&format!("{command}) short='{options}' ;;\n"));
    }
    format!(
        "#!/bin/sh\nall=$* short= left=$#\ncase \"$1 $2\" in\n{short}esac\n\
         case $1-$all in run-{FILE_WORKLOADS}) short= ;; \
         run-*|compare-*--target*) short=\"$short --size 8m\" ;; \
         compare-*) short= ;; esac\n\
         case $all in *budget*) short=\"$short --budget 2s\" ;; esac\n\
         while [ $left -gt 0 ]; do\n\
         case $1 in\n\
         {REPLACED}) shift 2; left=$((left - 2)) ;;\n\
         *) set -- \"$@\" \"$1\"; shift; left=$((left - 1)) ;;\n\
         esac\ndone\nexec '{real}' \"$@\" $short\n"
    )
}

fn executable(path: &Path, script: &str) {
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn every_example_runs_as_written() {
    let bed = ScratchTarget::new().unwrap();
    let programs = bed.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    executable(&programs.join("pgmeter"), &stand_in(&bed));
    executable(&programs.join("sudo"), "#!/bin/sh\nexec \"$@\"\n");
    let samples = bed.path().join("examples");
    std::fs::create_dir(&samples).unwrap();
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), samples.join(entry.file_name())).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let other = bed.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let examples = examples();
    assert!(examples.len() >= 20, "{examples:?}");
    let mut failed = Vec::new();
    for example in examples {
        if example.starts_with("sudo ") && !is_root {
            println!("skipped: `{example}` needs root");
            continue;
        }
        // The environment of the program under test, for a shell.
        let under_test = bed.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-ec", &example]).current_dir(bed.path());
        for (name, value) in under_test.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("PATH", &path);
        shell.env("DISK", bed.target()).env("OTHER", &other);
        let output = finish(&mut shell);
        println!("$ {example}\nexit {}", output.code);
        if output.code == 3 && output.stderr.contains("(package `") {
            println!("skipped: `{example}`: {}", output.stderr);
        } else if output.code != 0 {
            failed.push(format!("$ {example}\n{}", output.text()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
}

#[test]
fn every_link_leads_to_a_file() {
    let text = readme();
    let mut rest = text.as_str();
    while let Some((_, after)) = rest.split_once("](") {
        let (link, behind) = after.split_once(')').unwrap();
        rest = behind;
        let file = link.split('#').next().unwrap();
        if !file.is_empty() && !file.contains("://") {
            assert!(root().join(file).exists(), "`{link}` leads nowhere");
        }
    }
}

#[test]
fn the_workload_file_in_the_readme_matches_the_example() {
    let shown = blocks(&readme(), "toml");
    let file = std::fs::read_to_string(root().join("examples/mixed.toml")).unwrap();
    assert_eq!(shown.len(), 1);
    assert!(file.contains(&shown[0]), "{}", shown[0]);
}

/// The words of lines that name columns.
fn headings(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.starts_with("workload "));
    lines.flat_map(str::split_whitespace).collect()
}

#[test]
fn every_column_of_the_sample_is_explained() {
    let text = readme();
    let samples = blocks(&text, "text");
    let sample = headings(&samples[0]);
    assert!(sample.len() > 20, "{sample:?}");
    let (_, explained) = text.split_once("### How to read it").unwrap();
    let explained = explained.split("\n## ").next().unwrap();
    for word in sample {
        assert!(explained.contains(word), "`{word}` is not explained");
    }
}
