//! Generated documents: written from the types, compared in CI.

mod picture;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::error::Failure;
use crate::workspace;

/// What the generators write, relative to the workspace root, besides all that lies in [`SCHEMAS`].
const GENERATED: [&str; 4] = [
    "docs/api.md",
    "docs/workload.md",
    "docs/workload.schema.json",
    "docs/fio.md",
];
/// The schemas of documents, a file each.
const SCHEMAS: &str = "docs/schemas";
/// The generators: examples of `description`, `pgmeter`, `front` and `web`.
const GENERATORS: [&str; 4] = ["reference", "schemas", "options", "api"];

/// Writes every generated document.
pub fn write() -> Result<(), Failure> {
    // What one of them writes may be built into the next.
    generate(workspace::debug_program)?;
    for path in generated()? {
        println!("wrote {}", path.display());
    }
    picture::write()
}

/// Compares every generated document with what the types say now, and leaves it as it was.
pub fn check() -> Result<(), Failure> {
    let before: BTreeMap<PathBuf, String> = generated()?.into_iter().map(read).collect();
    let modified: Vec<(PathBuf, SystemTime)> = generated()?.into_iter().filter_map(time).collect();
    // Built before any of them writes: for newer files all would be built once more, and files that
    // are as they were change nothing.
    let built = workspace::debug_programs()?;
    generate(|name| workspace::executable(&built, name))?;
    let mut stale = Vec::new();
    let after = generated()?;
    let count = after.len();
    for (path, now) in after.into_iter().map(read) {
        // One that was not there is as stale as an empty one.
        let seen = before.get(&path).cloned().unwrap_or_default();
        if now != seen {
            let whole = workspace::root().join(&path);
            std::fs::write(&whole, seen).map_err(Failure::file(&whole))?;
            stale.push(format!("`{}`", path.display()));
        }
    }
    // What is as it was is not built into the program once more.
    for (path, time) in modified {
        let file = File::options().append(true).open(&path);
        file.and_then(|file| file.set_modified(time))
            .map_err(Failure::file(&path))?;
    }
    picture::check()?;
    if stale.is_empty() {
        println!("docs: {count} generated documents are current");
        return Ok(());
    }
    let list = stale.join(", ");
    Err(Failure::Found(format!(
        "{list} differ from the types; run `cargo xtask docs`"
    )))
}

/// All that the generators write, as far as it is there.
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

/// A document with its text; one that is missing is as stale as an empty one.
fn read(path: PathBuf) -> (PathBuf, String) {
    let text = std::fs::read_to_string(workspace::root().join(&path)).unwrap_or_default();
    (path, text)
}

/// When a document was last changed.
fn time(path: PathBuf) -> Option<(PathBuf, SystemTime)> {
    let whole = workspace::root().join(path);
    let time = whole.metadata().and_then(|it| it.modified()).ok()?;
    Some((whole, time))
}

/// Runs the generators, which are where `program` says.
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
