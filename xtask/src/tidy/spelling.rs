//! Names and spelling.

use std::path::Path;

use syn::visit::Visit;

use super::Finding;
use super::source::SourceFile;
use crate::error::Failure;
use crate::workspace;

/// Words that say nothing about what a type or module is.
const EMPTY_NAMES: &[&str] = &[
    "manager", "helper", "helpers", "util", "utils", "handler", "data", "info", "misc",
];

/// British spellings; each is also found inside longer words.
const BRITISH: &[&str] = &[
    "colour",
    "behaviour",
    "favour",
    "honour",
    "neighbour",
    "serialis",
    "initialis",
    "normalis",
    "optimis",
    "organis",
    "recognis",
    "synchronis",
    "summaris",
    "minimis",
    "maximis",
    "utilis",
    "analyse",
    "centre",
    "licence",
    "cancelled",
    "labelled",
    "modelled",
    "artefact",
    "whilst",
];

/// Words about how a text came to be instead of what it says.
const PROVENANCE: &[&str] = &[
    "AI",
    "LLM",
    "ChatGPT",
    "Claude",
    "Copilot",
    "language model",
    "this session",
    "subagent",
];

/// Directories that only exist on somebody's machine; written in halves so as not to be one.
const MACHINE_PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/tmp/", "t-"),
];

/// Words of an unfinished text; in halves for the same reason.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Which kinds of files are read as text.
const TEXTS: &[&str] = &[
    ".rs", ".toml", ".md", ".json", ".icf", "run", ".snap", ".sh",
];

/// Checks the names of types and modules.
pub fn check_names(file: &SourceFile, findings: &mut Vec<Finding>) {
    let mut names = Names::default();
    names.visit_file(&file.tree);
    for ident in names.found {
        let name = ident.to_string();
        let word = words_of(&name)
            .into_iter()
            .find(|word| EMPTY_NAMES.contains(&word.as_str()));
        if let Some(word) = word {
            findings.push(Finding {
                rule: "type-names",
                path: file.path.clone(),
                line: ident.span().start().line,
                message: format!("`{name}`: `{word}` says nothing about what it is"),
            });
        }
    }
}

/// Checks the wording of every text file.
pub fn check_texts(root: &Path, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    for relative in workspace::files(root, TEXTS)? {
        let text = workspace::read(root, &relative)?;
        check_text(&relative.to_string_lossy(), &text, findings);
    }
    Ok(())
}

fn check_text(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (index, line) in text.lines().enumerate() {
        let mut push = |rule, message| {
            findings.push(Finding {
                rule,
                path: path.to_owned(),
                line: index + 1,
                message,
            });
        };
        let lower = line.to_lowercase();
        for word in BRITISH.iter().filter(|word| lower.contains(**word)) {
            push(
                "spelling",
                format!("`{word}` is British; this project spells American"),
            );
        }
        for word in PROVENANCE.iter().filter(|word| has_word(line, word)) {
            push(
                "words",
                format!("`{word}`: a text says what it says, not how it was made"),
            );
        }
        for found in MACHINE_PATHS.iter().filter(|found| line.contains(**found)) {
            push(
                "machine-paths",
                format!("`{found}` is a path of one machine"),
            );
        }
        for word in UNFINISHED
            .iter()
            .filter(|word| has_word(line, word.trim_end_matches(':')))
        {
            push("unfinished", format!("`{word}` marks an unfinished text"));
        }
    }
}

/// Whether `word` stands in `line` with no letter, digit or underscore beside it.
fn has_word(line: &str, word: &str) -> bool {
    let joins = |found: Option<char>| found.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(start, _)| {
        !joins(line[..start].chars().next_back())
            && !joins(line[start + word.len()..].chars().next())
    })
}

/// The words of a name in camel case or snake case, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if (letter == '_' || letter.is_uppercase()) && words.last().is_some_and(|w| !w.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[derive(Default)]
struct Names {
    found: Vec<proc_macro2::Ident>,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let ident = match item {
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Mod(item) => Some(&item.ident),
            _ => None,
        };
        self.found.extend(ident.cloned());
        syn::visit::visit_item(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_rules(text: &str) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check_text("a.md", text, &mut findings);
        findings.into_iter().map(|finding| finding.rule).collect()
    }

    fn is_empty_name(text: &str) -> bool {
        let mut findings = Vec::new();
        check_names(&SourceFile::parse("a.rs", text).unwrap(), &mut findings);
        !findings.is_empty()
    }

    #[test]
    fn names_that_say_nothing_are_found_as_whole_words() {
        assert!(is_empty_name("struct FileManager;"));
        assert!(is_empty_name("enum DataKind {}"));
        assert!(is_empty_name("mod utils {}"));
        assert!(!is_empty_name("struct Database;"));
        assert!(!is_empty_name("struct Metadata;"));
        assert!(!is_empty_name("struct Information;"));
    }

    #[test]
    fn british_spelling_is_found_in_any_case_and_ending() {
        assert_eq!(
            text_rules("Serialises the Colour"),
            ["spelling", "spelling"]
        );
        assert!(text_rules("Serializes the color").is_empty());
    }

    #[test]
    fn provenance_is_found_as_a_word_only() {
        assert_eq!(text_rules("made by AI."), ["words"]);
        assert!(text_rules("POSIX AIO, FAIL").is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        assert_eq!(
            text_rules(&format!("see {}main", MACHINE_PATHS[0])),
            ["machine-paths"]
        );
        assert!(text_rules("see ../shared/samples").is_empty());
    }

    #[test]
    fn unfinished_texts_are_found() {
        assert_eq!(
            text_rules(&format!("// {} later", UNFINISHED[0])),
            ["unfinished"]
        );
    }

    #[test]
    fn words_are_split_at_capitals_and_underscores() {
        assert_eq!(words_of("FileData_x"), ["file", "data", "x"]);
        assert_eq!(words_of("IOData"), ["i", "o", "data"]);
    }
}
