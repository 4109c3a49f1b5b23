//! Generated documents: written from the types, compared in CI.

mod picture;

use std::path::{Path, PathBuf};

use crate::error::Failure;
use crate::workspace;

/// What the generator writes, relative to the workspace root.
const GENERATED: [&str; 2] = ["docs/workload.md", "docs/workload.schema.json"];
/// The generator, as arguments of cargo.
const GENERATOR: [&str; 6] = ["run", "--quiet", "-p", "workload", "--example", "reference"];

/// Writes every generated document.
pub fn write() -> Result<(), Failure> {
    generate()?;
    for path in GENERATED {
        println!("wrote {path}");
    }
    picture::write()
}

/// Compares every generated document with what the types say now, and leaves it as it was.
pub fn check() -> Result<(), Failure> {
    let before: Vec<(PathBuf, String)> =
        GENERATED.iter().map(|path| read(Path::new(path))).collect();
    generate()?;
    let mut stale = Vec::new();
    for (path, seen) in before {
        if read(&path).1 != seen {
            let whole = workspace::root().join(&path);
            std::fs::write(&whole, seen).map_err(Failure::file(&whole))?;
            stale.push(format!("`{}`", path.display()));
        }
    }
    picture::check()?;
    if stale.is_empty() {
        println!("docs: {} generated documents are current", GENERATED.len());
        return Ok(());
    }
    let list = stale.join(", ");
    Err(Failure::Found(format!(
        "{list} differ from the types; run `cargo xtask docs`"
    )))
}

/// A document's text; one that is missing is as stale as an empty one.
fn read(path: &Path) -> (PathBuf, String) {
    let text = std::fs::read_to_string(workspace::root().join(path)).unwrap_or_default();
    (path.to_path_buf(), text)
}

fn generate() -> Result<(), Failure> {
    let status = workspace::cargo()
        .args(GENERATOR)
        .status()
        .map_err(Failure::start("cargo"))?;
    if status.success() {
        return Ok(());
    }
    let program = format!("cargo {}", GENERATOR.join(" "));
    Err(Failure::Program {
        program,
        message: status.to_string(),
    })
}
