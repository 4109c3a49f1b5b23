//! The documentation as a site: mdBook over the documents of the repository.
//!
//! The pages are copies of the same files that GitHub shows. Only their places differ, so their
//! links are rewritten. `docs/index.md` determines the table of contents.

mod contents;
mod generated;
mod help_text;
mod html;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Failure;
use crate::tool::{MDBOOK, run_tool};
use crate::workspace;
use contents::SiteContents;
use stage::StagedSite;

/// Directory of the styles and scripts that the site adds to mdBook's.
const THEME: &str = "xtask/src/docs/site/theme";

/// Builds the site, checks its links and prints its path.
pub fn write() -> Result<(), Failure> {
    let program = workspace::debug_program("pgmeter")?;
    // This program is `<target>/debug/pgmeter`.
    let target = program.ancestors().nth(2).unwrap_or(&program);
    let mdbook = MDBOOK.path(target)?;
    build(&mdbook, &program, target)
}

/// Builds the site and checks its links if mdBook is at hand; prints the reason otherwise.
/// Building mdBook would take longer than all other checks of the documents.
pub fn check(program: &Path) -> Result<(), Failure> {
    let target = program.ancestors().nth(2).unwrap_or(program);
    match MDBOOK.found(target) {
        Some(mdbook) => build(&mdbook, program, target),
        None => {
            println!("skipped: the site: mdbook is not built; `cargo xtask docs --site` builds it");
            Ok(())
        }
    }
}

fn build(mdbook: &Path, program: &Path, target: &Path) -> Result<(), Failure> {
    let root = workspace::root();
    let contents = SiteContents::read(&root)?;
    let book = workspace::emptied(&target.join("site-source"))?;
    let site = target.join("site");
    let staged = StagedSite::new(&root, &book.join("src"));
    staged.add_documents(&contents)?;
    let mut parts =
        contents.summary(|document| Ok((staged.title(document)?, staged.page(document))))?;
    parts.push_str(&generated::add(&staged, program)?);
    parts.push_str(&staged.add_linked_files()?);
    staged.add("SUMMARY.md", &parts)?;
    configure(&root, &book)?;
    // Removed by mdBook only if it succeeds, so an old page could otherwise survive.
    workspace::emptied(&site)?;
    run_tool(
        Command::new(mdbook)
            .arg("build")
            .arg(&book)
            .arg("--dest-dir")
            .arg(&site)
            // Its messages repeat the path that is printed below.
            .env("MDBOOK_LOG", "warn")
            .env("RUST_LOG", "warn"),
    )?;
    let page_count = html::check(&site)?;
    println!(
        "wrote {page_count} pages: {}",
        site.join("index.html").display()
    );
    Ok(())
}

/// Writes mdBook's configuration, and copies the styles and scripts.
fn configure(root: &Path, book: &Path) -> Result<(), Failure> {
    let theme = root.join(THEME);
    for name in ["site.css", "site.js"] {
        let to: PathBuf = book.join(name);
        fs::copy(theme.join(name), &to).map_err(Failure::file(&to))?;
    }
    let from = theme.join("book.toml");
    let to = book.join("book.toml");
    fs::copy(&from, &to).map_err(Failure::file(&from)).map(drop)
}
