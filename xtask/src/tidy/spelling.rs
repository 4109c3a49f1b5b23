//! Rules for names and spelling.

use std::path::Path;

use syn::visit::Visit;

use super::TidyFinding;
use super::source::SourceFile;
use crate::error::Failure;
use crate::workspace;

/// Words that do not describe a type or module.
const EMPTY_NAMES: &[&str] = &[
    "manager", "helper", "helpers", "util", "utils", "handler", "data", "info", "misc",
];

/// British spellings, also as parts of longer words.
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

/// Words about the origin of a text instead of its subject.
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

/// Directories that exist only on one machine; split, so that this file does not contain them.
const MACHINE_PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/tmp/", "t-"),
];

/// Marks of unfinished text; split for the same reason.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Suffixes of the files that are checked as text.
const TEXTS: &[&str] = &[
    // `.ci/run` is a script without an extension.
    ".rs", ".toml", ".md", ".json", ".icf", "run", ".snap", ".sh",
];

/// Checks the names of types and modules.
pub fn check_names(file: &SourceFile, findings: &mut Vec<TidyFinding>) {
    let mut names = DefinedNames::default();
    names.visit_file(&file.tree);
    for ident in names.types.into_iter().chain(names.others) {
        let name = ident.to_string();
        let word = words_of(&name)
            .into_iter()
            .find(|word| EMPTY_NAMES.contains(&word.as_str()));
        if let Some(word) = word {
            findings.push(TidyFinding {
                rule: "type-names",
                path: file.path.clone(),
                line: ident.span().start().line,
                message: format!("`{name}`: `{word}` says nothing about what it is"),
            });
        }
    }
}

/// Checks the wording of every text file.
pub fn check_texts(root: &Path, findings: &mut Vec<TidyFinding>) -> Result<(), Failure> {
    for relative in workspace::files(root, TEXTS)? {
        let text = workspace::read(root, &relative)?;
        check_text(&relative.to_string_lossy(), &text, findings);
    }
    Ok(())
}

fn check_text(path: &str, text: &str, findings: &mut Vec<TidyFinding>) {
    for (index, line) in text.lines().enumerate() {
        let mut push = |rule, message| {
            findings.push(TidyFinding {
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

/// `true` if `line` contains `word` without an adjacent letter, digit or underscore.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let joins = |found: Option<char>| found.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(start, _)| {
        !joins(line[..start].chars().next_back())
            && !joins(line[start + word.len()..].chars().next())
    })
}

/// Words of a name in camel case or snake case, converted to lower case.
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

/// Names that a file defines.
#[derive(Default)]
pub(super) struct DefinedNames {
    /// Types and traits.
    pub types: Vec<proc_macro2::Ident>,
    /// Type aliases and modules.
    others: Vec<proc_macro2::Ident>,
}

impl<'ast> Visit<'ast> for DefinedNames {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Struct(item) => self.types.push(item.ident.clone()),
            syn::Item::Enum(item) => self.types.push(item.ident.clone()),
            syn::Item::Trait(item) => self.types.push(item.ident.clone()),
            syn::Item::Union(item) => self.types.push(item.ident.clone()),
            syn::Item::Type(item) => self.others.push(item.ident.clone()),
            syn::Item::Mod(item) => self.others.push(item.ident.clone()),
            _ => {}
        }
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
    fn meaningless_names_are_found_as_whole_words() {
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
