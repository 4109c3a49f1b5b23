//! Options, values and words that users often try first, with the right ones.

use std::path::Path;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use description::builtin;
use units::Rate;

use crate::args::{Cli, is_program};
use crate::detached_output::detached_output;

/// Options that users try, with the option of the command. An option that the command lacks is not
/// suggested.
const OPTIONS: [(&str, &str); 19] = [
    ("--block-size", "--bs"),
    ("--depth", "--iodepth"),
    ("--device", "--target"),
    ("--dir", "--target"),
    ("--duration", "--run-time"),
    ("--file-size", "--size"),
    ("--iterations", "--repetitions"),
    ("--jobs", "--workers"),
    ("--out", "--output"),
    ("--path", "--target"),
    ("--processes", "--workers"),
    ("--qd", "--iodepth"),
    ("--queue-depth", "--iodepth"),
    ("--repeat", "--repetitions"),
    ("--runs", "--repetitions"),
    ("--time", "--run-time"),
    ("--timeout", "--run-time"),
    ("--warm-up", "--ramp-time"),
    ("--warmup", "--ramp-time"),
];

const LISTEN_HELP: &str = "write the address and the port: `--listen 127.0.0.1:8080`";
const FACTS_HELP: &str = "`pgmeter doctor PATH` shows what a target can do";
const OUTPUT_HELP: &str = "`--json FILE` and `--csv FILE` write results";

/// Options for which a command has something other than an option.
const ADVICE: [(&str, &str, &str); 19] = [
    (
        "clean",
        "--target",
        "write only the path: `pgmeter clean PATH`",
    ),
    ("clean", "-t", "write only the path: `pgmeter clean PATH`"),
    (
        "doctor",
        "--target",
        "write only the path: `pgmeter doctor PATH`",
    ),
    ("doctor", "-t", "write only the path: `pgmeter doctor PATH`"),
    (
        "lab",
        "--target",
        "to measure an existing file system, write `--fs path:DIR`",
    ),
    (
        "lab",
        "-t",
        "to measure an existing file system, write `--fs path:DIR`",
    ),
    ("list", "--target", FACTS_HELP),
    ("list", "-t", FACTS_HELP),
    (
        "run",
        "--dry-run",
        "`pgmeter check` prints what `run` would do",
    ),
    ("run", "--format", OUTPUT_HELP),
    ("run", "--overwrite", OUTPUT_HELP),
    ("run", "-o", OUTPUT_HELP),
    (
        "run",
        "-R",
        "to use the options of another program, write `pgmeter as PROGRAM` before them",
    ),
    ("serve", "--address", LISTEN_HELP),
    ("serve", "--bind", LISTEN_HELP),
    ("serve", "--host", LISTEN_HELP),
    ("serve", "--port", LISTEN_HELP),
    ("serve", "-p", LISTEN_HELP),
    ("sink", "--port", LISTEN_HELP),
];

/// Values that an option of pgmeter has by another name.
const VALUES: [(&str, &str, &str); 11] = [
    ("--cache", "no", "direct"),
    ("--cache", "none", "direct"),
    ("--cache", "off", "direct"),
    ("--cache", "on", "buffered"),
    ("--cache", "page", "buffered"),
    ("--cache", "yes", "buffered"),
    ("--engine", "aio", "io_uring"),
    ("--engine", "libaio", "io_uring"),
    ("--engine", "posixaio", "io_uring"),
    ("--format", "md", "markdown"),
    ("--format", "pdf", "html"),
];

/// Programs that `as` does not emulate, with the alternative.
const NOT_EMULATED: [(&str, &str); 3] = [
    (
        "elbencho",
        "pgmeter does not emulate elbencho; write its options after `pgmeter run` to see pgmeter's \
         options",
    ),
    (
        "iometer",
        "`pgmeter run FILE.icf` runs a configuration of Iometer",
    ),
    (
        "vdbench",
        "pgmeter does not emulate vdbench; write its parameters after `pgmeter run` to see \
         pgmeter's options",
    ),
];

/// Commands that lack an argument, with an example.
const EXAMPLES: [(&str, &str); 4] = [
    (
        "compare",
        "`pgmeter compare @-2 last` compares the last two runs",
    ),
    (
        "convert",
        "add the format, such as `--to toml`, `--to icf` or `--to fio`",
    ),
    (
        "lab run",
        "name a workload, as in `pgmeter lab run quick --fs ext4,xfs`",
    ),
    ("runs export", "`pgmeter runs export last` prints a record"),
];

/// Help for a command line that clap refused; `None` if no habit explains it.
pub(crate) fn tip(error: &clap::Error, words: &[String]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let command = words.get(1)?.as_str();
    let argument = text(ContextKind::InvalidArg);
    let name = argument.split([' ', '=']).next().unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            of_program(words).or_else(|| explain_option(name, words))
        }
        ErrorKind::UnknownArgument => {
            detached_output(&argument, words).or_else(|| explain_operand(command, &argument))
        }
        ErrorKind::InvalidValue => of_value(name, &text(ContextKind::InvalidValue)),
        ErrorKind::ValueValidation => of_number(&argument, &text(ContextKind::InvalidValue)),
        ErrorKind::InvalidSubcommand => {
            explain_subcommand(command, &text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingRequiredArgument => {
            let typed = format!("{} ", words.get(1..)?.join(" "));
            let is_typed = |line: &str| typed.starts_with(&format!("{line} "));
            let example = EXAMPLES.into_iter().find(|(line, _)| is_typed(line));
            example.map(|(_, tip)| tip.to_owned())
        }
        _ => None,
    }
}

/// Explains a program and its options after `run`.
fn of_program(words: &[String]) -> Option<String> {
    let program = words.get(2).filter(|_| words[1] == "run")?;
    is_program(program).then(|| {
        let line = words[2..].join(" ");
        format!("to emulate this program, write `pgmeter as {line}`")
    })
}

/// Returns the option or sentence for an option that a command does not have.
fn explain_option(name: &str, words: &[String]) -> Option<String> {
    let command = words.get(1)?;
    let mut sentences = ADVICE.into_iter();
    if let Some((_, _, tip)) = sentences.find(|(of, word, _)| of == command && *word == name) {
        return Some(tip.to_owned());
    }
    let (_, ours) = OPTIONS.into_iter().find(|(word, _)| *word == name)?;
    let all = Cli::command();
    let outer = all.find_subcommand(command)?;
    let inner = words.get(2).and_then(|word| outer.find_subcommand(word));
    let mut arguments = inner.unwrap_or(outer).get_arguments();
    // A tip must not name an option that this command would refuse, too.
    let is_known = arguments.any(|it| it.get_long() == ours.strip_prefix("--"));
    is_known.then(|| format!("`{name}` is `{ours}` here"))
}

/// Explains a word that a command does not take.
fn explain_operand(command: &str, word: &str) -> Option<String> {
    match command {
        "convert" => Some(format!("to write to a file, add `--output {word}`")),
        "list" if builtin::find(word).is_ok() => {
            Some(format!("`pgmeter show {word}` prints this workload"))
        }
        "serve" if word.parse::<u16>().is_ok() => {
            Some(format!("write `--listen 127.0.0.1:{word}`"))
        }
        _ => None,
    }
}

/// Returns pgmeter's name for a value.
fn of_value(option: &str, value: &str) -> Option<String> {
    let folded = value.to_ascii_lowercase();
    if option == "<PROGRAM>" {
        let known = NOT_EMULATED.into_iter().find(|(name, _)| *name == folded);
        return known.map(|(_, tip)| tip.to_owned());
    }
    let mut values = VALUES.into_iter();
    let (_, _, ours) = values.find(|(of, word, _)| *of == option && *word == folded)?;
    Some(format!("write `{option} {ours}`"))
}

/// Explains a list, a range or a unit where an option takes one whole number.
fn of_number(argument: &str, value: &str) -> Option<String> {
    let option = argument.split(' ').next()?;
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let takes_list = argument.contains(",...");
    let are_numbers = |separator: char| {
        let mut parts = value.split(separator);
        parts.clone().count() > 1 && parts.all(is_number)
    };
    if takes_list && (are_numbers('-') || are_numbers(':')) {
        return Some(format!("write a list, such as `{option} 1,4,16`"));
    }
    if argument.ends_with("<N>") && are_numbers(',') {
        return Some("it takes no list; run it once for each number".to_owned());
    }
    // A number without a unit was refused for its range, so this tip would repeat the mistake.
    let has_unit = argument.ends_with("<N>") && value.ends_with(|it: char| it.is_alphabetic());
    let Rate(number) = value.parse().ok().filter(|_| has_unit)?;
    Some(format!("write `{option} {number}`"))
}

/// Returns the command for a word that is not a command of a group of commands.
fn explain_subcommand(group: &str, word: &str) -> Option<String> {
    match group {
        "runs" if ["list", "ls"].contains(&word) => Some("`pgmeter runs` lists them".to_owned()),
        "runs" if word == "last" || word.starts_with("@-") => Some(format!(
            "`pgmeter show {word}` prints the report of this run"
        )),
        "lab" if builtin::find(word).is_ok() || Path::new(word).is_file() => Some(format!(
            "to run this workload, write `pgmeter lab run {word}`"
        )),
        "help" if is_program(word) => Some(format!("write `pgmeter as {word} --help`")),
        _ => None,
    }
}
