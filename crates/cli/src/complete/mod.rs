//! Completion of words for shells: the shell's script asks this program, which knows what is in the
//! store and on the machine.
//!
//! Whoever waits for the end of a word sees nothing that goes wrong here, and nothing is made or
//! changed.

pub(crate) mod values;

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use clap_complete::engine::{CompletionCandidate, complete};
use units::is_hidden;

use crate::args::Cli;
use crate::document::Document;
use crate::slips::DESTRUCTIVE;
use crate::terminal::print_document;

/// The variable by which a script asks, with the name of its shell.
const VARIABLE: &str = "PGMETER_COMPLETE";
/// Stands in the scripts for the program that they ask.
const COMPLETER: &str = "@COMPLETER@";

/// Answers a shell that asks for the ends of a word: the words follow `--`, and the last one is to
/// be completed. Returns whether that was what is asked for.
pub(crate) fn answer() -> bool {
    let Some(shell) = std::env::var_os(VARIABLE) else {
        return false;
    };
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != "--") {
        return false;
    }
    let words: Vec<OsString> = words.collect();
    let has_help = shell != "bash";
    let mut text = String::new();
    for candidate in candidates(words) {
        let value = candidate.get_value().to_string_lossy();
        // It would end up on the command line.
        if value.contains(is_hidden) || value.contains(char::REPLACEMENT_CHARACTER) {
            continue;
        }
        text.push_str(&value);
        let help = candidate.get_help().map(ToString::to_string);
        if let Some(help) = help.filter(|_| has_help) {
            text.push('\t');
            text.extend(
                help.lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .filter(|it| !is_hidden(*it)),
            );
        }
        text.push('\n');
    }
    // A shell that has gone away needs nothing.
    let _ = print_document(&Document::Data(text));
    true
}

/// What the last word may become.
fn candidates(words: Vec<OsString>) -> Vec<CompletionCandidate> {
    let Some(index) = words.len().checked_sub(1) else {
        return Vec::new();
    };
    let current = words[index].to_string_lossy().into_owned();
    let directory = std::env::current_dir().ok();
    let found = complete(&mut Cli::command(), words, index, directory.as_deref());
    let mut found = found.unwrap_or_default();
    let is_option = |candidate: &CompletionCandidate| starts_with(candidate.get_value(), "-");
    // Dozens of options would hide the few values.
    if !current.starts_with('-') && found.iter().any(|it| !is_option(it)) {
        found.retain(|it| !is_option(it));
    }
    // Nobody is offered to lose data who has not begun to ask for it.
    found.retain(|it| !is_destructive(&it.get_value().to_string_lossy()) || is_begun(&current));
    found
}

fn is_destructive(word: &str) -> bool {
    let option = word.strip_prefix("--");
    option.is_some_and(|option| DESTRUCTIVE.contains(&option))
}

/// Whether somebody has begun to write an option that loses data, beyond its first letter.
fn is_begun(word: &str) -> bool {
    let option = word.strip_prefix("--").filter(|option| option.len() > 1);
    option.is_some_and(|option| DESTRUCTIVE.iter().any(|it| it.starts_with(option)))
}

fn starts_with(value: &OsStr, beginning: &str) -> bool {
    value.as_encoded_bytes().starts_with(beginning.as_bytes())
}

/// The shells whose scripts ask this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskingShell {
    Bash,
    Zsh,
    Fish,
}

/// The script of a shell, which asks `completer`.
pub(crate) fn script(shell: AskingShell, completer: &str) -> String {
    let script = match shell {
        AskingShell::Bash => include_str!("pgmeter.bash"),
        AskingShell::Zsh => include_str!("pgmeter.zsh"),
        AskingShell::Fish => include_str!("pgmeter.fish"),
    };
    script.replace(COMPLETER, &quoted(shell, completer))
}

/// A word as that shell reads it.
fn quoted(shell: AskingShell, word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/_-.+".contains(letter);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    match shell {
        AskingShell::Fish => format!("'{}'", word.replace('\\', "\\\\").replace('\'', "\\'")),
        AskingShell::Bash | AskingShell::Zsh => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(line: &[&str]) -> Vec<String> {
        let words = std::iter::once("pgmeter").chain(line.iter().copied());
        let found = candidates(words.map(OsString::from).collect());
        let text = |it: CompletionCandidate| it.get_value().to_string_lossy().into_owned();
        found.into_iter().map(text).collect()
    }

    #[test]
    fn commands_options_and_words_are_completed() {
        assert_eq!(ends(&["rep"]), ["report"]);
        assert_eq!(ends(&["lab", "rec"]), ["recover"]);
        assert_eq!(ends(&["run", "--eng"]), ["--engine"]);
        assert_eq!(ends(&["run", "--engine", "ps"]), ["psync"]);
        assert_eq!(ends(&["run", "--engine=ps"]), ["--engine=psync"]);
        assert_eq!(ends(&["as", "fs"]), ["fs_mark"]);
        assert_eq!(ends(&["runs", "--columns", "run,ker"]), ["run,kernel"]);
        assert_eq!(ends(&["no", "such", "thing"]), [""; 0]);
        assert_eq!(candidates(Vec::new()), Vec::new());
    }

    #[test]
    fn options_stay_behind_values_and_who_loses_data_asked_for_it() {
        let workloads = ends(&["run", ""]);
        assert!(workloads.contains(&"oltp".to_owned()), "{workloads:?}");
        assert!(!workloads.iter().any(|it| it.starts_with('-')));
        let options = ends(&["run", "--"]);
        assert!(options.contains(&"--target".to_owned()), "{options:?}");
        for begun in ["--", "--o", "-"] {
            let found = ends(&["run", begun]);
            assert!(!found.iter().any(|it| is_destructive(it)), "{begun}");
        }
        assert_eq!(ends(&["run", "--ov"]), ["--overwrite-device"]);
        assert_eq!(ends(&["run", "--overwrite-device", "/dev/"]), [""; 0]);
    }

    #[test]
    fn a_script_asks_the_program_that_it_is_told_to_ask() {
        for shell in [AskingShell::Bash, AskingShell::Zsh, AskingShell::Fish] {
            let plain = script(shell, "pgmeter");
            assert!(plain.contains(" pgmeter -- "), "{plain}");
            let odd = script(shell, "/a b/it's");
            assert!(odd.contains("'/a b/it"), "{odd}");
            assert!(!odd.contains(COMPLETER));
        }
    }
}
