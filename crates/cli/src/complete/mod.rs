//! Shell completion. The shell's script calls this program, which knows the contents of the store
//! and of the machine.
//!
//! Errors are not shown while the user completes a word. Completion never creates or changes
//! anything.

pub(crate) mod values;

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use clap_complete::engine::{CompletionCandidate, complete};
use units::is_hidden;

use crate::args::Cli;
use crate::document::OutputText;
use crate::suggestions::DESTRUCTIVE;
use crate::terminal::print_document;

/// Environment variable with the name of the shell. Scripts set it to request completions.
const SHELL_VARIABLE: &str = "PGMETER_COMPLETE";
/// Placeholder in the scripts for the program to call.
const COMPLETER: &str = "@COMPLETER@";

/// Answers a completion request: the words follow `--`, and the last one is to be completed.
/// Returns `false` if the command line is not such a request.
pub(crate) fn answer() -> bool {
    let Some(shell) = std::env::var_os(SHELL_VARIABLE) else {
        return false;
    };
    let mut words = std::env::args_os().skip(1);
    // A user may have exported the variable, and all other commands must still work.
    if words.next().is_none_or(|word| word != "--") {
        return false;
    }
    let words: Vec<OsString> = words.collect();
    // bash cannot show descriptions next to completions.
    let has_help = shell != "bash";
    let mut text = String::new();
    for candidate in candidates(words) {
        let value = candidate.get_value().to_string_lossy();
        // The shell would put such characters onto the command line.
        if value.contains(is_hidden) || value.contains(char::REPLACEMENT_CHARACTER) {
            continue;
        }
        text.push_str(&value);
        let help = candidate.get_help().map(ToString::to_string);
        if let Some(help) = help.filter(|_| has_help) {
            text.push('\t');
            text.extend(
                // The answer has one line per candidate.
                help.lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .filter(|it| !is_hidden(*it)),
            );
        }
        text.push('\n');
    }
    // A shell that has exited needs no answer.
    let _ = print_document(&OutputText::Data(text));
    true
}

/// Returns the completions of the last word.
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
    // Options that destroy data appear only once the user has begun to type them.
    found.retain(|it| !is_destructive(&it.get_value().to_string_lossy()) || is_begun(&current));
    found
}

fn is_destructive(word: &str) -> bool {
    let option = word.strip_prefix("--");
    option.is_some_and(|option| DESTRUCTIVE.contains(&option))
}

/// Returns `true` if the user has typed more than the first letter of an option that destroys data.
fn is_begun(word: &str) -> bool {
    let option = word.strip_prefix("--").filter(|option| option.len() > 1);
    option.is_some_and(|option| DESTRUCTIVE.iter().any(|it| it.starts_with(option)))
}

fn starts_with(value: &OsStr, beginning: &str) -> bool {
    value.as_encoded_bytes().starts_with(beginning.as_bytes())
}

/// Shells with scripts that call this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

/// Returns the script of a shell, which calls `completer`.
pub(crate) fn script(shell: CompletionShell, completer: &str) -> String {
    let script = match shell {
        CompletionShell::Bash => include_str!("pgmeter.bash"),
        CompletionShell::Zsh => include_str!("pgmeter.zsh"),
        CompletionShell::Fish => include_str!("pgmeter.fish"),
    };
    script.replace(COMPLETER, &quoted(shell, completer))
}

fn quoted(shell: CompletionShell, word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/_-.+".contains(letter);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    match shell {
        // fish knows escapes within single quotes; the other two must close the quotes first.
        CompletionShell::Fish => format!("'{}'", word.replace('\\', "\\\\").replace('\'', "\\'")),
        CompletionShell::Bash | CompletionShell::Zsh => {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
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
    fn commands_options_and_values_are_completed() {
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
    fn values_are_completed_before_options_and_destructive_ones_need_a_prefix() {
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
    fn a_completion_script_calls_the_given_program() {
        for shell in [
            CompletionShell::Bash,
            CompletionShell::Zsh,
            CompletionShell::Fish,
        ] {
            let plain = script(shell, "pgmeter");
            assert!(plain.contains(" pgmeter -- "), "{plain}");
            let quoted = script(shell, "/a b/it's");
            assert!(quoted.contains("'/a b/it"), "{quoted}");
            assert!(!quoted.contains(COMPLETER));
        }
    }
}
