//! Other programs' options, said in ours: nobody shall have to look up what is only called
//! differently.

mod keys;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use front::FileAccess;

use crate::args::Cli;
use crate::slips::DESTRUCTIVE;

pub(crate) use keys::key_of;
use table::{ForeignProgram, Ours, ROWS, Spelling, is_size};

/// Commands that take the options of workloads.
const COMMANDS: [&str; 3] = ["run", "check", "compare"];

/// As much of a file is looked at to tell whose it is.
const PARAMETER_BYTES: u64 = 4096;

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueShape {
    /// Nothing, or a switch behind `=`.
    Flag,
    /// A number.
    Number,
    /// A size.
    Size,
    /// A path, at any rate no option.
    Path,
    /// A file of vdbench's parameters.
    Parameters,
    /// Anything.
    Value,
    /// Anything behind `=`; without that the option is ours.
    Given,
}

/// A word of the command line that another program's row fits.
struct ForeignWord {
    row: &'static Spelling,
    value: String,
    /// How many words it takes.
    word_count: usize,
}

impl ForeignWord {
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
        match self.row.ours {
            Ours::Same(option) => Some(format!("{option} {}", quoted(value))),
            Ours::Words(words) => Some(words.to_owned()),
            Ours::Made(make) => Some(make(value)),
            Ours::Nothing(_) | Ours::Otherwise(_) => None,
        }
    }

    fn tip(&self) -> String {
        let (shown, program) = (self.shown(), self.row.program.name());
        match (self.row.ours, self.ours()) {
            (Ours::Nothing(why), _) => format!("{program}'s `{shown}` is not needed: {why}"),
            (Ours::Otherwise(how), _) => format!("{program}'s `{shown}` is no option here: {how}"),
            (_, Some(ours)) if !ours.is_empty() => {
                format!("{program}'s `{shown}` is `{ours}` here")
            }
            _ => format!("{program}'s `{shown}` is the default here"),
        }
    }
}

/// Adds to an error of the command line what words of other programs are called here.
pub(crate) fn translate(error: &mut clap::Error, words: &[String]) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let invalid = text(ContextKind::InvalidArg);
    let name = invalid.split([' ', '=']).next().unwrap_or_default();
    let is_ours = |word: &String| COMMANDS.contains(&word.as_str());
    let start = words.iter().position(is_ours).map_or(1, |at| at + 1);
    let is_other_command = words
        .get(1)
        .is_some_and(|word| !word.starts_with('-') && !is_ours(word));
    if is_other_command {
        return;
    }
    let tips = match error.kind() {
        ErrorKind::InvalidValue if name == "--rw" && is_trim(&text(ContextKind::InvalidValue)) => {
            let tip = "pgmeter cannot discard (trim) blocks; `--rw randwrite` overwrites them";
            vec![tip.to_owned()]
        }
        ErrorKind::UnknownArgument | ErrorKind::InvalidValue | ErrorKind::TooManyValues => {
            tips(words.get(start..).unwrap_or_default(), name)
        }
        _ => Vec::new(),
    };
    if tips.is_empty() {
        return;
    }
    // What is spelled alike is not what was meant.
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

/// What a word `key=value` in the place of a workload is called here, as help.
pub(crate) fn of_workload(word: &str) -> Option<String> {
    let (key, value) = word
        .split_once('=')
        .filter(|(_, value)| !value.is_empty())?;
    if let Some(found) = found_at(&[word.to_owned()], ForeignProgram::Vdbench) {
        return Some(found.tip());
    }
    let command = Cli::command();
    let run = command.find_subcommand("run")?;
    // Nobody shall have the option that destroys for a slip.
    if !DESTRUCTIVE.contains(&key) && run.get_arguments().any(|it| it.get_long() == Some(key)) {
        return Some(format!("write `--{key} {}`", quoted(value)));
    }
    // As in a job file of fio.
    let option = format!("--{word}");
    found_at(&[option], ForeignProgram::Fio).map(|found| found.tip())
}

/// fio's words for discarding.
fn is_trim(value: &str) -> bool {
    value.contains("trim")
}

/// A tip for each word of another program, and the whole line in our words; nothing unless the
/// word that was not understood is among them.
fn tips(words: &[String], invalid: &str) -> Vec<String> {
    let program = likeliest(words);
    let mut tips = Vec::new();
    let mut line: Vec<(String, bool)> = Vec::new();
    let (mut at, mut is_explained) = (0, false);
    while at < words.len() {
        let found = found_at(&words[at..], program);
        let Some(found) = found else {
            line.push((quoted(&words[at]), false));
            at += 1;
            continue;
        };
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
        tips.push(format!("in full: `pgmeter run {}`", without_repeats(line)));
    }
    tips
}

/// The line without what would say an option twice: what has a value says more than a flag does.
fn without_repeats(line: Vec<(String, bool)>) -> String {
    let name = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let mut kept: Vec<(String, bool)> = Vec::new();
    for (text, says) in line.into_iter().filter(|(text, _)| !text.is_empty()) {
        let option = name(&text);
        // These may be said again.
        let is_single = option.starts_with("--") && option != "--set" && option != "--target";
        let earlier = kept.iter_mut().find(|(other, _)| name(other) == option);
        match earlier.filter(|_| is_single) {
            Some(earlier) if says && !earlier.1 => *earlier = (text, says),
            Some(_) => {}
            None => kept.push((text, says)),
        }
    }
    let texts: Vec<String> = kept.into_iter().map(|(text, _)| text).collect();
    texts.join(" ")
}

/// The program whose rows fit most words, the earlier of equals.
fn likeliest(words: &[String]) -> ForeignProgram {
    let fits = |program: ForeignProgram| {
        let starts = 0..words.len();
        let of_it = |at: &usize| {
            let found = found_at(&words[*at..], program);
            found.is_some_and(|found| found.row.program == program)
        };
        starts.filter(of_it).count()
    };
    let mut all = ForeignProgram::ALL.into_iter();
    let first = all.next().unwrap_or(ForeignProgram::Fio);
    all.fold(first, |best, next| match fits(next) > fits(best) {
        true => next,
        false => best,
    })
}

/// The row that fits where the words begin, the program's own before those of others.
fn found_at(words: &[String], program: ForeignProgram) -> Option<ForeignWord> {
    let own = ROWS.iter().filter(|row| row.program == program);
    let others = ROWS.iter().filter(|row| row.program != program);
    own.chain(others).find_map(|row| fits(row, words))
}

fn fits(row: &'static Spelling, words: &[String]) -> Option<ForeignWord> {
    let word = words.first()?;
    let rest = word.strip_prefix(row.word)?;
    let next = words.get(1).filter(|next| !next.starts_with('-'));
    let is_long = row.word.starts_with("--");
    let (value, word_count) = match rest.strip_prefix('=') {
        Some(value) if is_long || !row.word.starts_with('-') => (value, 1),
        _ if !row.word.starts_with('-') || (is_long && !rest.is_empty()) => return None,
        // IOzone's letters may have their value attached.
        _ if !rest.is_empty() => (rest, 1),
        _ => match (row.shape, next) {
            (ValueShape::Flag | ValueShape::Given, _) | (_, None) => ("", 1),
            (_, Some(next)) => (next.as_str(), 2),
        },
    };
    let is_fit = match row.shape {
        ValueShape::Flag => is_switch(value) && (is_long || rest.is_empty()),
        ValueShape::Number => value.parse::<f64>().is_ok(),
        ValueShape::Size => is_size(value),
        ValueShape::Parameters => is_parameter_file(value),
        ValueShape::Path => !value.is_empty() && !is_parameter_file(value),
        ValueShape::Value | ValueShape::Given => !value.is_empty(),
    };
    is_fit.then(|| ForeignWord {
        row,
        value: value.to_owned(),
        word_count,
    })
}

/// Whether a file's name or its contents are of vdbench's parameters: `-f` names them there, and a
/// file to measure in IOzone.
fn is_parameter_file(path: &str) -> bool {
    let path = Path::new(path);
    let extension = path.extension().and_then(|it| it.to_str());
    if extension.is_some_and(|it| ["parm", "parmfile", "vdb"].contains(&it)) {
        return true;
    }
    let name = path.to_str().unwrap_or_default();
    let start = FileAccess::anywhere().beginning(name, PARAMETER_BYTES);
    let start = start.unwrap_or_default();
    let start = String::from_utf8_lossy(&start);
    let kinds = ["sd=", "wd=", "rd=", "fsd=", "fwd="];
    let begins = |line: &str| kinds.iter().any(|kind| line.starts_with(kind));
    start.lines().any(begins)
}

/// What fio writes behind a flag.
fn is_switch(value: &str) -> bool {
    matches!(value, "" | "0" | "1" | "true" | "false")
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_=+:,./@%".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
