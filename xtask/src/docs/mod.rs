//! Generated documents: written from the types, compared in CI.

mod picture;
mod site;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::error::Failure;
use crate::workspace;

/// Files that the generators write in addition to [`SCHEMAS`], relative to the workspace root.
const GENERATED: [&str; 4] = [
    "docs/api.md",
    "docs/workload.md",
    "docs/workload.schema.json",
    "docs/fio.md",
];
/// Directory of the JSON schemas, one file per document.
const SCHEMAS: &str = "docs/schemas";
/// The generators: examples of `description`, `pgmeter`, `front` and `web`.
const GENERATORS: [&str; 4] = ["reference", "schemas", "options", "api"];

/// Writes every generated document.
pub fn write() -> Result<(), Failure> {
    // Built one by one, because the output of one generator may be compiled into the next.
    generate(workspace::debug_program)?;
    for path in generated()? {
        println!("wrote {}", path.display());
    }
    picture::write()
}

/// Writes the documentation as a site.
pub fn write_site() -> Result<(), Failure> {
    site::write()
}

/// Compares every generated document with the current types, without changing it.
pub fn check() -> Result<(), Failure> {
    let before: BTreeMap<PathBuf, Option<String>> = generated()?.into_iter().map(read).collect();
    let modified: Vec<(PathBuf, SystemTime)> = generated()?.into_iter().filter_map(time).collect();
    // Built before any generator writes, because changed files would cause a rebuild. Files with
    // unchanged content then change nothing.
    let built = workspace::debug_programs()?;
    let outcome = generate(|name| workspace::executable(&built, name));
    let mut stale = Vec::new();
    let after = generated()?;
    let count = after.len();
    for (path, now) in after.into_iter().map(read) {
        let old = before.get(&path).and_then(Option::as_ref);
        if now.as_ref() != old {
            // A check must leave the tree as it was; only `docs` changes documents.
            restore(&workspace::root().join(&path), old)?;
            stale.push(format!("`{}`", path.display()));
        }
    }
    // Restores the modification times, so that unchanged documents do not cause a rebuild of the
    // program.
    for (path, time) in modified {
        let file = File::options().append(true).open(&path);
        file.and_then(|file| file.set_modified(time))
            .map_err(Failure::file(&path))?;
    }
    // Only now, so that a generator that failed leaves no document of the others.
    outcome?;
    picture::check()?;
    site::check(&workspace::executable(&built, "pgmeter")?)?;
    if stale.is_empty() {
        println!("docs: {count} generated documents are current");
        return Ok(());
    }
    let list = stale.join(", ");
    Err(Failure::ChecksFailed(format!(
        "{list} differ from the types; run `cargo xtask docs`"
    )))
}

/// Paths of all generated files that exist.
fn generated() -> Result<Vec<PathBuf>, Failure> {
    let folder = workspace::root().join(SCHEMAS);
    let entries = std::fs::read_dir(&folder).map_err(Failure::file(&folder))?;
    let schemas = entries
        .flatten()
        .map(|it| Path::new(SCHEMAS).join(it.file_name()));
    let mut paths: Vec<PathBuf> = GENERATED.iter().map(PathBuf::from).chain(schemas).collect();
    paths.sort();
    Ok(paths)
}

/// A document with its text; `None` for a missing one.
fn read(path: PathBuf) -> (PathBuf, Option<String>) {
    let text = std::fs::read_to_string(workspace::root().join(&path)).ok();
    (path, text)
}

/// Gives a document its former text, or removes it if there was none.
fn restore(path: &Path, text: Option<&String>) -> Result<(), Failure> {
    let restored = match text {
        Some(text) => std::fs::write(path, text),
        None => std::fs::remove_file(path),
    };
    restored.map_err(Failure::file(path))
}

/// Modification time of a document.
fn time(path: PathBuf) -> Option<(PathBuf, SystemTime)> {
    let absolute = workspace::root().join(path);
    let time = absolute.metadata().and_then(|it| it.modified()).ok()?;
    Some((absolute, time))
}

/// Runs the generators; `program` returns their paths.
fn generate(program: impl Fn(&str) -> Result<PathBuf, Failure>) -> Result<(), Failure> {
    for generator in GENERATORS {
        let program = program(generator)?;
        let status = Command::new(&program)
            .current_dir(workspace::root())
            .status()
            .map_err(Failure::start(generator))?;
        if !status.success() {
            return Err(Failure::Program {
                program: generator.to_owned(),
                message: status.to_string(),
            });
        }
    }
    Ok(())
}
