//! Where the project is and which files it has.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Failure;

/// The workspace root, as the compiler saw it when this program was built.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Cargo, the one that runs this command if there is one.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    if is_ci() {
        // Nothing is built a second time there, so what would speed that up is not written.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether this is a CI run.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Runs cargo and returns its messages; what it prints for people goes through.
pub fn cargo_messages(arguments: &[&str]) -> Result<Vec<Value>, Failure> {
    // Behind the command: what stands behind `--` is not cargo's.
    let (command, options) = arguments.split_at(arguments.len().min(1));
    let output = cargo()
        .args(command)
        .arg("--message-format=json-render-diagnostics")
        .args(options)
        .stderr(Stdio::inherit())
        .output()
        .map_err(Failure::start("cargo"))?;
    if !output.status.success() {
        let program = format!("cargo {}", arguments.join(" "));
        return Err(Failure::Program {
            program,
            message: output.status.to_string(),
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Builds one program for measuring and returns its path.
pub fn release_program(selection: &[&str], name: &str) -> Result<PathBuf, Failure> {
    optimized_program("release", selection, name)
}

/// Builds one program by a profile of its own and returns its path.
pub fn optimized_program(
    profile: &str,
    selection: &[&str],
    name: &str,
) -> Result<PathBuf, Failure> {
    let arguments = [&["build", "--profile", profile], selection].concat();
    executable(&cargo_messages(&arguments)?, name)
}

/// Builds the program and all examples as the tests are built and returns the path of one. Without
/// examples, what it depends on would have another set of features and be built again.
pub fn debug_program(name: &str) -> Result<PathBuf, Failure> {
    executable(&debug_programs()?, name)
}

/// Builds what [`debug_program`] builds, and returns cargo's messages.
pub fn debug_programs() -> Result<Vec<Value>, Failure> {
    cargo_messages(&[
        "build",
        "--quiet",
        "--workspace",
        "--bin",
        "pgmeter",
        "--examples",
    ])
}

/// Where a program is, of which cargo's messages tell.
pub fn executable(messages: &[Value], name: &str) -> Result<PathBuf, Failure> {
    let is_it = |message: &&Value| message.pointer("/target/name") == Some(&Value::from(name));
    messages
        .iter()
        .filter(is_it)
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .ok_or_else(|| Failure::Output {
            program: "cargo build".to_owned(),
            message: format!("it names no executable `{name}`"),
        })
}

/// All files below `start` whose names end in one of `suffixes`, relative to the root, sorted.
///
/// Build output, hidden directories and fuzzing corpora are left out.
pub fn files(start: &Path, suffixes: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut pending = vec![start.to_path_buf()];
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory).map_err(Failure::file(&directory))?;
        for entry in entries {
            let entry = entry.map_err(Failure::file(&directory))?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().map_err(Failure::file(&path))?;
            if kind.is_dir() {
                if !is_left_out(&path, &name) {
                    pending.push(path);
                }
            } else if kind.is_file() && suffixes.iter().any(|suffix| name.ends_with(suffix)) {
                found.push(path.strip_prefix(start).unwrap_or(&path).to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_left_out(path: &Path, name: &str) -> bool {
    // One of the crates is called `target`.
    let is_crate = || path.join("Cargo.toml").is_file();
    (name.starts_with('.') && name != ".ci")
        || name == "target" && !is_crate()
        || name.starts_with("target-")
        || matches!(name, "corpus" | "artifacts" | "proptest-regressions")
}

/// Reads a file of the workspace as text.
pub fn read(root: &Path, relative: &Path) -> Result<String, Failure> {
    let path = root.join(relative);
    std::fs::read_to_string(&path).map_err(Failure::file(&path))
}
