//! Tests of reading, writing and converting Iometer configurations.

mod convert;
mod errors;
mod leniency;
mod mutation;
mod planned;
mod round_trip;
mod samples;
mod texts;
mod versions;

use super::{IcfDocument, Strictness, parse};

/// Reads a text that must be accepted in both modes without any warning.
fn clean(text: &str) -> IcfDocument {
    let strict = parse(text.as_bytes(), "a.icf", Strictness::Strict).unwrap();
    assert_eq!(strict.warnings, []);
    let tolerant = parse(text.as_bytes(), "a.icf", Strictness::Tolerant).unwrap();
    assert_eq!(tolerant.warnings, []);
    assert_eq!(strict.document, tolerant.document);
    tolerant.document
}

/// Reads a text tolerantly; the document and the messages of all warnings with their lines.
fn tolerant(text: &str) -> (IcfDocument, Vec<String>) {
    let parsed = parse(text.as_bytes(), "a.icf", Strictness::Tolerant).unwrap();
    let lines = parsed
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.line.unwrap_or_default(), warning.message));
    (parsed.document, lines.collect())
}

/// The message with which strict reading refuses a text.
fn refused(text: &str) -> String {
    let error = parse(text.as_bytes(), "a.icf", Strictness::Strict).unwrap_err();
    format!("{}: {}", error.line.unwrap_or_default(), error.message)
}

/// The whole message with which tolerant reading refuses a text.
fn error(text: &str) -> String {
    let tolerant = parse(text.as_bytes(), "a.icf", Strictness::Tolerant).unwrap_err();
    assert!(
        parse(text.as_bytes(), "a.icf", Strictness::Strict).is_err(),
        "strict accepts it"
    );
    assert!(tolerant.help.is_some());
    tolerant.to_string()
}
