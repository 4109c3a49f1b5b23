//! Translates errors of the TOML reader into the terms of workload files.

use crate::nearest::{listed, nearest, nearest_few};
use crate::reference::{WorkloadKey, key_at, key_elsewhere, sibling_key};
use plan::Diagnostic;

use super::place::WorkloadText;

/// Maximum nesting of tables and lists.
///
/// Source: `LIMIT` of the crate `toml`, which refuses more.
const DEPTH_MAX: u32 = 80;

/// Maximum number of keys suggested instead of an unknown one.
const SUGGESTIONS_MAX: usize = 3;

/// Keys of other programs' job files, with the corresponding keys of jobs.
const JOB_FILE_KEYS: [(&str, &str); 31] = [
    ("numjobs", "count"),
    ("stonewall", "waits"),
    ("wait_for_previous", "waits"),
    ("startdelay", "start_delay"),
    ("exitall", "ends_others"),
    ("ioengine", "engine"),
    ("direct", "cache"),
    ("buffered", "cache"),
    ("filename", "files"),
    ("nrfiles", "files"),
    ("directory", "target"),
    ("filename_format", "file_names"),
    ("filesize", "size"),
    ("offset", "start"),
    ("offset_increment", "start_step"),
    ("io_size", "bytes"),
    ("number_ios", "operations"),
    ("rw", "read"),
    ("readwrite", "read"),
    ("rwmixread", "read"),
    ("bs", "block_size"),
    ("blocksize", "block_size"),
    ("bssplit", "block_size"),
    ("bsrange", "block_size"),
    ("random_distribution", "distribution"),
    ("norandommap", "distribution"),
    ("runtime", "run_time"),
    ("thinktime", "delay"),
    ("rate_iops", "rate"),
    ("fsync", "fsync_each"),
    ("end_fsync", "fsync_at_end"),
];

/// Prefixes of the reader's messages about a value of the wrong type, rather than invalid TOML.
const TYPE_ERRORS: [&str; 3] = ["invalid type: ", "invalid value: ", "invalid length "];

/// Translates the reader's error into one that names the key, the value found, the value expected,
/// and one action.
pub(crate) fn translate(error: &toml::de::Error, page: &WorkloadText) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let (message, help) = reword(error.message(), &span, page);
    let diagnostic = page.place(Diagnostic::error(page.file, message), span.start);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn reword(
    raw: &str,
    span: &std::ops::Range<usize>,
    page: &WorkloadText,
) -> (String, Option<String>) {
    // The reader's errors have no kind, so their texts are compared.
    if raw == "recursion limit" || raw.starts_with("cannot recurse further") {
        let message = format!("tables and lists are nested more than {DEPTH_MAX} deep");
        let help = "no key of a workload needs more than a few; take the others out";
        return (message, Some(help.to_owned()));
    }
    let key = || page.key_at(span).unwrap_or_else(|| "value".to_owned());
    if let Some((seen, known)) = choice(raw, "unknown field `") {
        let help = suggest_key(&seen, &known);
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
    // The last text is the reader's own, for a value that cannot be an enumeration.
    if TYPE_ERRORS.iter().any(|start| raw.starts_with(start)) || raw == "wanted string or table" {
        let wanted = raw
            .split_once(", expected ")
            .map_or("a word", |(_, wanted)| wanted);
        let (key, seen) = (key(), page.excerpt(span));
        let (wanted, help) = describe_expected_type(wanted, &key, &seen);
        return (format!("`{key}` is `{seen}`, not {wanted}"), help);
    }
    match raw.rsplit_once("; ") {
        // Visitors of this program write `error; action`.
        Some((what, help)) => (format!("`{}`: {what}", key()), Some(help.to_owned())),
        // The text is valid, so the message is about a value and not about the syntax.
        None if page.is_toml() => (raw.to_owned(), None),
        None => explain_invalid_toml(raw, &page.excerpt(span)),
    }
}

/// Error text for invalid TOML: a mistake in a file, or a file of another kind.
fn explain_invalid_toml(raw: &str, seen: &str) -> (String, Option<String>) {
    if raw == "duplicate key" {
        let message = format!("the key `{seen}` is given twice");
        return (message, Some("keep one of them".to_owned()));
    }
    let message = format!("cannot read this as TOML: {}", raw.replace('\n', " "));
    let help = match raw.starts_with("string values must be quoted") {
        true => format!("put the value in quotes, as in `\"{seen}\"`"),
        false => "`pgmeter show --template` prints a workload file to start from".to_owned(),
    };
    (message, Some(help))
}

/// Example of a choice that takes a value, if only its word was written.
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
        ("index", "{ index = 0 }"),
        ("pause", "{ pause = \"10s\" }"),
    ]
    .into_iter()
    .find_map(|(known, example)| (known == word).then_some(example))
}

/// Extracts the word found and the known words from serde's message.
fn choice(raw: &str, prefix: &str) -> Option<(String, Vec<String>)> {
    let rest = raw.strip_prefix(prefix)?;
    // The word found may contain anything, so its end is searched from the end of the message.
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
    Some((plan::printable(seen), known))
}

/// The key that was probably meant, with its description: the key of this name in another table,
/// else the most similar key in this one.
fn suggest_key(seen: &str, known: &[String]) -> String {
    // Only jobs have this key, so it identifies their table.
    let is_job = known.iter().any(|key| key == "start_step");
    let job_file_key = JOB_FILE_KEYS
        .iter()
        .find(|(word, _)| is_job && *word == seen);
    if let Some((_, name)) = job_file_key {
        let sentence = sibling_key(name, known).map(|key| key.sentence().to_owned());
        return format!("it is `{name}` here: {}", sentence.unwrap_or_default());
    }
    if let Some(key) = key_elsewhere(seen, known) {
        let (name, sentence) = (&key.name, key.sentence());
        return match key.table.as_str() {
            "" => format!("`{name}` belongs at the top of the file: {sentence}"),
            table => format!("`{name}` belongs in `{table}`: {sentence}"),
        };
    }
    let words = known.iter().map(String::as_str);
    match nearest_few(seen, words, SUGGESTIONS_MAX).as_slice() {
        [] => did_you_mean(seen, known, "keys"),
        near => {
            let keys: Vec<_> = near
                .iter()
                .map(|it| (*it, sibling_key(it, known)))
                .collect();
            meant(&keys)
        }
    }
}

/// Suggests keys, each with its description, the most likely one first.
pub(crate) fn meant(keys: &[(&str, Option<WorkloadKey>)]) -> String {
    let one = |(name, key): &(&str, Option<WorkloadKey>)| match key {
        Some(key) => format!("`{name}`? {}", key.sentence()),
        None => format!("`{name}`?"),
    };
    let all: Vec<String> = keys.iter().map(one).collect();
    format!("did you mean {}", all.join("\n  or "))
}

fn did_you_mean(seen: &str, known: &[String], noun: &str) -> String {
    let words = || known.iter().map(String::as_str);
    match nearest(seen, words()) {
        Some(word) => format!("did you mean `{word}`?"),
        None if known.is_empty() => format!("there are no {noun} here; take it out"),
        None if known.len() <= 12 => format!("the {noun} are {}", listed(words())),
        None => format!("`pgmeter keys` lists the {noun}"),
    }
}

/// The expected type in plain words, and the correct form of the value if it is known.
fn describe_expected_type(wanted: &str, key: &str, seen: &str) -> (String, Option<String>) {
    let write = |example: &str| Some(format!("write {example}"));
    match wanted {
        "u32" | "u64" => wanted_count(key, seen),
        "i64" => ("a whole number".to_owned(), number_help(seen)),
        "f64" => ("a number".to_owned(), number_help(seen)),
        "a boolean" => (
            "`true` or `false`".to_owned(),
            write("`true` or `false` without quotes"),
        ),
        "a string" => ("a text".to_owned(), write("the text in quotes")),
        "a sequence" => (
            "a list of tables".to_owned(),
            Some(format!("write each as a separate table, `[[{key}]]`")),
        ),
        "a map" => {
            let name = key.rsplit('.').next().unwrap_or_default();
            let help = format!("write `{name} = {{ NAME = ... }}`, one for each name");
            ("a table".to_owned(), Some(help))
        }
        _ if wanted.starts_with("struct ") => ("a table".to_owned(), None),
        _ => (wanted.to_owned(), None),
    }
}

/// Describes a whole number in the range that the key's description states.
fn wanted_count(key: &str, seen: &str) -> (String, Option<String>) {
    let Some((min, max)) = key_at(key).and_then(|key| key.range()) else {
        let words = "a whole number of at least 0".to_owned();
        return (words, number_help(seen));
    };
    let name = key.rsplit('.').next().unwrap_or_default();
    // Only for a number is there a nearest one in the range.
    let near = match seen.parse::<i128>() {
        Ok(seen) if seen > i128::from(max) => Some(max),
        Ok(seen) if seen < i128::from(min) => Some(min),
        _ => None,
    };
    let help = match near {
        Some(near) => Some(format!("write `{name} = {near}`")),
        None => number_help(seen),
    };
    (format!("a whole number from {min} to {max}"), help)
}

fn number_help(seen: &str) -> Option<String> {
    let is_quoted = seen.starts_with(['"', '\'']);
    is_quoted.then(|| "write a number without quotes".to_owned())
}
