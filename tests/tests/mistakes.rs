//! What users get wrong on their first day is answered with what they need, and never with what
//! destroys data.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use end_to_end::{Finished, ScratchTarget, finish, pgmeter};
use serde::Deserialize;

/// A user who owns no files.
const NOBODY: u32 = 65_534;
/// Minimum number of mistakes in the list.
const MISTAKES_MIN: usize = 30;
/// Options that no help may contain, unless the mistake is about them.
const DESTRUCTIVE: [(&str, &str); 4] = [
    ("overwrite-device", "--overwrite-device"),
    ("force", "--force"),
    ("yes", "--yes"),
    ("rm", "runs rm"),
];

#[derive(Debug, Deserialize)]
struct Mistakes {
    mistake: Vec<Mistake>,
}

/// One entry of `mistakes.toml`, which explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    name: String,
    wants: String,
    command: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    stdin: Option<String>,
    #[serde(default)]
    as_nobody: bool,
    exit: i32,
    says: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    about: Vec<String>,
}

impl Mistake {
    /// Makes it in a directory of its own; nothing where that cannot be done here.
    fn make(&self) -> Option<Finished> {
        let bed = ScratchTarget::new().unwrap();
        for (name, content) in &self.files {
            bed.file(name, content);
        }
        let words = words(&self.command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bed.command(&words);
        if let Some(text) = &self.stdin {
            command.stdin(File::open(bed.file("stdin", text)).unwrap());
        }
        if self.as_nobody {
            as_nobody(&bed, &mut command)?;
        }
        let output = finish(&mut command);
        assert!(bed.left_in_target().is_empty(), "{}", output.text());
        let untouched = |(name, content): (&String, &String)| {
            fs::read_to_string(bed.path().join(name)).unwrap() == *content
        };
        assert!(self.files.iter().all(untouched), "{}", output.text());
        Some(output)
    }

    /// What is wrong with the answer.
    fn faults(&self, output: &Finished) -> Vec<String> {
        let mut faults = Vec::new();
        if output.code != self.exit {
            faults.push(format!("ends with {}, not {}", output.code, self.exit));
        }
        // Long lines are the terminal's to break, not the program's.
        let missing = self.says.iter().filter(|it| !output.stderr.contains(*it));
        faults.extend(missing.map(|it| format!("does not say `{it}`")));
        let unwanted = self.never.iter().filter(|it| output.stderr.contains(*it));
        faults.extend(unwanted.map(|it| format!("says `{it}`")));
        let offered = DESTRUCTIVE.into_iter().filter(|(name, text)| {
            let is_about = self.about.iter().any(|it| it == name);
            let is_typed = self.command.contains(text);
            !is_about && !is_typed && output.stderr.contains(text)
        });
        faults.extend(offered.map(|(_, text)| format!("offers `{text}`")));
        if !output.stderr.starts_with("error: ") || output.stderr.contains("panicked") {
            faults.push("does not begin with an error".to_owned());
        }
        let first = output.stderr.lines().next().unwrap_or_default();
        if first.trim_end().ends_with('.') {
            faults.push("ends its first line with a full stop".to_owned());
        }
        faults
    }
}

/// The words of a line, of which some stand in quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Lets the command run as a user who may look at the directory and not write to it.
fn as_nobody(bed: &ScratchTarget, command: &mut Command) -> Option<()> {
    let mode = |mode| Permissions::from_mode(mode);
    fs::set_permissions(bed.path(), mode(0o755)).unwrap();
    fs::set_permissions(bed.target(), mode(0o755)).unwrap();
    let mut trial = pgmeter(bed.path());
    trial.arg("--version").stdout(Stdio::null()).uid(NOBODY);
    if !trial.status().is_ok_and(|status| status.success()) {
        return None;
    }
    command.uid(NOBODY).gid(NOBODY);
    Some(())
}

fn mistakes() -> Vec<Mistake> {
    let all: Mistakes = toml::from_str(include_str!("../mistakes.toml")).unwrap();
    all.mistake
}

#[test]
fn every_mistake_gets_a_helpful_answer() {
    let mut failures = Vec::new();
    for mistake in mistakes() {
        let Some(output) = mistake.make() else {
            continue;
        };
        let faults = mistake.faults(&output);
        if !faults.is_empty() {
            failures.push(format!(
                "{} (wants {})\n$ pgmeter {}\n{}\n{}",
                mistake.name,
                mistake.wants,
                mistake.command,
                faults.join("\n"),
                output.text()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn the_list_has_enough_mistakes_and_each_once() {
    let all = mistakes();
    assert!(all.len() >= MISTAKES_MIN, "{}", all.len());
    let key = |it: &Mistake| format!("{} {:?}", it.command, it.files);
    let mut commands: Vec<String> = all.iter().map(key).collect();
    commands.sort();
    commands.dedup();
    assert_eq!(commands.len(), all.len());
    assert!(all.iter().all(|it| !it.says.is_empty()));
}
