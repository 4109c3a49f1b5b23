//! Pages that only the site has: the help of each command, and a list of the JSON Schemas.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::help_text;
use super::stage::StagedSite;
use crate::error::Failure;
use crate::tool::run_tool;
use crate::workspace;

/// Directory of the JSON Schemas, relative to the workspace root and to the site.
const SCHEMAS: [&str; 2] = ["docs/schemas", "schemas"];

/// The command whose subcommands are other programs.
const EMULATIONS: &str = "pgmeter as";

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
        let text = match name.strip_prefix(EMULATIONS) {
            // The options of another program have its own layout.
            Some(program) if !program.is_empty() => format!("# {name}\n\n```text\n{help}```\n"),
            _ => help_text::markdown(&name, &help),
        };
        staged.add(&format!("commands/{page}"), &text)?;
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
        let own: Vec<&str> = match name.as_str() {
            EMULATIONS => help_text::emulations(&help).collect(),
            _ if name.starts_with(EMULATIONS) => Vec::new(),
            _ => help_text::subcommands(&help).collect(),
        };
        let below: Vec<String> = own.iter().map(|word| format!("{name} {word}")).collect();
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
