//! The version of a release, and the place where it is recorded: a section of `CHANGELOG.md` with
//! the formats of the record and of the store.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::Failure;
use crate::tool::run_tool;
use crate::workspace;

const CHANGELOG: &str = "CHANGELOG.md";
const UNRELEASED: &str = "## Unreleased\n";

/// Gives the workspace a version, and the unreleased changes a section of that name.
pub fn prepare(version: &str) -> Result<(), Failure> {
    if !is_version(version) {
        return Err(Failure::Usage(format!(
            "`{version}` is not a version; write three numbers, such as `1.2.3`"
        )));
    }
    let root = workspace::root();
    let manifest = workspace::read(&root, Path::new("Cargo.toml"))?;
    let changes = workspace::read(&root, Path::new(CHANGELOG))?;
    let date = run_tool(Command::new("date").args(["--utc", "+%Y-%m-%d"]))?;
    let date = String::from_utf8_lossy(&date);
    let changes = released(&changes, version, date.trim())?;
    write(&root.join("Cargo.toml"), &with_version(&manifest, version))?;
    write(&root.join(CHANGELOG), &changes)?;
    // Only the versions of this workspace change in `Cargo.lock`.
    run_tool(workspace::cargo().args(["update", "--workspace", "--offline", "--quiet"]))?;
    println!("Cargo.toml, Cargo.lock and {CHANGELOG} have version {version}");
    Ok(())
}

/// Checks that no source differs from the commit, and prints a note if it is not a release.
pub fn check() -> Result<(), Failure> {
    let mut git = Command::new("git");
    git.current_dir(workspace::root());
    let changes = run_tool(git.args(["status", "--porcelain"]))?;
    if !changes.is_empty() {
        return Err(Failure::ChecksFailed(format!(
            "these files differ from the commit, and a release is built from a commit; commit or \
             stash them:\n{}",
            String::from_utf8_lossy(&changes).trim_end()
        )));
    }
    let changes = workspace::read(&workspace::root(), Path::new(CHANGELOG))?;
    let version = super::VERSION;
    match section(&changes, version) {
        None => println!(
            "note: {CHANGELOG} has no section for {version}, so this is a trial and not a \
             release; see docs/release.md"
        ),
        Some(section) if !section.contains(&formats()) => {
            return Err(Failure::ChecksFailed(format!(
                "the section for {version} in {CHANGELOG} lacks the line `{}`",
                formats()
            )));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Line of a section with the formats that its version writes.
fn formats() -> String {
    format!(
        "Formats: record `{}`, store {}.",
        results::FORMAT,
        store::FORMAT_NUMBER
    )
}

fn is_version(version: &str) -> bool {
    let numbers: Vec<&str> = version.split('.').collect();
    let is_number = |text: &&str| text.parse::<u32>().is_ok_and(|it| it.to_string() == **text);
    numbers.len() == 3 && numbers.iter().all(is_number)
}

/// The manifest of the workspace with another version of its packages.
fn with_version(manifest: &str, version: &str) -> String {
    let mut in_section = false;
    let lines = manifest.lines().map(|line| {
        if line.starts_with('[') {
            in_section = line == "[workspace.package]";
        }
        match in_section && line.starts_with("version =") {
            true => format!("version = \"{version}\"\n"),
            false => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// The changelog with a section for a version, which takes the unreleased changes.
fn released(changes: &str, version: &str, date: &str) -> Result<String, Failure> {
    if section(changes, version).is_some() {
        return Err(Failure::Usage(format!(
            "{CHANGELOG} already has a section for {version}"
        )));
    }
    let Some((before, after)) = changes.split_once(UNRELEASED) else {
        return Err(Failure::Usage(format!(
            "{CHANGELOG} has no section `Unreleased`"
        )));
    };
    let formats = formats();
    Ok(format!(
        "{before}{UNRELEASED}\n## {version} ({date})\n\n{formats}\n{after}"
    ))
}

/// The text of a version's section.
fn section<'a>(changes: &'a str, version: &str) -> Option<&'a str> {
    let (_, rest) = changes.split_once(&format!("\n## {version} ("))?;
    Some(
        rest.split_once("\n## ")
            .map_or(rest, |(section, _)| section),
    )
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(Failure::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGES: &str = "# Changelog\n\n## Unreleased\n\n### Added\n- All.\n";

    #[test]
    fn a_release_gets_the_unreleased_changes_and_the_formats() {
        let text = released(CHANGES, "1.2.3", "2026-01-02").unwrap();
        let unreleased = "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-01-02)\n\nFormats: ";
        assert!(text.starts_with(unreleased), "{text}");
        assert!(text.ends_with("\n\n### Added\n- All.\n"), "{text}");
        let own = section(&text, "1.2.3").unwrap();
        assert!(own.contains(&formats()) && own.contains("- All."), "{own}");
        assert!(released(&text, "1.2.3", "2026-01-02").is_err());
    }

    #[test]
    fn a_section_ends_before_the_next_one() {
        let text = released(CHANGES, "1.2.3", "2026-01-02").unwrap();
        let text = released(&text, "1.3.0", "2026-02-03").unwrap();
        assert!(
            !section(&text, "1.3.0").unwrap().contains("- All."),
            "{text}"
        );
        assert!(section(&text, "1.2.30").is_none());
    }

    #[test]
    fn only_the_version_of_the_workspace_changes() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n[other]\nversion = \"1\"\n";
        assert_eq!(
            with_version(manifest, "0.2.0"),
            "[workspace.package]\nversion = \"0.2.0\"\n[other]\nversion = \"1\"\n"
        );
    }

    #[test]
    fn versions_have_three_numbers() {
        assert!(is_version("1.20.3"));
        for other in ["1.2", "1.2.x", "v1.2.3", "1.02.3", ""] {
            assert!(!is_version(other), "{other}");
        }
    }
}
