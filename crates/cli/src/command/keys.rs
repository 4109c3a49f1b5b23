//! `keys` and `schema`: the reference of workload files, generated from the types that parse them.

use std::fmt::Write as _;

use description::reference::{WorkloadKey, find_keys, keys as all_keys, nearest_key};
use planning::KeyList;
use report::wrap;

use crate::args::KeysArgs;
use crate::detached_output::detached_output;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::other_tools::key_of;
use crate::schemas;
use crate::terminal::{OutputStream, print_document};
use crate::usage::command_words;

/// Indentation of the explanation.
const INDENT: &str = "    ";

/// Prints all keys of workload files, or those that match a word.
pub(crate) fn keys(args: &KeysArgs) -> Result<Exit, CliError> {
    let output = args.json.open()?;
    let matches = match &args.word {
        Some(word) => found(word),
        None => all_keys(),
    };
    if let Some(word) = args.word.as_ref().filter(|_| matches.is_empty()) {
        let help = match (detached_output(word, &command_words()), nearest_key(word)) {
            (Some(help), _) => help,
            (None, Some(near)) => format!("did you mean `pgmeter keys {near}`?"),
            (None, None) => "`pgmeter keys` lists them all".to_owned(),
        };
        let message = format!("no key matches `{word}`");
        return Err(CliError::new(Exit::Usage, message, Some(help)));
    }
    let list = KeyList { keys: matches };
    output.give(&list, || {
        // A narrower page would leave too little room next to the indentation.
        let width = OutputStream::Output.page().width.max(40);
        let texts: Vec<String> = list.keys.iter().map(|key| entry(key, width)).collect();
        OutputText::prose(texts.join("\n"))
    })?;
    Ok(Exit::Success)
}

/// Finds the keys that match a word. Terms of other programs find the corresponding key, unless a
/// key has that name.
fn found(word: &str) -> Vec<WorkloadKey> {
    let matches = find_keys(word);
    let is_key = matches
        .iter()
        .any(|key| key.name == word || key.path() == word);
    let Some(path) = key_of(word).filter(|_| !is_key) else {
        return matches;
    };
    let all = all_keys().into_iter();
    let own_keys: Vec<WorkloadKey> = all.filter(|key| key.path() == path).collect();
    if own_keys.is_empty() {
        return matches;
    }
    tell!("`{word}` is `{path}` in workload files");
    own_keys
}

/// Prints the JSON Schema with this name.
pub(crate) fn schema(name: &str) -> Result<Exit, CliError> {
    let schema = schemas::schema(name).ok_or_else(CliError::bug)?;
    print_document(&OutputText::Json(schema))?;
    Ok(Exit::Success)
}

/// Formats a key on its own line, and the explanation below it.
fn entry(key: &WorkloadKey, width: usize) -> String {
    let unit = match (key.value.as_str(), key.unit) {
        ("percent", _) | (_, None) => String::new(),
        (_, Some("per second")) => " per second".to_owned(),
        (_, Some(unit)) => format!(" in {unit}"),
    };
    // The unit applies to each element of a list.
    let (value, list) = match key.value.strip_suffix(", or a list") {
        Some(value) => (value, ", or a list"),
        None => (key.value.as_str(), ""),
    };
    let mut text = format!("{}: {value}{unit}{list}\n", key.path());
    let mut description = key.meaning.clone();
    if !key.words.is_empty() {
        let _ = write!(description, " Values: {}.", key.words.join(", "));
    }
    if let Some(default) = &key.default {
        let _ = write!(description, " Default: {default}.");
    }
    for line in wrap(&description, width - INDENT.len()) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{INDENT}{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_entry_is_complete_and_fits_the_width() {
        for width in [40, 80, 200] {
            for key in all_keys() {
                let text = entry(&key, width);
                let (head, rest) = text.split_once('\n').expect("two lines");
                assert!(head.starts_with(&key.path()), "{head}");
                for line in rest.lines() {
                    let long_word = !line.trim().contains(' ');
                    assert!(line.chars().count() <= width || long_word, "{line}");
                }
            }
        }
        let found = find_keys("run_time");
        let text = entry(&found[0], 60);
        assert!(
            text.starts_with("run_time: time in seconds\n    Measured time"),
            "{text}"
        );
        assert!(text.contains("Default: 10"), "{text}");
    }
}
