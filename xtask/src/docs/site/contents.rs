//! The table of contents, read from the index of the documentation.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::Failure;
use crate::markdown;
use crate::workspace;

/// The index, relative to the workspace root.
const INDEX: &str = "docs/index.md";

/// A section of the index.
#[derive(Debug, PartialEq, Eq)]
struct ContentsPart {
    /// Title without its explanation after a colon.
    title: String,
    /// Documents to which the section links and no earlier one, relative to the workspace root.
    documents: Vec<PathBuf>,
}

/// All documents of the site, in order.
pub struct SiteContents {
    parts: Vec<ContentsPart>,
}

impl SiteContents {
    /// Reads the index.
    pub fn read(root: &Path) -> Result<SiteContents, Failure> {
        let index = Path::new(INDEX);
        let text = workspace::read(root, index)?;
        Ok(SiteContents {
            parts: parts(index, &text),
        })
    }

    /// Paths of all documents, relative to the workspace root.
    pub fn documents(&self) -> impl Iterator<Item = &Path> {
        self.parts
            .iter()
            .flat_map(|part| part.documents.iter().map(PathBuf::as_path))
    }

    /// mdBook's summary; `entry` returns a document's title and page.
    pub fn summary(
        &self,
        entry: impl Fn(&Path) -> Result<(String, PathBuf), Failure>,
    ) -> Result<String, Failure> {
        let mut summary = "# Summary\n".to_owned();
        for part in &self.parts {
            if !part.title.is_empty() {
                summary.push_str(&heading(&part.title));
            }
            for document in &part.documents {
                let (title, page) = entry(document)?;
                // A page before all parts is not an item of a list.
                let item = if part.title.is_empty() { "\n" } else { "- " };
                // Writing to a string does not fail.
                let _ = writeln!(summary, "{item}[{title}]({})", page.display());
            }
        }
        Ok(summary)
    }
}

/// A heading of the summary.
pub fn heading(title: &str) -> String {
    format!("\n# {title}\n\n")
}

fn parts(index: &Path, text: &str) -> Vec<ContentsPart> {
    let mut seen = vec![index.to_path_buf()];
    let mut parts = vec![ContentsPart {
        title: String::new(),
        documents: seen.clone(),
    }];
    let mut sections = text.split("\n## ");
    let before = sections.next().unwrap_or_default();
    let numbered = std::iter::once(before).chain(sections).enumerate();
    for (number, section) in numbered {
        if number > 0 {
            let line = section.lines().next().unwrap_or_default();
            let title = line.split(':').next().unwrap_or(line);
            parts.push(ContentsPart {
                title: title.to_owned(),
                documents: Vec::new(),
            });
        }
        for link in markdown::links(section) {
            let file = link.target.split('#').next().unwrap_or_default();
            let document = markdown::resolved(index, file);
            let is_document = document.extension().is_some_and(|it| it == "md");
            if is_document && !seen.contains(&document) {
                seen.push(document.clone());
                if let Some(part) = parts.last_mut() {
                    part.documents.push(document);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_belongs_to_the_first_section_that_links_to_it() {
        let text = "# Index\n[a](../README.md)\n\n## Learn: now\n[b](b.md#c) [b](b.md)\n## Use\n\
            [a](../README.md#x) [c](c.md) [d](d.json)\n";
        let parts = parts(Path::new("docs/index.md"), text);
        let found: Vec<(&str, Vec<&str>)> = parts
            .iter()
            .map(|part| {
                let documents = part.documents.iter().filter_map(|it| it.to_str());
                (part.title.as_str(), documents.collect())
            })
            .collect();
        let expected = [
            ("", vec!["docs/index.md", "README.md"]),
            ("Learn", vec!["docs/b.md"]),
            ("Use", vec!["docs/c.md"]),
        ];
        assert_eq!(found, expected);
    }
}
