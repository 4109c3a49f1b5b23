//! Location and files of the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Failure;

/// Cargo profile of published programs.
pub const PUBLISHED_PROFILE: &str = "dist";

/// The workspace root, from the time when this program was compiled.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cargo command that runs this program, or the one in `PATH`.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    if is_ci() {
        // CI does not build a second time, so incremental data is useless there.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// `true` in a CI run.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Runs cargo and returns its JSON messages; other output is passed on.
pub fn cargo_messages(arguments: &[&str]) -> Result<Vec<Value>, Failure> {
    // Inserted after the command, because cargo ignores options after `--`.
    let (command, options) = arguments.split_at(arguments.len().min(1));
    let output = cargo()
        .args(command)
        // With `render-diagnostics`, cargo still prints warnings and errors for people.
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

/// Selects the program that is tested and published, with its optional features. A first build by
/// hand is shorter without them.
pub const PROGRAM: [&str; 4] = ["--package", "pgmeter", "--features", "pgmeter/parquet"];

/// Builds a program as it is published, and returns its path.
pub fn published_program(selection: &[&str], name: &str) -> Result<PathBuf, Failure> {
    optimized_program(PUBLISHED_PROFILE, selection, name)
}

/// Builds the program that tests run, and returns its path.
pub fn release_program(selection: &[&str], name: &str) -> Result<PathBuf, Failure> {
    optimized_program("release", selection, name)
}

fn optimized_program(profile: &str, selection: &[&str], name: &str) -> Result<PathBuf, Failure> {
    let arguments = [&["build", "--profile", profile], selection].concat();
    executable(&cargo_messages(&arguments)?, name)
}

/// Cargo's target directory.
pub fn target_directory() -> Result<PathBuf, Failure> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .map_err(Failure::start("cargo metadata"))?;
    let metadata: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let directory = metadata.and_then(|it| it["target_directory"].as_str().map(PathBuf::from));
    directory.ok_or_else(|| Failure::Output {
        program: "cargo metadata".to_owned(),
        message: "it names no target directory".to_owned(),
    })
}

/// Builds the program and all examples like the tests, and returns the path of one. Without the
/// examples, dependencies would have other features and would be rebuilt.
pub fn debug_program(name: &str) -> Result<PathBuf, Failure> {
    executable(&debug_programs()?, name)
}

/// Builds the same programs as [`debug_program`], and returns cargo's messages.
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

/// Path of a program from cargo's messages.
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

/// All files under `start` with one of the `suffixes`, relative to it, sorted.
///
/// Skips build output, hidden directories and fuzzing corpora.
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
                // Build output can have more files than the sources.
                if !is_left_out(&name) {
                    pending.push(path);
                }
            } else if kind.is_file() && suffixes.iter().any(|suffix| name.ends_with(suffix)) {
                found.push(path.strip_prefix(start).unwrap_or(&path).to_path_buf());
            }
        }
    }
    // Sorted, so that findings and packages have the same order on every file system.
    found.sort();
    Ok(found)
}

fn is_left_out(name: &str) -> bool {
    (name.starts_with('.') && name != ".ci")
        || name == "target"
        || name.starts_with("target-")
        || matches!(name, "corpus" | "artifacts" | "proptest-regressions")
}

/// Creates or empties the directory.
pub fn emptied(directory: &Path) -> Result<PathBuf, Failure> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::file(directory)(error));
        }
        _ => {}
    }
    std::fs::create_dir_all(directory).map_err(Failure::file(directory))?;
    Ok(directory.to_path_buf())
}

/// Reads a file of the workspace as text.
pub fn read(root: &Path, relative: &Path) -> Result<String, Failure> {
    let path = root.join(relative);
    std::fs::read_to_string(&path).map_err(Failure::file(&path))
}
