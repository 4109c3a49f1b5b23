//! Generated documents: written from the types, compared in CI.

use std::path::PathBuf;

use crate::error::Failure;
use crate::workspace;

/// A document with the program that prints it.
struct Generated {
    /// Relative to the workspace root.
    path: &'static str,
    /// Arguments of cargo.
    arguments: &'static [&'static str],
}

const GENERATED: &[Generated] = &[
    Generated {
        path: "docs/workload.md",
        arguments: &[
            "run",
            "--quiet",
            "-p",
            "workload",
            "--example",
            "reference",
            "--",
            "markdown",
        ],
    },
    Generated {
        path: "docs/workload.schema.json",
        arguments: &[
            "run",
            "--quiet",
            "-p",
            "workload",
            "--example",
            "reference",
            "--",
            "schema",
        ],
    },
];

/// Writes every generated document.
pub fn write() -> Result<(), Failure> {
    for document in GENERATED {
        let path = path(document);
        let text = generate(document)?;
        std::fs::write(&path, text).map_err(Failure::file(&path))?;
        println!("wrote {}", document.path);
    }
    Ok(())
}

/// Compares every generated document with what the types say now.
pub fn check() -> Result<(), Failure> {
    let mut stale = Vec::new();
    for document in GENERATED {
        let path = path(document);
        // A missing document is as stale as an old one.
        let seen = std::fs::read_to_string(&path).unwrap_or_default();
        if seen != generate(document)? {
            stale.push(document.path);
        }
    }
    if stale.is_empty() {
        println!("docs: {} generated documents are current", GENERATED.len());
        return Ok(());
    }
    let list = stale.join("`, `");
    Err(Failure::Found(format!(
        "`{list}` differ from the types; run `cargo xtask docs`"
    )))
}

fn path(document: &Generated) -> PathBuf {
    workspace::root().join(document.path)
}

fn generate(document: &Generated) -> Result<String, Failure> {
    let program = format!("cargo {}", document.arguments.join(" "));
    let output = workspace::cargo()
        .args(document.arguments)
        .output()
        .map_err(Failure::start("cargo"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::Program { program, message })
}
