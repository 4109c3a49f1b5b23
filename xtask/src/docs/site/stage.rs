//! The sources of the site: copies of documents with links to their places there.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::contents::{SiteContents, heading};
use crate::error::Failure;
use crate::markdown;
use crate::workspace;

/// mdBook treats a page with the name `readme` as the index of its directory.
const README: &str = "README.md";
/// Title in the table of contents. The first heading is only the project's name.
const README_TITLE: &str = "Overview and installation";
/// Documents outside of `docs`, with their pages.
const RENAMED: [(&str, &str); 4] = [
    (README, "overview.md"),
    ("CONTRIBUTING.md", "contributing.md"),
    ("CHANGELOG.md", "changelog.md"),
    ("contrib/README.md", "recipes.md"),
];
/// Suffixes of files that a browser shows itself.
const SHOWN: [&str; 2] = ["png", "json"];

/// The directory from which mdBook builds the site.
pub struct StagedSite {
    root: PathBuf,
    source: PathBuf,
    /// Text files to which documents link, relative to the workspace root.
    linked: RefCell<BTreeSet<PathBuf>>,
}

impl StagedSite {
    /// An empty site with sources in this directory.
    pub fn new(root: &Path, source: &Path) -> StagedSite {
        StagedSite {
            root: root.to_path_buf(),
            source: source.to_path_buf(),
            linked: RefCell::default(),
        }
    }

    /// Writes a page or a file.
    pub fn add(&self, page: &str, text: &str) -> Result<(), Failure> {
        let path = self.source.join(page);
        let directory = path.parent().unwrap_or(&self.source);
        fs::create_dir_all(directory).map_err(Failure::file(directory))?;
        fs::write(&path, text).map_err(Failure::file(&path))
    }

    /// Writes all documents, and copies the pictures and schemas of `docs`.
    pub fn add_documents(&self, contents: &SiteContents) -> Result<(), Failure> {
        for document in contents.documents() {
            let text = workspace::read(&self.root, document)?;
            let text = markdown::with_targets(&text, |target| self.target(document, target));
            self.add(&self.page(document).to_string_lossy(), &text)?;
        }
        let docs = self.root.join("docs");
        for file in workspace::files(&docs, &SHOWN)? {
            let to = self.source.join(&file);
            let directory = to.parent().unwrap_or(&self.source);
            fs::create_dir_all(directory).map_err(Failure::file(directory))?;
            fs::copy(docs.join(&file), &to).map_err(Failure::file(&to))?;
        }
        Ok(())
    }

    /// Writes a page for each text file to which a document links, because a browser would store
    /// such a file instead of showing it. Returns their part of the summary.
    pub fn add_linked_files(&self) -> Result<String, Failure> {
        let mut summary = heading("Files");
        for file in self.linked.borrow().iter() {
            let text = workspace::read(&self.root, file)?;
            let language = match file.extension().and_then(|it| it.to_str()) {
                Some("yml" | "yaml") => "yaml",
                Some("toml") => "toml",
                Some("ipynb") => "json",
                Some("xml") => "xml",
                Some("sbatch" | "pbs" | "sh") => "bash",
                Some("service" | "timer" | "fio") => "ini",
                _ => "text",
            };
            let name = file.display();
            let page = self.page(file);
            // Five backticks, because the file may contain a block itself.
            let text = format!("# {name}\n\n`````{language}\n{text}`````\n");
            self.add(&page.to_string_lossy(), &text)?;
            // Writing to a string does not fail.
            let _ = writeln!(summary, "- [{name}]({})", page.display());
        }
        Ok(summary)
    }

    /// The title of a document: its first heading.
    pub fn title(&self, document: &Path) -> Result<String, Failure> {
        if document == README {
            return Ok(README_TITLE.to_owned());
        }
        let text = workspace::read(&self.root, document)?;
        let first = markdown::headings(&text).into_iter().next();
        first.map(|it| it.title).ok_or_else(|| {
            Failure::ChecksFailed(format!("`{}` has no heading", document.display()))
        })
    }

    /// The page of a document or file, relative to the sources of the site.
    pub fn page(&self, document: &Path) -> PathBuf {
        if let Some((_, page)) = RENAMED.iter().find(|(name, _)| document == *name) {
            return page.into();
        }
        match document.strip_prefix("docs") {
            Ok(page) => page.to_path_buf(),
            Err(_) => PathBuf::from(format!("files/{}.md", document.display())),
        }
    }

    /// The target on the site of a document's link; `None` if it is the same.
    fn target(&self, document: &Path, target: &str) -> Option<String> {
        let (file, anchor) = match target.find('#') {
            Some(at) => target.split_at(at),
            None => (target, ""),
        };
        if file.is_empty() || markdown::is_external(target) {
            return None;
        }
        let linked = markdown::resolved(document, file);
        let page = self.page(&linked);
        if page.starts_with("files") {
            self.linked.borrow_mut().insert(linked);
        }
        // All documents are at the top of the site.
        Some(format!("{}{anchor}", page.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_places_on_the_site() {
        let staged = StagedSite::new(Path::new("/root"), Path::new("/site"));
        for (document, target, expected) in [
            ("docs/a.md", "b.md#c", Some("b.md#c")),
            (
                "docs/a.md",
                "../README.md#install",
                Some("overview.md#install"),
            ),
            ("README.md", "docs/images/page.png", Some("images/page.png")),
            (
                "README.md",
                "examples/mixed.toml",
                Some("files/examples/mixed.toml.md"),
            ),
            ("README.md", "https://rustup.rs", None),
            ("docs/a.md", "#c", None),
        ] {
            let found = staged.target(Path::new(document), target);
            assert_eq!(found.as_deref(), expected, "{document}: {target}");
        }
        let linked = staged.linked.borrow();
        assert_eq!(
            linked.iter().collect::<Vec<_>>(),
            [Path::new("examples/mixed.toml")]
        );
    }
}
