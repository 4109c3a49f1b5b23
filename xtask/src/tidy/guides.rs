//! Names in the guides for contributors. A guide that names items and files which no longer exist
//! sends its reader astray.

use std::collections::BTreeSet;
use std::path::Path;

use super::TidyFinding;
use crate::error::Failure;
use crate::workspace;

/// The guides.
const GUIDES: &[&str] = &["CONTRIBUTING.md", "docs/architecture.md"];
/// Suffixes of the files that may define a name.
const DEFINING: &[&str] = &[".rs", ".toml", ".js", ".mjs", ".css", ".txt", ".tsv"];
/// Suffixes of the files that a guide may name.
const FILES: &[&str] = &[
    ".rs", ".toml", ".js", ".mjs", ".css", ".txt", ".tsv", ".md", ".json",
];

/// All names and files of the workspace.
#[derive(Debug, Default)]
struct Existing {
    words: BTreeSet<String>,
    files: Vec<String>,
}

/// Checks all guides.
pub fn check(root: &Path, findings: &mut Vec<TidyFinding>) -> Result<(), Failure> {
    let mut existing = Existing::default();
    for relative in workspace::files(root, FILES)? {
        let path = relative.to_string_lossy().into_owned();
        if DEFINING.iter().any(|suffix| path.ends_with(suffix)) {
            existing.add_words(&path, &workspace::read(root, &relative)?);
        }
        existing.files.push(path);
    }
    for guide in GUIDES {
        let text = workspace::read(root, Path::new(guide))?;
        findings.extend(existing.missing(guide, &text));
    }
    Ok(())
}

impl Existing {
    /// Adds the words of a file's code. Comments define nothing.
    fn add_words(&mut self, path: &str, text: &str) {
        let is_comment = |line: &&str| path.ends_with(".rs") && line.trim().starts_with("//");
        let code = text.lines().filter(|line| !is_comment(line));
        self.words.extend(code.flat_map(words).map(str::to_owned));
    }

    /// The names in code spans of a guide that do not exist.
    fn missing(&self, guide: &str, text: &str) -> Vec<TidyFinding> {
        let mut findings = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let spans = line.split('`').skip(1).step_by(2);
            for name in spans.flat_map(|span| self.missing_in(span)) {
                findings.push(TidyFinding {
                    rule: "guide-names",
                    path: guide.to_owned(),
                    line: index + 1,
                    message: format!("`{name}` does not exist; name what replaced it"),
                });
            }
        }
        findings
    }

    fn missing_in<'a>(&self, span: &'a str) -> Vec<&'a str> {
        // Patterns and sample commands stand for several names.
        if span.contains(['<', '*', '{', '…', ' ']) {
            return Vec::new();
        }
        if FILES.iter().any(|suffix| span.ends_with(suffix)) {
            let is_it = |path: &String| path == span || path.ends_with(&format!("/{span}"));
            return match self.files.iter().any(is_it) {
                true => Vec::new(),
                false => vec![span],
            };
        }
        let names = words(span).filter(|word| is_name(word));
        names.filter(|word| !self.words.contains(*word)).collect()
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|symbol: char| !(symbol.is_alphanumeric() || symbol == '_'))
}

/// `true` for words that only code uses: of several parts, joined by capitals or underscores.
fn is_name(word: &str) -> bool {
    let has_capital_inside = word.chars().skip(1).any(char::is_uppercase);
    let has_lowercase = word.chars().any(char::is_lowercase);
    let is_camel_case = has_capital_inside && has_lowercase && !word.contains('_');
    is_camel_case || word.trim_matches('_').contains('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn existing() -> Existing {
        let mut existing = Existing::default();
        let code = "// OldName was here\nstruct NewName;\nconst ALL_NAMES: u8 = 1;\nfn put_it() {}";
        existing.add_words("crates/a/src/new.rs", code);
        existing.files.push("crates/a/src/new.rs".to_owned());
        existing
    }

    #[test]
    fn names_and_files_that_do_not_exist_are_found() {
        let text = "Use `NewName::put_it`, `ALL_NAMES` and `new.rs`.\n\
            Not `OldName`, `old_name()` or `src/old.rs`.";
        let found = existing().missing("CONTRIBUTING.md", text);
        let lines: Vec<usize> = found.iter().map(|it| it.line).collect();
        assert_eq!(lines, [2, 2, 2]);
        assert!(found[0].message.contains("`OldName`"), "{found:?}");
        assert!(found[1].message.contains("`old_name`"), "{found:?}");
        assert!(found[2].message.contains("`src/old.rs`"), "{found:?}");
    }

    #[test]
    fn plain_words_commands_and_patterns_are_no_names() {
        let text = "`iodepth` `cargo xtask test` `<front>/mod.rs` `of_{key}` `Json` `IOPS`";
        assert!(existing().missing("CONTRIBUTING.md", text).is_empty());
    }
}
