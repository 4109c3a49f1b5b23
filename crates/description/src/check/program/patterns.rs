//! Names of files as they are written.

use super::super::Flaw;
use plan::program::{FileNames, PADDED_WORKER_MARK, ROUND_MARK, WORKER_MARK};

/// What stands for the number of a file in its name, behind a brace.
const NUMBER: &str = "{number";

/// The names of files without any that are written.
pub(crate) fn usual_names(name: &str) -> FileNames {
    FileNames::Number {
        before: format!("{}-", name.replace('/', "-")),
        digits: 0,
        after: String::new(),
    }
}

/// `before{number}after`, or `{number:6}` for so many digits.
pub(super) fn file_names(key: &'static str, pattern: &str) -> Result<FileNames, Flaw> {
    let wrong = |message: String| {
        Flaw::new(
            key,
            message,
            "write such as `msg-{number}` or `msg-{number:6}`",
        )
    };
    let shown = plan::printable(pattern);
    let Some((before, rest)) = pattern.split_once(NUMBER) else {
        return Err(wrong(format!("the names `{shown}` have no `{{number}}`")));
    };
    let Some((digits, after)) = rest.split_once('}') else {
        return Err(wrong(format!(
            "the names `{shown}` have a brace that is not closed"
        )));
    };
    let digits = match digits.strip_prefix(':') {
        None if digits.is_empty() => Some(0),
        None => None,
        Some(count) => count.parse().ok().filter(|count| (1..=20).contains(count)),
    };
    let Some(digits) = digits else {
        return Err(wrong(format!(
            "the names `{shown}` have no number of 1 to 20 digits"
        )));
    };
    if [before, after].iter().any(|text| has_brace(text)) {
        return Err(wrong(format!(
            "the names `{shown}` have more than one number"
        )));
    }
    Ok(FileNames::Number {
        before: before.to_owned(),
        digits,
        after: after.to_owned(),
    })
}

/// Whether there is a brace that belongs to no mark.
fn has_brace(text: &str) -> bool {
    let marks = [WORKER_MARK, PADDED_WORKER_MARK, ROUND_MARK];
    let bare = marks
        .iter()
        .fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    bare.contains(['{', '}'])
}
