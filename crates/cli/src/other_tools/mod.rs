//! Translates options of other programs, so that their users need not look up a mere difference in
//! naming.

mod keys;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use front::FileAccess;
use units::Rate;

use crate::args::{Cli, is_program};
use crate::suggestions::DESTRUCTIVE;

pub(crate) use keys::key_of;
use table::OtherTool::Elbencho;
use table::{OptionTranslation, OtherTool, OtherToolOption, ROWS, is_size};

/// Commands with the options of workloads.
const COMMANDS: [&str; 3] = ["run", "check", "compare"];

/// Number of bytes read from a file to recognize its type.
const SNIFF_BYTES: u64 = 4096;

/// Value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueShape {
    /// No value, or a switch after `=`.
    Flag,
    Number,
    Size,
    /// A path; must not look like a parameter file of vdbench.
    Path,
    /// A parameter file of vdbench.
    ParameterFile,
    /// Anything.
    Value,
    /// Any value after `=`; without `=`, the option is pgmeter's own.
    AfterEquals,
}

/// A command-line word that matches a row for another program.
struct MatchedWord {
    row: &'static OtherToolOption,
    value: String,
    /// Number of words, including the value.
    word_count: usize,
    /// Number of fio's jobs on the command line.
    job_count: u32,
}

impl MatchedWord {
    fn shown(&self) -> String {
        let word = self.row.word;
        match (self.value.as_str(), word.starts_with("--")) {
            ("", _) => word.to_owned(),
            (value, true) => format!("{word}={value}"),
            (value, false) if word.starts_with('-') => format!("{word} {value}"),
            (value, false) => format!("{word}={value}"),
        }
    }

    fn ours(&self) -> Option<String> {
        let value = &self.value;
        match self.row.translation {
            OptionTranslation::Same(option) => Some(format!("{option} {}", quoted(value))),
            OptionTranslation::TimesJobs(option) => match (self.job_count, value.parse::<Rate>()) {
                (2.., Ok(Rate(each))) => {
                    Some(format!("{option} {}", each * f64::from(self.job_count)))
                }
                _ => Some(format!("{option} {}", quoted(value))),
            },
            OptionTranslation::Words(words) => Some(words.to_owned()),
            OptionTranslation::Computed(make) => Some(make(value)),
            OptionTranslation::Unneeded(_) | OptionTranslation::Instead(_) => None,
        }
    }

    fn tip(&self) -> String {
        let (shown, program) = (self.shown(), self.row.program.name());
        match (self.row.translation, self.ours()) {
            (OptionTranslation::Unneeded(why), _) => {
                format!("{program}'s `{shown}` is not needed: {why}")
            }
            (OptionTranslation::Instead(how), _) => {
                let advice = how.replace("{}", &shown);
                format!("{program}'s `{shown}` is not supported: {advice}")
            }
            (_, Some(ours)) if !ours.is_empty() => {
                format!("{program}'s `{shown}` is `{ours}` here")
            }
            _ => format!("{program}'s `{shown}` is the default here"),
        }
    }
}

/// Adds translations of other programs' options to an error about the command line.
pub(crate) fn translate(error: &mut clap::Error, words: &[String]) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let invalid = text(ContextKind::InvalidArg);
    let name = invalid.split([' ', '=']).next().unwrap_or_default();
    let is_command = |word: &String| COMMANDS.contains(&word.as_str());
    let command = words.iter().position(is_command);
    let start = command.map_or(1, |at| at + 1);
    // The error about this line already names the program.
    if words.get(start).is_some_and(|word| is_program(word)) {
        return;
    }
    // Words without a command belong to `run`.
    let command = command.map_or("run", |at| &words[at]);
    // Only these commands have the options of workloads.
    let is_other_command = words
        .get(1)
        .is_some_and(|word| !word.starts_with('-') && !is_command(word));
    if is_other_command {
        return;
    }
    let tips = match error.kind() {
        ErrorKind::InvalidValue if name == "--rw" && is_trim(&text(ContextKind::InvalidValue)) => {
            let tip =
                "`--rw` has no trims; write `trim = \"only\"` into a `[[job]]` of a workload file";
            vec![tip.to_owned()]
        }
        ErrorKind::UnknownArgument | ErrorKind::InvalidValue | ErrorKind::TooManyValues => {
            let words = words.get(start..).unwrap_or_default();
            match of_iometer(words) {
                Some(tip) => vec![tip],
                None => add_emulation_tip(tips(words, name, command), words),
            }
        }
        _ => Vec::new(),
    };
    if tips.is_empty() {
        return;
    }
    // Suggestions of similar spelling are misleading here.
    for kind in [
        ContextKind::SuggestedArg,
        ContextKind::Suggested,
        ContextKind::Usage,
    ] {
        error.remove(kind);
    }
    let tips = tips.into_iter().map(Into::into).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
}

/// Translates Iometer's own command line, which names a configuration and a file for the results.
fn of_iometer(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word == "-c")?;
    let file = words.get(at + 1)?;
    let extension = Path::new(file).extension()?;
    extension.eq_ignore_ascii_case("icf").then(|| {
        format!(
            "write `pgmeter run {}`, then `pgmeter report last --format iometer-csv`",
            quoted(file)
        )
    })
}

/// Adds a tip to a translated line if pgmeter also takes the line as it is.
fn add_emulation_tip(mut tips: Vec<String>, words: &[String]) -> Vec<String> {
    let has_name = words.iter().any(|word| word.starts_with("--name"));
    let program = likeliest_program(words);
    // Without a name, fio has no job.
    let is_whole = program != OtherTool::Fio || has_name;
    if let Some(name) = program.emulated().filter(|_| is_whole && tips.len() > 1) {
        tips.push(format!("or run it unchanged: `pgmeter as {name} ...`"));
    }
    tips
}

/// Returns help for a word `key=value` that is given as a workload.
pub(crate) fn of_workload(word: &str) -> Option<String> {
    help_and_option_for(word).map(|(tip, _)| tip)
}

/// Returns the whole command line in pgmeter's options, if several of its words `key=value` are
/// options.
pub(crate) fn in_full(words: &[String]) -> Option<String> {
    let command = words.get(1).filter(|it| COMMANDS.contains(&it.as_str()))?;
    let mut line = Vec::new();
    let (mut count, mut is_value) = (0, false);
    for word in &words[2..] {
        let translated = help_and_option_for(word).filter(|_| !is_value);
        count += usize::from(translated.is_some());
        line.push(match translated {
            Some((_, ours)) => (ours, true),
            None => (quoted(word), false),
        });
        is_value = takes_value(word);
    }
    (count > 1).then(|| format!("in full: `pgmeter {command} {}`", without_repeats(line)))
}

/// Returns help for a word `key=value`, and pgmeter's option for it, which may be empty.
fn help_and_option_for(word: &str) -> Option<(String, String)> {
    let (key, value) = word
        .split_once('=')
        .filter(|(_, value)| !value.is_empty())?;
    let both = |found: MatchedWord| (found.tip(), found.ours().unwrap_or_default());
    if let Some(found) = find_row(&[word.to_owned()], OtherTool::Vdbench) {
        return Some(both(found));
    }
    let command = Cli::command();
    let run = command.find_subcommand("run")?;
    // A typo must not lead to an option that destroys data.
    if !DESTRUCTIVE.contains(&key) && run.get_arguments().any(|it| it.get_long() == Some(key)) {
        let option = format!("--{key} {}", quoted(value));
        return Some((format!("write `{option}`"), option));
    }
    // fio's job files have the same keys as its options, without the dashes.
    let option = format!("--{word}");
    find_row(&[option], OtherTool::Fio).map(both)
}

/// Returns `true` for an option of `run` whose value is the next word.
fn takes_value(word: &str) -> bool {
    let command = Cli::command();
    let Some(run) = command.find_subcommand("run") else {
        return false;
    };
    let is_it = |it: &&clap::Arg| {
        let long = it.get_long_and_visible_aliases().unwrap_or_default();
        let is_long = word
            .strip_prefix("--")
            .is_some_and(|name| long.contains(&name));
        let short = it.get_short().map(|letter| format!("-{letter}"));
        is_long || short.as_deref() == Some(word)
    };
    let mut options = run.get_arguments();
    options
        .find(is_it)
        .is_some_and(|it| it.get_action().takes_values())
}

/// Returns `true` for a path that elbencho would measure, which `run` would take for a workload.
fn is_elbencho_operand(words: &[String], at: usize) -> bool {
    let word = &words[at];
    let is_value = at.checked_sub(1).is_some_and(|it| takes_value(&words[it]));
    let is_workload =
        description::builtin::find(word).is_ok() || Path::new(word).extension().is_some();
    !word.starts_with('-') && !is_value && !is_workload
}

/// Returns `true` for fio's modes that discard data.
fn is_trim(value: &str) -> bool {
    value.contains("trim")
}

/// Returns one tip per word of another program, and the translated command line of `command`. Empty
/// unless the word that clap refused is among them.
fn tips(words: &[String], invalid: &str, command: &str) -> Vec<String> {
    let program = likeliest_program(words);
    let job_count = jobs(words);
    let mut tips = Vec::new();
    let mut line: Vec<(String, bool)> = Vec::new();
    let (mut at, mut is_explained) = (0, false);
    while at < words.len() {
        let found = find_row(&words[at..], program);
        let Some(mut found) = found else {
            let word = quoted(&words[at]);
            let is_operand = program == Elbencho && is_elbencho_operand(words, at);
            line.push(match is_operand {
                true => (format!("--target {word}"), false),
                false => (word, false),
            });
            at += 1;
            continue;
        };
        found.job_count = job_count;
        is_explained |= found.row.word == invalid;
        tips.push(found.tip());
        let says = !found.value.is_empty();
        line.extend(found.ours().map(|ours| (ours, says)));
        at += found.word_count;
    }
    if !is_explained {
        return Vec::new();
    }
    if tips.len() > 1 {
        tips.push(format!(
            "in full: `pgmeter {command} {}`",
            without_repeats(line)
        ));
    }
    tips
}

/// Returns the number of fio's jobs, whose rates are limited one by one.
fn jobs(words: &[String]) -> u32 {
    let starts = (0..words.len()).rev();
    let mut found = starts.filter_map(|at| find_row(&words[at..], OtherTool::Fio));
    let found = found.find(|found| found.row.word == "--numjobs");
    found
        .and_then(|found| found.value.parse().ok())
        .unwrap_or(1)
}

/// Removes repeated options from the line. Options with a value take precedence over flags.
fn without_repeats(line: Vec<(String, bool)>) -> String {
    let name = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let mut kept: Vec<(String, bool)> = Vec::new();
    for (text, says) in line.into_iter().filter(|(text, _)| !text.is_empty()) {
        let option = name(&text);
        // `--set` and `--target` may be repeated.
        let is_single = option.starts_with("--") && option != "--set" && option != "--target";
        let earlier = kept.iter_mut().find(|(other, _)| name(other) == option);
        match earlier.filter(|_| is_single) {
            // Each `-i` of IOzone adds a test.
            Some(earlier) if says && earlier.1 && option == "--rw" => {
                let pattern = text.trim_start_matches("--rw ");
                if !earlier.0[option.len()..]
                    .split([' ', ','])
                    .any(|it| it == pattern)
                {
                    earlier.0.push_str(&format!(",{pattern}"));
                }
            }
            Some(earlier) if says && !earlier.1 => *earlier = (text, says),
            Some(_) => {}
            None => kept.push((text, says)),
        }
    }
    let texts: Vec<String> = kept.into_iter().map(|(text, _)| text).collect();
    texts.join(" ")
}

/// Returns the program whose rows match the most words; the first one in case of a tie.
fn likeliest_program(words: &[String]) -> OtherTool {
    let fits = |program: OtherTool| {
        let starts = 0..words.len();
        let is_of_program = |at: &usize| {
            let found = find_row(&words[*at..], program);
            found.is_some_and(|found| found.row.program == program)
        };
        starts.filter(is_of_program).count()
    };
    let mut all = OtherTool::ALL.into_iter();
    let first = all.next().unwrap_or(OtherTool::Fio);
    all.fold(first, |best, next| match fits(next) > fits(best) {
        true => next,
        false => best,
    })
}

/// Returns the first matching row, with preference for the given program.
fn find_row(words: &[String], program: OtherTool) -> Option<MatchedWord> {
    let own = ROWS.iter().filter(|row| row.program == program);
    let others = ROWS.iter().filter(|row| row.program != program);
    own.chain(others).find_map(|row| fits(row, words))
}

fn fits(row: &'static OtherToolOption, words: &[String]) -> Option<MatchedWord> {
    let word = words.first()?;
    let rest = word.strip_prefix(row.word)?;
    // A word that begins with a dash is the next option, not a value.
    let next = words.get(1).filter(|next| !next.starts_with('-'));
    let is_long = row.word.starts_with("--");
    let (value, word_count) = match rest.strip_prefix('=') {
        Some(value) if is_long || !row.word.starts_with('-') => (value, 1),
        _ if !row.word.starts_with('-') || (is_long && !rest.is_empty()) => return None,
        // The value may follow the letter of an IOzone option without a space.
        _ if !rest.is_empty() => (rest, 1),
        _ => match (row.shape, next) {
            (ValueShape::Flag | ValueShape::AfterEquals, _) | (_, None) => ("", 1),
            (_, Some(next)) => (next.as_str(), 2),
        },
    };
    let is_fit = match row.shape {
        ValueShape::Flag => is_switch(value) && (is_long || rest.is_empty()),
        ValueShape::Number => value.parse::<f64>().is_ok(),
        ValueShape::Size => is_size(value),
        ValueShape::ParameterFile => is_parameter_file(value),
        ValueShape::Path => !value.is_empty() && !is_parameter_file(value),
        ValueShape::Value | ValueShape::AfterEquals => !value.is_empty(),
    };
    is_fit.then(|| MatchedWord {
        row,
        value: value.to_owned(),
        word_count,
        job_count: 1,
    })
}

/// Returns `true` if a file is a vdbench parameter file, by its name or contents. vdbench's `-f`
/// names such a file; IOzone's `-f` names the file to measure.
fn is_parameter_file(path: &str) -> bool {
    let path = Path::new(path);
    let extension = path.extension().and_then(|it| it.to_str());
    if extension.is_some_and(|it| ["parm", "parmfile", "vdb"].contains(&it)) {
        return true;
    }
    let name = path.to_str().unwrap_or_default();
    let start = FileAccess::anywhere().beginning(name, SNIFF_BYTES);
    let start = start.unwrap_or_default();
    let start = String::from_utf8_lossy(&start);
    let kinds = ["sd=", "wd=", "rd=", "fsd=", "fwd="];
    let begins = |line: &str| kinds.iter().any(|kind| line.starts_with(kind));
    start.lines().any(begins)
}

/// Returns `true` for values that fio accepts after a flag.
fn is_switch(value: &str) -> bool {
    matches!(value, "" | "0" | "1" | "true" | "false")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_=+:,./@%".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
