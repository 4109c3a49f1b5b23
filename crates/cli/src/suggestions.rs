//! Suggestions for a command line that was not understood.

use std::error::Error;
use std::path::Path;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use units::UnitError;

use crate::args::{Cli, is_program};
use crate::common_mistakes;

/// Options and commands that destroy data or disable a safeguard. They are never suggested for a
/// typo.
pub(crate) const DESTRUCTIVE: [&str; 4] = ["overwrite-device", "force", "yes", "rm"];

/// Names that users often try first, with the actual commands.
const SYNONYMS: [(&str, &str); 17] = [
    ("bench", "run"),
    ("benchmark", "run"),
    ("diff", "compare"),
    ("explain", "keys"),
    ("export", "runs export"),
    ("find-rate", "run WORKLOAD --find-rate 'p99<=5ms'"),
    ("history", "runs"),
    ("import", "runs import"),
    ("info", "doctor"),
    ("ls", "list"),
    ("measure", "run"),
    ("note", "runs note"),
    ("plan", "check"),
    ("results", "runs"),
    ("start", "run"),
    ("tag", "runs tag"),
    ("validate", "check"),
];

/// Removes suggestions that are harmful or misleading, and adds a useful one.
pub(crate) fn amend(error: &mut clap::Error, words: &[String]) {
    remove_destructive_suggestions(error);
    remove_double_dash_advice(error);
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => suggest_command(error, words),
        ErrorKind::ValueValidation => of_unit(error),
        ErrorKind::InvalidValue => explain_empty_value(error),
        ErrorKind::UnknownArgument => {
            explain_negative_value(error, words).or_else(|| of_run(error, words))
        }
        _ => None,
    };
    let tip = explain_blank(error).or(tip);
    if let Some(tip) = tip.or_else(|| common_mistakes::tip(error, words)) {
        // Suggestions of similar spelling are misleading here, also in the usage line.
        for kind in [
            ContextKind::SuggestedSubcommand,
            ContextKind::SuggestedArg,
            ContextKind::SuggestedValue,
        ] {
            if error.remove(kind).is_some() {
                error.remove(ContextKind::Usage);
            }
        }
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
}

/// Removes suggestions that destroy data, and usage lines that show them.
fn remove_destructive_suggestions(error: &mut clap::Error) {
    let suggestions = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedCommand,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
        ContextKind::Suggested,
    ];
    for kind in suggestions {
        let kept = match error.get(kind) {
            Some(ContextValue::String(one)) if is_destructive(one) => Vec::new(),
            Some(ContextValue::Strings(all)) if all.iter().any(|it| is_destructive(it)) => {
                let kept = all.iter().filter(|it| !is_destructive(it));
                kept.cloned().collect()
            }
            Some(other) if is_destructive(&other.to_string()) => Vec::new(),
            _ => continue,
        };
        error.remove(kind);
        // The usage line shows the suggestion as if the user had given it.
        error.remove(ContextKind::Usage);
        if !kept.is_empty() {
            error.insert(kind, ContextValue::Strings(kept));
        }
    }
}

/// Returns `true` if the text contains an option or command that destroys data.
fn is_destructive(text: &str) -> bool {
    let is_joint = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
    let mut words = text.split(is_joint);
    words.any(|word| DESTRUCTIVE.contains(&word.trim_start_matches('-')))
}

/// Removes clap's advice to pass an unknown option after `--`, where it would become a workload.
fn remove_double_dash_advice(error: &mut clap::Error) {
    let advises =
        |value: &ContextValue| value.to_string().contains("as a value, use '") && is_text(value);
    if error.get(ContextKind::Suggested).is_some_and(advises) {
        error.remove(ContextKind::Suggested);
    }
}

fn is_text(value: &ContextValue) -> bool {
    matches!(value, ContextValue::StyledStrs(_))
}

/// Suggests a command for a workload, a file or a directory that is given as a command.
fn suggest_command(error: &clap::Error, words: &[String]) -> Option<String> {
    let word = context(error, ContextKind::InvalidSubcommand)?;
    // Subcommands of subcommands do not take workloads.
    if words.get(1) != Some(&word) {
        return None;
    }
    let path = Path::new(&word);
    if description::builtin::find(&word).is_ok() {
        return Some(format!("to run this workload, write `pgmeter run {word}`"));
    }
    if path.is_dir() {
        return Some(format!(
            "to measure in this directory, write `pgmeter run --target {word}`"
        ));
    }
    if path.is_file() {
        return Some(format!(
            "to run this workload file, write `pgmeter run {word}`"
        ));
    }
    if let Some((_, command)) = SYNONYMS.into_iter().find(|(known, _)| *known == word) {
        return Some(format!("the command is `pgmeter {command}`"));
    }
    if is_program(&word) {
        return Some(format!(
            "to emulate this program, write `pgmeter as {word}`"
        ));
    }
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return None;
    }
    let help = description::builtin::find(&word).err()?.help?;
    // The catalog of built-in workloads already searches for similar names.
    let near = help.strip_prefix("did you mean `")?.strip_suffix("`?")?;
    Some(format!("did you mean `pgmeter run {near}`?"))
}

/// Explains a negative number after an option, which clap takes for another option.
fn explain_negative_value(error: &clap::Error, words: &[String]) -> Option<String> {
    let invalid = context(error, ContextKind::InvalidArg)?;
    let digits = invalid.strip_prefix('-')?;
    if !digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return None;
    }
    let at = words.iter().position(|word| word.starts_with(&invalid))?;
    let option = words.get(at.checked_sub(1)?)?;
    option
        .starts_with("--")
        .then(|| format!("`{option}` takes no value below 0"))
}

/// Explains the syntax of a size, a time span, a percentage or a rate.
fn of_unit(error: &clap::Error) -> Option<String> {
    let unit = error.source()?.downcast_ref::<UnitError>()?;
    Some(unit.help().to_owned())
}

fn explain_empty_value(error: &clap::Error) -> Option<String> {
    let is_empty = context(error, ContextKind::InvalidValue)?.is_empty();
    // clap reports a missing value in the same way as an empty one.
    let was_given = std::env::args_os().any(|word| word.is_empty());
    let tip = "the value is empty; is it a shell variable that is not set?";
    (is_empty && was_given).then(|| tip.to_owned())
}

/// Explains a blank at an end of a value, as after the comma of a list.
fn explain_blank(error: &clap::Error) -> Option<String> {
    let value = context(error, ContextKind::InvalidValue)?;
    let word = value.trim();
    let is_value = matches!(
        error.kind(),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation
    );
    (is_value && !word.is_empty() && word.len() < value.len()).then(|| {
        let side = if value.starts_with(word) {
            "after"
        } else {
            "before"
        };
        format!("remove the blank {side} `{word}`")
    })
}

/// Suggests `run` for an option of `run` without a command.
fn of_run(error: &clap::Error, words: &[String]) -> Option<String> {
    if !words.get(1)?.starts_with('-') {
        return None;
    }
    let invalid = context(error, ContextKind::InvalidArg)?;
    let name = invalid.split(['=', ' ']).next()?.strip_prefix("--")?;
    let command = Cli::command();
    let run = command.find_subcommand("run")?;
    let mut options = run.get_arguments();
    let is_option = options.any(|it| {
        let names = it.get_long_and_visible_aliases().unwrap_or_default();
        names.contains(&name)
    });
    (is_option && !is_destructive(name))
        .then(|| format!("`--{name}` is an option of a command: `pgmeter run --{name} ...`"))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn error_text(arguments: &[&str]) -> String {
        let words: Vec<String> = ["pgmeter"]
            .iter()
            .chain(arguments)
            .map(|word| (*word).to_owned())
            .collect();
        let mut error = Cli::try_parse_from(&words).expect_err("a typo");
        amend(&mut error, &words);
        error.render().to_string()
    }

    #[test]
    fn no_typo_suggests_a_destructive_option() {
        let typos = [
            "--row=randread",
            "--overwrite",
            "--overwrite-devic=/dev/x",
            "--overwrite_device",
            "--write-device",
            "--device",
            "--over",
            "--ow",
            "--forc",
            "--yse",
        ];
        let commands = [
            &["run"][..],
            &["compare"],
            &["check"],
            &["lab", "run"],
            &["runs", "rm", "last"],
            &["clean", "x"],
        ];
        for command in commands {
            for typo in typos {
                let message = error_text(&[command, &[typo]].concat());
                let rest = message.replacen(typo.split('=').next().unwrap_or(typo), "", 1);
                let usage = rest.find("Usage: ").unwrap_or(rest.len());
                assert!(!is_destructive(&rest[..usage]), "{message}");
                assert!(message.starts_with("error: "), "{message}");
            }
        }
        assert!(!is_destructive(&error_text(&["runs", "rn"])));
    }

    #[test]
    fn other_options_are_still_suggested() {
        let message = error_text(&["run", "--run-tme=5s"]);
        assert!(message.contains("'--run-time'"), "{message}");
    }

    #[test]
    fn workload_names_and_common_guesses_suggest_a_command() {
        for (line, tip) in [
            (&["quick"][..], "`pgmeter run quick`"),
            (&["OLTP", "--iodepth", "4"], "`pgmeter run OLTP`"),
            (&["quik"], "did you mean `pgmeter run quick`?"),
            (&["/tmp"], "`pgmeter run --target /tmp`"),
            (&["bench"], "the command is `pgmeter run`"),
            (&["history"], "the command is `pgmeter runs`"),
            (&["lat_fs"], "`pgmeter run lat_fs`"),
            (&["--iodepth", "4"], "`pgmeter run --iodepth ...`"),
        ] {
            let message = error_text(line);
            assert!(message.contains(tip), "{message}");
        }
        assert!(!error_text(&["rnu"]).contains("workload"));
        assert!(!error_text(&["lab", "quick"]).contains("pgmeter run"));
    }

    #[test]
    fn common_guesses_suggest_the_right_option() {
        for (line, tip) in [
            ("run --duration 5", "`--duration` is `--run-time` here"),
            ("serve --dir x", "`--dir` is `--target` here"),
            ("serve --port 80", "`--listen 127.0.0.1:8080`"),
            ("serve 8080", "`--listen 127.0.0.1:8080`"),
            ("run --engine libaio", "write `--engine io_uring`"),
            (
                "run --iodepth 1-32",
                "write a list, such as `--iodepth 1,4,16`",
            ),
            ("run --operations 1,2", "it takes no list"),
            ("run --operations 10k", "write `--operations 10000`"),
            (
                "as elbencho -r",
                "write its options after `pgmeter run` to see pgmeter's",
            ),
            (
                "run bonnie++ -d t -s 4G",
                "write `pgmeter as bonnie++ -d t -s 4G`",
            ),
            ("run iozone -i 0 -f t/f", "`pgmeter as iozone -i 0 -f t/f`"),
            ("run -Ra -g 1G", "write `pgmeter as PROGRAM` before them"),
            (
                "find-rate oltp",
                "the command is `pgmeter run WORKLOAD --find-rate 'p99<=5ms'`",
            ),
            ("list --target t", "`pgmeter doctor PATH`"),
            ("list --json out.json", "write `--json=out.json`"),
            ("run --overwrite results.json", "`--json FILE`"),
            ("runs list", "`pgmeter runs` lists them"),
            ("lab quick", "`pgmeter lab run quick`"),
            ("lab run --fs ext4", "`pgmeter lab run quick --fs ext4,xfs`"),
            ("convert a b", "add `--output b`"),
        ] {
            let message = error_text(&line.split(' ').collect::<Vec<_>>());
            assert!(message.contains(tip), "{message}");
            assert!(!message.contains("similar"), "{message}");
        }
        assert!(!error_text(&["doctor", "--duration", "5"]).contains("--run-time"));
    }

    #[test]
    fn a_blank_in_a_list_is_named() {
        for (option, list, tip) in [
            ("--iodepth", "1, 8", "remove the blank before `8`"),
            ("--workers", "4 ,8", "remove the blank after `4`"),
            (
                "--engine",
                "psync, io_uring",
                "remove the blank before `io_uring`",
            ),
        ] {
            let message = error_text(&["run", option, list]);
            assert!(message.contains(tip), "{message}");
        }
    }

    /// Usage lines show an option that a variable sets as if it were required.
    #[test]
    fn no_option_reads_an_environment_variable() {
        let command = Cli::command();
        let mut options = command.get_arguments();
        assert!(options.all(|option| option.get_env().is_none()));
    }

    #[test]
    fn negative_numbers_are_not_taken_for_options() {
        for (line, option) in [
            (["run", "--iodepth", "-4"], "--iodepth"),
            (["run", "--size", "-4k"], "--size"),
        ] {
            let message = error_text(&line);
            let tip = format!("`{option}` takes no value below 0");
            assert!(
                message.contains(&tip) && !message.contains("'-- "),
                "{message}"
            );
        }
    }
}
