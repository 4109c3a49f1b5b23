//! `keys` and `schema`: what workload files say, from the types that read them.

use std::fmt::Write as _;

use description::reference::{WorkloadKey, find_keys, keys as all_keys, nearest_key};
use planning::KeyList;
use report::wrap;

use crate::args::KeysArgs;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::foreign::key_of;
use crate::schemas;
use crate::terminal::{Stream, print_document};

/// Columns before the explanation.
const INDENT: &str = "    ";

/// Prints every key of workload files, or those that a word finds.
pub(crate) fn keys(args: &KeysArgs) -> Result<Exit, Failure> {
    let output = args.json.open()?;
    let found = match &args.word {
        Some(word) => found(word),
        None => all_keys(),
    };
    if let Some(word) = args.word.as_ref().filter(|_| found.is_empty()) {
        let help = match nearest_key(word) {
            Some(near) => format!("did you mean `pgmeter keys {near}`?"),
            None => "`pgmeter keys` lists them all".to_owned(),
        };
        let message = format!("no key is called `{word}` or says so");
        return Err(Failure::new(Exit::Usage, message, Some(help)));
    }
    let list = KeyList { keys: found };
    output.give(&list, || {
        let width = Stream::Output.page().width.max(40);
        let texts: Vec<String> = list.keys.iter().map(|key| entry(key, width)).collect();
        Document::prose(texts.join("\n"))
    })?;
    Ok(Exit::Measured)
}

/// The keys that a word finds; another program's word finds the key that says the same here, unless
/// a key is called so.
fn found(word: &str) -> Vec<WorkloadKey> {
    let found = find_keys(word);
    let is_key = found
        .iter()
        .any(|key| key.name == word || key.path() == word);
    let Some(path) = key_of(word).filter(|_| !is_key) else {
        return found;
    };
    let all = all_keys().into_iter();
    let ours: Vec<WorkloadKey> = all.filter(|key| key.path() == path).collect();
    if ours.is_empty() {
        return found;
    }
    tell!("`{word}` is `{path}` in workload files");
    ours
}

/// Prints the JSON Schema of that name.
pub(crate) fn schema(name: &str) -> Result<Exit, Failure> {
    let schema = schemas::schema(name).ok_or_else(Failure::bug)?;
    print_document(&Document::Json(schema))?;
    Ok(Exit::Measured)
}

/// A key's own line, and below it what it says.
fn entry(key: &WorkloadKey, width: usize) -> String {
    let unit = match (key.value.as_str(), key.unit) {
        ("percent", _) | (_, None) => String::new(),
        (_, Some("per second")) => " per second".to_owned(),
        (_, Some(unit)) => format!(" in {unit}"),
    };
    // The unit is that of each element.
    let (value, list) = match key.value.strip_suffix(", or a list") {
        Some(value) => (value, ", or a list"),
        None => (key.value.as_str(), ""),
    };
    let mut text = format!("{}: {value}{unit}{list}\n", key.path());
    let mut said = key.meaning.clone();
    if !key.words.is_empty() {
        let _ = write!(said, " Values: {}.", key.words.join(", "));
    }
    if let Some(default) = &key.default {
        let _ = write!(said, " Default: {default}.");
    }
    for line in wrap(&said, width - INDENT.len()) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{INDENT}{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_fits_the_width_and_says_all_that_is_known() {
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
