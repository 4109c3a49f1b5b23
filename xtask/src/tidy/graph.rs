//! The crate graph: each crate uses only crates before it.

use std::path::Path;

use serde_json::Value;

use super::TidyFinding;
use crate::error::Failure;
use crate::workspace;

/// The crates in order, by package name.
pub const ORDER: &[&str] = &[
    "units",
    "stats",
    "trace",
    "mpi",
    "network",
    "plan",
    "engine",
    "generate",
    "fit",
    "description",
    "planning",
    "results",
    "import",
    "replay",
    "front",
    "store",
    "compare",
    "storage",
    "record",
    "preload",
    "lab",
    "run",
    "cluster",
    "selftest",
    "report",
    "board",
    "display",
    "web",
    "pgmeter",
];

/// Packages outside of the program, which must not depend on them.
const OUTSIDE_PACKAGES: &[&str] = &["xtask", "end-to-end"];

/// Checks cargo's dependency graph.
pub fn check(root: &Path, findings: &mut Vec<TidyFinding>) -> Result<(), Failure> {
    let output = workspace::cargo()
        .current_dir(root)
        .args([
            "metadata",
            // Only the members' manifests are read, so that this also works without a network.
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()
        .map_err(Failure::start("cargo metadata"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| Failure::Output {
            program: "cargo metadata".to_owned(),
            message: format!("{error}: {}", String::from_utf8_lossy(&output.stderr)),
        })?;
    findings.extend(backward_edges(&metadata));
    Ok(())
}

fn backward_edges(metadata: &Value) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for package in array(metadata, "packages") {
        let name = text(package, "name");
        let mut push = |message| {
            findings.push(TidyFinding {
                rule: "crate-graph",
                path: format!("{name} (Cargo.toml)"),
                line: 0,
                message,
            });
        };
        if OUTSIDE_PACKAGES.contains(&name) {
            continue;
        }
        let Some(rank) = rank(name) else {
            push(format!("`{name}` has no place in the order of crates"));
            continue;
        };
        // Dependencies within the workspace have a path, those from a registry have none. Tests may
        // use later crates.
        let is_held = |it: &&Value| it.get("path").is_some() && it["kind"] != "dev";
        for dependency in array(package, "dependencies").filter(is_held) {
            let used = text(dependency, "name");
            if self::rank(used).is_none_or(|used_rank| used_rank >= rank) {
                push(format!(
                    "`{name}` depends on `{used}`, which comes after it"
                ));
            }
        }
    }
    findings
}

fn rank(name: &str) -> Option<usize> {
    ORDER.iter().position(|candidate| *candidate == name)
}

fn array<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(name: &str, uses: &str) -> Vec<String> {
        let dependency = json!({"name": uses, "path": "somewhere"});
        let outside = json!({"name": "serde", "source": "registry"});
        let package = json!({"name": name, "dependencies": [dependency, outside]});
        let findings = backward_edges(&json!({ "packages": [package] }));
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn an_edge_to_an_earlier_crate_is_fine() {
        assert!(messages("run", "engine").is_empty());
    }

    #[test]
    fn an_edge_to_a_later_crate_is_found() {
        assert_eq!(
            messages("engine", "run"),
            ["`engine` depends on `run`, which comes after it"]
        );
    }

    #[test]
    fn a_crate_missing_from_the_order_is_found() {
        assert_eq!(
            messages("extra", "units"),
            ["`extra` has no place in the order of crates"]
        );
    }

    #[test]
    fn tests_may_use_anything_and_nothing_may_use_them() {
        assert!(messages("end-to-end", "run").is_empty());
        assert_eq!(messages("run", "end-to-end").len(), 1);
    }
}
