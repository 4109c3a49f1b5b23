//! Licenses of the program and of all linked packages. Most of them require that their text is
//! distributed with every copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::platform::Platform;
use crate::error::Failure;
use crate::workspace;

/// Prefixes of files with licenses and notices.
const NAMES: [&str; 4] = ["LICENSE", "COPYING", "NOTICE", "UNLICENSE"];

/// Debian's `copyright`.
///
/// Source: the machine-readable format 1.0 of Debian's policy.
pub fn own() -> Result<String, Failure> {
    let mit = workspace::read(&workspace::root(), Path::new("LICENSE-MIT"))?;
    let holder = mit
        .lines()
        .find_map(|line| line.strip_prefix("Copyright (c) "))
        .unwrap_or_default();
    let terms = mit.split_once("Permission is").map_or("", |(_, rest)| rest);
    let mut text = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: pgmeter\n\n\
         Files: *\n\
         Copyright: {holder}\n\
         License: Apache-2.0 or Expat\n\
         Comment: The libraries that are linked into the program have their own licenses,\n\
         \x20listed in third-party-licenses.gz next to this file.\n\n\
         License: Apache-2.0\n\
         \x20On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.\n\n\
         License: Expat\n"
    );
    for line in format!("Permission is{terms}").trim_end().lines() {
        // Debian's format marks an empty line of a text by a dot.
        let line = if line.is_empty() { "." } else { line };
        // Writing to a string does not fail.
        let _ = writeln!(text, " {line}");
    }
    Ok(text)
}

/// The packages linked into the program of a platform, without those for tests and builds.
pub struct LinkedPackages {
    /// Output of `cargo metadata`.
    metadata: Value,
    ids: BTreeSet<String>,
}

impl LinkedPackages {
    /// Reads them from cargo.
    pub fn of(platform: Platform) -> Result<LinkedPackages, Failure> {
        let metadata = metadata(platform)?;
        let ids = linked(&metadata).into_iter().map(str::to_owned).collect();
        Ok(LinkedPackages { metadata, ids })
    }

    /// All packages, as in the output of `cargo metadata`.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        array(&self.metadata, "packages").filter(|package| self.ids.contains(text(package, "id")))
    }

    /// The linked packages that a package uses directly.
    pub fn dependencies<'a>(&'a self, package: &Value) -> impl Iterator<Item = &'a Value> {
        let nodes = array(&self.metadata["resolve"], "nodes");
        let used: BTreeSet<&str> = nodes
            .filter(|node| node["id"] == package["id"])
            .flat_map(|node| array(node, "deps"))
            .map(|dependency| text(dependency, "pkg"))
            .collect();
        self.iter()
            .filter(move |package| used.contains(text(package, "id")))
    }
}

/// Lists every package linked into the program, with its licenses. A text that several packages
/// share is included once.
pub fn of_dependencies(platform: Platform) -> Result<String, Failure> {
    let packages = LinkedPackages::of(platform)?;
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Packages without a source belong to this workspace.
    for package in packages
        .iter()
        .filter(|package| !package["source"].is_null())
    {
        let name = format!("{} {}", text(package, "name"), text(package, "version"));
        let _ = writeln!(list, "{name}: {}", text(package, "license"));
        let manifest = Path::new(text(package, "manifest_path"));
        for license in texts_in(manifest.parent().unwrap_or(manifest))? {
            texts.entry(license).or_default().push(name.clone());
        }
    }
    let mut all = format!("Linked into pgmeter:\n\n{list}");
    for (license, names) in texts {
        let rule = "-".repeat(72);
        let _ = write!(all, "\n{rule}\n{}\n\n{license}\n", names.join(", "));
    }
    Ok(all)
}

fn metadata(platform: Platform) -> Result<Value, Failure> {
    let output = workspace::cargo()
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(&workspace::PROGRAM[2..])
        // Packages for other platforms are not linked into this program.
        .args(["--filter-platform", platform.triple])
        .output()
        .map_err(Failure::start("cargo metadata"))?;
    serde_json::from_slice(&output.stdout).map_err(|error| Failure::Output {
        program: "cargo metadata".to_owned(),
        message: format!("{error}: {}", String::from_utf8_lossy(&output.stderr)),
    })
}

/// Ids of the packages that the program needs at run time, without those for tests and builds.
fn linked(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Value> = array(&metadata["resolve"], "nodes")
        .map(|node| (text(node, "id"), node))
        .collect();
    let start = array(metadata, "packages").find(|package| text(package, "name") == "pgmeter");
    let mut pending: Vec<&str> = start
        .map(|package| text(package, "id"))
        .into_iter()
        .collect();
    let mut found = BTreeSet::new();
    while let Some(id) = pending.pop() {
        if !found.insert(id) {
            continue;
        }
        let Some(node) = nodes.get(id) else { continue };
        // Procedural macros count as normal dependencies, too; listing them does no harm.
        let is_linked =
            // `null` is a normal dependency; the others are `dev` and `build`.
            |dependency: &&Value| array(dependency, "dep_kinds").any(|kind| kind["kind"].is_null());
        let dependencies = array(node, "deps").filter(is_linked);
        pending.extend(dependencies.map(|dependency| text(dependency, "pkg")));
    }
    found
}

/// License texts in a package's directory, sorted by file name.
fn texts_in(directory: &Path) -> Result<Vec<String>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(Failure::file(directory))? {
        let entry = entry.map_err(Failure::file(directory))?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let bytes = fs::read(path).map_err(Failure::file(path))?;
        // So that copies of a text that differ only in their ends of line count as one.
        Ok(String::from_utf8_lossy(&bytes).trim().replace("\r\n", "\n"))
    };
    paths.iter().map(read).collect()
}

fn array<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn linked_packages_exclude_dev_and_build_dependencies() {
        let dependency =
            |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [{"name": "pgmeter", "id": "p"}],
            "resolve": {"nodes": [
                {"id": "p", "deps": [
                    dependency("a", Value::Null),
                    dependency("t", json!("dev")),
                    dependency("b", json!("build")),
                ]},
                {"id": "a", "deps": [dependency("c", Value::Null)]},
                {"id": "b", "deps": [dependency("d", Value::Null)]},
            ]},
        });
        let found: Vec<&str> = linked(&metadata).into_iter().collect();
        assert_eq!(found, ["a", "c", "p"]);
    }

    #[test]
    fn the_copyright_file_has_both_licenses_and_no_empty_line_within_one() {
        let text = own().unwrap();
        assert!(text.contains("Copyright: 20"), "{text}");
        let (_, expat) = text.split_once("License: Expat\n").unwrap();
        assert!(
            expat.starts_with(" Permission is hereby granted"),
            "{expat}"
        );
        assert!(expat.lines().all(|line| line.starts_with(' ')), "{expat}");
    }
}
