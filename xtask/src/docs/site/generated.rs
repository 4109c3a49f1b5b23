//! Pages that only the site has: the help of each command, and a list of the JSON Schemas.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::stage::StagedSite;
use crate::error::Failure;
use crate::tool::run_tool;
use crate::workspace;

/// Directory of the JSON Schemas, relative to the workspace root and to the site.
const SCHEMAS: [&str; 2] = ["docs/schemas", "schemas"];

/// Writes the pages, and returns their part of the summary.
pub fn add(staged: &StagedSite, program: &Path) -> Result<String, Failure> {
    let mut summary = super::contents::heading("Generated reference");
    summary.push_str("- [Commands](commands/index.md)\n");
    let mut list = "# Commands\n\nEach page shows what `--help` prints. `pgmeter man COMMAND` \
        shows the manual page with examples.\n\n| command | purpose |\n|---|---|\n"
        .to_owned();
    for name in commands(program)? {
        let help = help(program, &name)?;
        let page = format!("{}.md", name.replace(' ', "-"));
        staged.add(&format!("commands/{page}"), &markdown(&name, &help))?;
        let purpose = help.lines().next().unwrap_or_default();
        // Writing to a string does not fail.
        let _ = writeln!(list, "| [{name}]({page}) | {purpose} |");
        let _ = writeln!(summary, "  - [{name}](commands/{page})");
    }
    staged.add("commands/index.md", &list)?;
    staged.add("schemas/index.md", &schemas()?)?;
    summary.push_str("- [JSON Schemas](schemas/index.md)\n");
    Ok(summary)
}

/// Names of all commands, each with its parents.
fn commands(program: &Path) -> Result<Vec<String>, Failure> {
    let mut found = vec!["pgmeter".to_owned()];
    let mut at = 0;
    while let Some(name) = found.get(at).cloned() {
        let help = help(program, &name)?;
        let below: Vec<String> = subcommands(&help)
            .map(|word| format!("{name} {word}"))
            .collect();
        // Directly after their parent, so that the list is in the order of the help.
        found.splice(at + 1..at + 1, below);
        at += 1;
    }
    Ok(found)
}

/// What `--help` prints.
fn help(program: &Path, name: &str) -> Result<String, Failure> {
    let mut command = Command::new(program);
    command.args(name.split(' ').skip(1)).arg("--help");
    // Independent of the terminal, so that the site is the same everywhere.
    command.env("COLUMNS", "100").env("NO_COLOR", "1");
    Ok(String::from_utf8_lossy(&run_tool(&mut command)?).into_owned())
}

/// Names of the commands in a help text.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    // clap's own command prints the same texts again.
    names.filter(|name| !name.is_empty() && *name != "help")
}

/// A help text as a page: each group of options has a heading, which search finds.
fn markdown(name: &str, help: &str) -> String {
    let mut page = format!("# {name}\n");
    let mut is_code = false;
    for line in help.lines() {
        let group = line.strip_suffix(':').filter(|it| !it.starts_with(' '));
        if (group.is_some() || line.is_empty()) && is_code {
            is_code = false;
            page.push_str("```\n");
        }
        let is_option = line.starts_with(' ') || line.starts_with("Usage:");
        match group {
            Some(group) => page.push_str(&format!("\n## {group}\n\n")),
            None if is_option && !is_code => {
                is_code = true;
                page.push_str(&format!("```text\n{line}\n"));
            }
            None => page.push_str(&format!("{line}\n")),
        }
    }
    if is_code {
        page.push_str("```\n");
    }
    page
}

/// The list of schemas.
fn schemas() -> Result<String, Failure> {
    let [source, _] = SCHEMAS;
    let folder = workspace::root().join(source);
    let mut list = "# JSON Schemas\n\n`pgmeter schema NAME` prints each of them. \
        [Results](../results.md) describes the documents.\n\n| schema | document |\n|---|---|\n"
        .to_owned();
    for file in workspace::files(&folder, &[".json"])? {
        let text = workspace::read(&folder, &file)?;
        let schema: Value = serde_json::from_str(&text).unwrap_or_default();
        let description = schema["description"].as_str().unwrap_or_default();
        // A table has one line per row.
        let description = description.lines().next().unwrap_or_default();
        let name = file.with_extension("");
        let _ = writeln!(
            list,
            "| [{}]({}) | {description} |",
            name.display(),
            file.display()
        );
    }
    list.push_str(
        "\nThe schema of workload files is [workload.schema.json](../workload.schema.json).\n",
    );
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Runs labs\n\nUsage: pgmeter lab <COMMAND>\n\nCommands:\n  run   Run one\n  \
        list  List them\n  help  Print this\n\nOptions:\n  -h, --help\n          Print help\n";

    #[test]
    fn commands_are_read_from_the_help() {
        assert_eq!(subcommands(HELP).collect::<Vec<_>>(), ["run", "list"]);
    }

    #[test]
    fn groups_become_headings_and_options_become_code() {
        let page = markdown("pgmeter lab", HELP);
        assert!(
            page.starts_with("# pgmeter lab\nRuns labs\n\n```text\nUsage: "),
            "{page}"
        );
        assert!(
            page.contains("\n## Options\n\n```text\n  -h, --help\n"),
            "{page}"
        );
        assert!(page.ends_with("Print help\n```\n"), "{page}");
    }
}
