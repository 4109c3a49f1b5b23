//! Misspelled words in names, comments, messages and documents outside of tests, which misspell
//! words on purpose.

use std::borrow::Cow;
use std::path::Path;

use typos::tokens::{Identifier, Tokenizer, Word};
use typos::{Dictionary, Status};
use unicase::UniCase;

use super::TidyFinding;
use super::source::SourceFile;
use crate::error::Failure;
use crate::workspace;

/// Words that the dictionary takes for misspellings, with their meanings.
const KNOWN: &[(&str, &str)] = &[
    ("ba", "an option of fio; B/A in a comparison"),
    ("flate", "part of a crate's name"),
    ("iif", "a function of SQLite"),
    ("nd", "the suffix of 2nd"),
    ("parm", "a suffix of vdbench's parameter files"),
    ("pn", "a column of IOR"),
    ("ratatui", "a crate"),
    ("reord", "a column of IOR"),
    ("ser", "a module of serde"),
    ("thr", "a column of smallfile"),
    (
        "wrk",
        "the kernel's short form of worker, in fields of io_uring",
    ),
    ("wronly", "a mode of open(2)"),
];

/// Suffixes of the documents.
const DOCUMENTS: &[&str] = &[".md", ".toml", ".txt"];

/// Checks all sources and documents.
pub fn check(
    root: &Path,
    sources: &[SourceFile],
    findings: &mut Vec<TidyFinding>,
) -> Result<(), Failure> {
    for file in sources {
        let found = misspelled(&file.path, &file.text).into_iter();
        findings.extend(found.filter(|it| !file.is_test_line(it.line)));
    }
    for relative in workspace::files(root, DOCUMENTS)? {
        if relative.starts_with("tests") || relative.starts_with("fuzz") {
            continue;
        }
        let text = workspace::read(root, &relative)?;
        findings.extend(misspelled(&relative.to_string_lossy(), &text));
    }
    Ok(())
}

fn misspelled(path: &str, text: &str) -> Vec<TidyFinding> {
    let tokenizer = Tokenizer::new();
    let line_findings = |(index, line): (usize, &str)| {
        let found = typos::check_str(line, &tokenizer, &CommonMisspellings);
        let found = found.map(|it| TidyFinding {
            rule: "misspelling",
            path: path.to_owned(),
            line: index + 1,
            message: match &it.corrections {
                Status::Corrections(all) => {
                    format!(
                        "`{}` is misspelled; write `{}`",
                        it.typo,
                        all.join("` or `")
                    )
                }
                Status::Valid | Status::Invalid => format!("`{}` is misspelled", it.typo),
            },
        });
        found.collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(line_findings).collect()
}

/// Dictionary of common misspellings.
struct CommonMisspellings;

impl Dictionary for CommonMisspellings {
    fn correct_ident<'s>(&'s self, _: Identifier<'_>) -> Option<Status<'s>> {
        None
    }

    fn correct_word<'s>(&'s self, word: Word<'_>) -> Option<Status<'s>> {
        let word = word.token();
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if KNOWN.iter().any(|(known, _)| is(known)) {
            return None;
        }
        let corrections = typos_dict::WORD.find(&UniCase::new(word))?;
        let corrections = corrections.iter().map(|it| Cow::Borrowed(*it));
        Some(Status::Corrections(corrections.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        misspelled("a.md", text)
            .into_iter()
            .map(|it| it.message)
            .collect()
    }

    #[test]
    fn misspelled_words_are_found_also_in_names() {
        let found = misspelled("a.rs", "first\nlet write_befor = 1; // recieved");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].rule), (2, "misspelling"));
        assert_eq!(found[0].message, "`befor` is misspelled; write `before`");
        assert_eq!(
            found[1].message,
            "`recieved` is misspelled; write `received`"
        );
    }

    #[test]
    fn terms_of_the_field_are_not_misspellings() {
        assert!(messages("O_WRONLY iodepth fsync ba=4k --rwmix").is_empty());
        assert!(messages("The 2nd record is correct.").is_empty());
    }
}
