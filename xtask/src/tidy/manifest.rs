//! Dependencies are declared once, each with its reason; lints are inherited.

use std::path::Path;

use super::TidyFinding;
use crate::error::Failure;
use crate::workspace;

/// Checks the root manifest and the manifests of all members.
pub fn check(root: &Path, findings: &mut Vec<TidyFinding>) -> Result<(), Failure> {
    for relative in workspace::files(root, &["Cargo.toml"])? {
        let path = relative.to_string_lossy().into_owned();
        // A TOML parser drops the comments, so the text is examined.
        let text = workspace::read(root, &relative)?;
        match path.as_str() {
            "Cargo.toml" => check_reasons(&text, findings),
            // Fuzz targets are a separate workspace, built by another tool.
            "fuzz/Cargo.toml" => {}
            _ => check_member(&path, &text, findings),
        }
    }
    Ok(())
}

/// Every external dependency needs a comment above it or above its paragraph.
fn check_reasons(text: &str, findings: &mut Vec<TidyFinding>) {
    let mut has_comment = false;
    for (line, content) in section(text, "[workspace.dependencies]") {
        // A comment holds for its paragraph, which an empty line ends.
        if content.is_empty() {
            has_comment = false;
        } else if content.starts_with('#') {
            has_comment = true;
        } else if is_key(content) && !content.contains("path =") && !has_comment {
            let name = content.split(['=', ' ', '.']).next().unwrap_or(content);
            findings.push(TidyFinding {
                rule: "dependency-reasons",
                path: "Cargo.toml".to_owned(),
                line,
                message: format!("`{name}` has no comment with its reason"),
            });
        }
    }
}

/// A member takes versions from the root, and lints as well unless it may contain unsafe code.
fn check_member(path: &str, text: &str, findings: &mut Vec<TidyFinding>) {
    let mut push = |rule, line, message| {
        findings.push(TidyFinding {
            rule,
            path: path.to_owned(),
            line,
            message,
        });
    };
    for header in [
        "[dependencies]",
        "[dev-dependencies]",
        "[build-dependencies]",
    ] {
        for (line, content) in section(text, header) {
            let is_shared = content.contains("workspace = true") || content.contains("path =");
            if is_key(content) && !is_shared {
                push(
                    "dependency-place",
                    line,
                    format!("`{content}`: declare it in the root"),
                );
            }
        }
    }
    let inherits = section(text, "[lints]").any(|(_, content)| content == "workspace = true");
    let is_unsafe_crate = ["crates/engine/", "crates/preload/", "crates/mpi/"]
        .iter()
        .any(|d| path.starts_with(d));
    if !inherits && !is_unsafe_crate {
        push(
            "lints-inherited",
            0,
            "lints are not inherited from the workspace".to_owned(),
        );
    }
}

/// `true` for a line that starts a key, not for the continuation of a value.
fn is_key(content: &str) -> bool {
    content.starts_with(|letter: char| letter.is_ascii_alphabetic()) && content.contains('=')
}

/// The lines of a section with their 1-based numbers, trimmed.
fn section<'a>(text: &'a str, header: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .skip_while(move |(_, line)| *line != header)
        .skip(1)
        .take_while(|(_, line)| !line.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(dependencies: &str) -> usize {
        let mut findings = Vec::new();
        check_reasons(
            &format!("[workspace.dependencies]\n{dependencies}"),
            &mut findings,
        );
        findings.len()
    }

    fn member(text: &str) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check_member("crates/units/Cargo.toml", text, &mut findings);
        findings.into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_reason_covers_its_paragraph() {
        assert_eq!(reasons("# Why.\na = \"1\"\nb = \"1\"\n"), 0);
        assert_eq!(reasons("# Why.\na = \"1\"\n\nb = \"1\"\n"), 1);
        assert_eq!(reasons("a = { path = \"a\" }\n"), 0);
    }

    #[test]
    fn members_take_versions_from_the_root() {
        let lints = "[lints]\nworkspace = true\n";
        assert!(member(&format!("{lints}[dependencies]\na.workspace = true\n")).is_empty());
        assert_eq!(
            member(&format!("{lints}[dependencies]\na = \"1\"\n")),
            ["dependency-place"]
        );
    }

    #[test]
    fn members_inherit_the_lints() {
        assert_eq!(member("[package]\nname = \"units\"\n"), ["lints-inherited"]);
    }
}
