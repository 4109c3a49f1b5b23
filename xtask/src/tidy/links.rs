//! Links of the documentation, which lead to files and headings that exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::TidyFinding;
use crate::error::Failure;
use crate::markdown;
use crate::workspace;

/// The map of all pages. The site takes its table of contents from it.
const INDEX: &str = "docs/index.md";

/// Checks all documents.
pub fn check(root: &Path, findings: &mut Vec<TidyFinding>) -> Result<(), Failure> {
    let mut documents = BTreeMap::new();
    for relative in workspace::files(root, &[".md"])? {
        let text = workspace::read(root, &relative)?;
        documents.insert(relative, text);
    }
    let is_file = |path: &Path| root.join(path).is_file();
    for path in documents.keys() {
        findings.extend(broken(&documents, path, is_file));
    }
    findings.extend(unlisted(&documents));
    Ok(())
}

/// Broken links of one document.
fn broken(
    documents: &BTreeMap<PathBuf, String>,
    path: &Path,
    is_file: impl Fn(&Path) -> bool,
) -> Vec<TidyFinding> {
    let text = documents.get(path).map_or("", String::as_str);
    let mut findings = Vec::new();
    for link in markdown::links(text) {
        if markdown::is_external(link.target) {
            continue;
        }
        let (file, anchor) = link.target.split_once('#').unwrap_or((link.target, ""));
        let linked = match file {
            "" => path.to_path_buf(),
            file => markdown::resolved(path, file),
        };
        let problem = if !is_file(&linked) {
            "there is no such file"
        } else if !anchor.is_empty() && !has_anchor(documents.get(&linked), anchor) {
            "the file has no such heading"
        } else {
            continue;
        };
        findings.push(TidyFinding {
            rule: "links",
            path: path.display().to_string(),
            line: link.line,
            message: format!("`{}` leads nowhere: {problem}", link.target),
        });
    }
    findings
}

/// Pages of `docs` that the index does not list, so that nobody would find them.
fn unlisted(documents: &BTreeMap<PathBuf, String>) -> Vec<TidyFinding> {
    let index = Path::new(INDEX);
    let text = documents.get(index).map_or("", String::as_str);
    let links = markdown::links(text);
    let targets = links.iter().map(|link| link.target.split('#').next());
    let listed: Vec<PathBuf> = targets
        .flatten()
        .map(|it| markdown::resolved(index, it))
        .collect();
    let pages = documents.keys().filter(|path| path.starts_with("docs"));
    let missing = pages.filter(|path| *path != index && !listed.contains(path));
    let finding = |path: &PathBuf| TidyFinding {
        rule: "links",
        path: path.display().to_string(),
        line: 0,
        message: format!("the page is not listed in `{INDEX}`"),
    };
    missing.map(finding).collect()
}

fn has_anchor(text: Option<&String>, anchor: &str) -> bool {
    let headings = text.map(|text| markdown::headings(text));
    headings.is_some_and(|headings| headings.iter().any(|it| it.anchor == anchor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(pages: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
        let owned = |(path, text): &(&str, &str)| (PathBuf::from(path), (*text).to_owned());
        pages.iter().map(owned).collect()
    }

    fn messages(documents: &BTreeMap<PathBuf, String>, path: &str) -> Vec<String> {
        let is_file = |path: &Path| documents.contains_key(path);
        let found = broken(documents, Path::new(path), is_file);
        found.into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn missing_files_and_headings_are_found() {
        let all = documents(&[
            (
                "README.md",
                "[a](docs/a.md#one) [b](docs/b.md) [c](#two)\n# Two\n",
            ),
            (
                "docs/a.md",
                "# One\n[up](../README.md#two) [x](#x) [web](https://a.example/b)",
            ),
        ]);
        let found = messages(&all, "README.md");
        assert_eq!(found, ["`docs/b.md` leads nowhere: there is no such file"]);
        let found = messages(&all, "docs/a.md");
        assert_eq!(found, ["`#x` leads nowhere: the file has no such heading"]);
    }

    #[test]
    fn a_page_without_a_link_in_the_index_is_found() {
        let all = documents(&[
            ("README.md", ""),
            ("docs/index.md", "[a](a.md#one)"),
            ("docs/a.md", ""),
            ("docs/b.md", ""),
        ]);
        let found = unlisted(&all);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "docs/b.md");
    }
}
