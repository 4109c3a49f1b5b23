//! What the TOML reader complains about, said in the words of workload files.

use crate::diagnostic::Diagnostic;
use crate::nearest::{listed, nearest};
use crate::reference::{WorkloadKey, key_beside, key_elsewhere};

use super::place::Page;

/// How deep tables and lists may be nested.
///
/// Source: `LIMIT` of the crate `toml`, which refuses more.
const DEPTH_MAX: u32 = 80;

/// Turns the reader's error into one that names the key, what was seen, what was wanted, and one
/// action.
pub(crate) fn translate(error: &toml::de::Error, page: &Page) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let (message, help) = reworded(error.message(), &span, page);
    let diagnostic = page.place(Diagnostic::error(page.file, message), span.start);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn reworded(raw: &str, span: &std::ops::Range<usize>, page: &Page) -> (String, Option<String>) {
    if raw == "recursion limit" || raw.starts_with("cannot recurse further") {
        let message = format!("tables and lists are nested more than {DEPTH_MAX} deep");
        let help = "no key of a workload needs more than a few; take the others out";
        return (message, Some(help.to_owned()));
    }
    let key = || page.key_at(span).unwrap_or_else(|| "value".to_owned());
    if let Some((seen, known)) = choice(raw, "unknown field `") {
        let help = which_key(&seen, &known);
        return (format!("unknown key `{seen}`"), Some(help));
    }
    if let Some((seen, known)) = choice(raw, "unknown variant `") {
        let message = format!("`{seen}` is not a value of `{}`", key());
        return (message, Some(did_you_mean(&seen, &known, "values")));
    }
    if let Some(field) = raw.strip_prefix("missing field ") {
        let owner = key();
        return (
            format!("`{owner}` lacks {field}"),
            Some(format!("add {field}")),
        );
    }
    if let Some(example) = example_with_value(raw, page.excerpt(span).trim_matches(['"', '\''])) {
        let key = key();
        let message = format!("`{key}` is `{}` without a value", page.excerpt(span));
        let last = key.rsplit('.').next().unwrap_or_default();
        return (message, Some(format!("write `{last} = {example}`")));
    }
    if raw.starts_with("invalid ") || raw == "wanted string or table" {
        let wanted = raw
            .split_once(", expected ")
            .map_or("a word", |(_, wanted)| wanted);
        let (wanted, example) = wanted_words(wanted);
        let message = format!("`{}` is `{}`, not {wanted}", key(), page.excerpt(span));
        return (message, example.map(|example| format!("write {example}")));
    }
    match raw.rsplit_once("; ") {
        Some((what, help)) => (format!("`{}`: {what}", key()), Some(help.to_owned())),
        None => (format!("not TOML: {}", raw.replace('\n', " ")), None),
    }
}

/// How a choice that takes a value is written, where the word stands alone.
fn example_with_value(raw: &str, word: &str) -> Option<&'static str> {
    if !raw.ends_with("newtype variant") {
        return None;
    }
    [
        ("zipf", "{ zipf = 1.2 }"),
        ("pareto", "{ pareto = 0.2 }"),
        ("normal", "{ normal = 10 }"),
        (
            "zones",
            "{ zones = [{ access = 80, size = 20 }, { access = 20, size = 80 }] }",
        ),
        ("strided", "{ strided = \"1MiB\" }"),
    ]
    .into_iter()
    .find_map(|(known, example)| (known == word).then_some(example))
}

/// Takes the seen word and the known ones out of serde's message.
fn choice(raw: &str, prefix: &str) -> Option<(String, Vec<String>)> {
    let rest = raw.strip_prefix(prefix)?;
    // The seen word may hold anything, so the end of it is looked for from behind.
    let (seen, known) = match rest.rfind("`, expected ") {
        Some(end) => (&rest[..end], &rest[end + "`, expected ".len()..]),
        None => (rest.rsplit_once("`, ")?.0, ""),
    };
    let known = known
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    Some((crate::printable(seen), known))
}

/// The key that was meant, with what it says: the one of this name in another table, else the one
/// that is spelled most alike in this one.
fn which_key(seen: &str, known: &[String]) -> String {
    if let Some(key) = key_elsewhere(seen, known) {
        let (name, sentence) = (&key.name, key.sentence());
        return match key.table.as_str() {
            "" => format!("`{name}` stands at the top of the file: {sentence}"),
            table => format!("`{name}` stands in `{table}`: {sentence}"),
        };
    }
    match nearest(seen, known.iter().map(String::as_str)) {
        Some(near) => meant(near, key_beside(near, known)),
        None => did_you_mean(seen, known, "keys"),
    }
}

/// Whether a key was meant, and what it says.
pub(crate) fn meant(name: &str, key: Option<WorkloadKey>) -> String {
    match key {
        Some(key) => format!("did you mean `{name}`? {}", key.sentence()),
        None => format!("did you mean `{name}`?"),
    }
}

fn did_you_mean(seen: &str, known: &[String], what: &str) -> String {
    let words = || known.iter().map(String::as_str);
    match nearest(seen, words()) {
        Some(word) => format!("did you mean `{word}`?"),
        None if known.is_empty() => format!("there are no {what} here; take it out"),
        None if known.len() <= 12 => format!("the {what} are {}", listed(words())),
        None => format!("`pgmeter keys` lists the {what}"),
    }
}

/// The wanted type in plain words, and an example if there is a plain one.
fn wanted_words(wanted: &str) -> (String, Option<&'static str>) {
    let (words, example) = match wanted {
        "u32" => (
            "a whole number from 0 to 4294967295",
            Some("a number without quotes"),
        ),
        "u64" => (
            "a whole number of at least 0",
            Some("a number without quotes"),
        ),
        "i64" => ("a whole number", Some("a number without quotes")),
        "f64" => ("a number", Some("a number without quotes")),
        "a boolean" => (
            "`true` or `false`",
            Some("`true` or `false` without quotes"),
        ),
        "a string" => ("a text", Some("the text in quotes")),
        "a sequence" => (
            "a list of tables",
            Some("each as a table of its own, `[[...]]`"),
        ),
        _ if wanted.starts_with("struct ") => ("a table", None),
        _ => return (wanted.to_owned(), None),
    };
    (words.to_owned(), example)
}
