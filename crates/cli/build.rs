//! Passes the commit to the program if it is built in a clone, and compresses the schemas that the
//! program prints.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const SCHEMAS: &str = "../../docs/schemas";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCHEMAS}");
    let out = std::env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    compress_schemas(Path::new(SCHEMAS), Path::new(&out))?;
    name_commit();
    Ok(())
}

/// Deflates each schema, and writes a list of them as Rust source.
fn compress_schemas(folder: &Path, out: &Path) -> std::io::Result<()> {
    let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<std::io::Result<Vec<PathBuf>>>()?;
    // `read_dir` returns files in no fixed order, but the list is in order of names.
    paths.sort();
    let mut list = String::from("&[\n");
    for path in paths {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        // The header and checksum of zlib are left out, because only this program reads the data.
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&std::fs::read(&path)?)?;
        let file = out.join(format!("{name}.deflate"));
        std::fs::write(&file, encoder.finish()?)?;
        list.push_str(&format!("({name:?}, include_bytes!({file:?})),\n"));
    }
    list.push(']');
    std::fs::write(out.join("schemas.rs"), list)
}

fn name_commit() {
    // In a subdirectory of another project's clone, the commit is that of the other project.
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some("crates/cli/") {
        return;
    }
    // git appends to this file at each commit and checkout.
    // In a linked worktree, `.git` is a file, and only git knows where its log is.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).is_file()) {
        println!("cargo::rerun-if-changed={log}");
    }
    // The length is fixed, because git's default depends on the number of objects in the clone.
    if let Some(commit) = git(&["log", "-1", "--format=%h, %cs", "--abbrev=12"]) {
        println!("cargo::rustc-env=PGMETER_COMMIT={commit}");
    }
}

/// Returns the output of git; `None` if git fails, prints nothing or is not installed.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
