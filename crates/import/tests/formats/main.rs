//! Results of other programs, in the form in which each version prints them. All texts here were
//! written for these tests.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod csv_files;
mod documents;
mod hostile;
mod texts;

use import::{read, recognize};
use plan::Diagnostic;
use results::{ImportRecord, ImportedText};

fn source(text: &str) -> Vec<ImportedText> {
    vec![ImportedText {
        name: "results".to_owned(),
        text: text.to_owned(),
    }]
}

/// Reads a text of a known format.
fn import(text: &str) -> Result<ImportRecord, Diagnostic> {
    let texts = source(text);
    let format = recognize(&texts).expect("the format is known");
    read(format, texts)
}

/// Reads a text that is complete.
fn imported(text: &str) -> ImportRecord {
    import(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The value of a figure of the result with this name.
#[track_caller]
fn value(record: &ImportRecord, name: &str, operation: &str, metric: &str) -> f64 {
    let mut results = record.results.iter();
    let result = results.find(|it| it.name == name);
    let result = result.unwrap_or_else(|| panic!("no {name} in {:?}", record.names()));
    let value = result.value(operation, metric);
    value.unwrap_or_else(|| panic!("no {operation} {metric} in {:?}", result.figures))
}

/// The line of an error, and its message.
#[track_caller]
fn refusal(text: &str) -> (u32, String) {
    let error = import(text).unwrap_err();
    assert!(error.help.is_some(), "{error}");
    (error.line.expect("a line"), error.message.clone())
}
