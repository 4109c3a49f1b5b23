//! The help of a command as a page.

/// Options and commands are indented by fewer columns than their descriptions.
const DESCRIPTION_INDENT: usize = 8;
/// Mark of a definition. Further lines are indented by its length.
const DEFINITION: &str = ":   ";

/// Names of the commands in a help text.
pub fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    // clap's own command prints the same texts again.
    names.filter(|name| !name.is_empty() && *name != "help")
}

/// Names of the programs that `as` emulates.
pub fn emulations(help: &str) -> impl Iterator<Item = &str> {
    let list = help.split_once("[possible values: ");
    let list = list.and_then(|(_, rest)| rest.split(']').next());
    list.unwrap_or_default().split(',').map(str::trim)
}

/// A help text as a page. Groups become headings, and options become terms of a definition list,
/// so that search finds both and a narrow screen wraps the text.
pub fn markdown(name: &str, help: &str) -> String {
    let mut page = format!("# {name}\n\n");
    let mut group = "";
    for line in help.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(title) = line.strip_suffix(':').filter(|_| indent == 0) {
            group = title;
            page.push_str(&format!("## {title}\n\n"));
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            page.push_str(&format!("```text\n{usage}\n```\n"));
        } else if indent == 0 || group.is_empty() {
            page.push_str(&format!("{line}\n"));
        } else if indent < DESCRIPTION_INDENT {
            page.push_str(&entry(name, group, line.trim()));
        } else {
            // The first line of a description follows the mark of a definition.
            let indent = if page.ends_with(DEFINITION) {
                0
            } else {
                DEFINITION.len()
            };
            page.push_str(&description(line.trim(), indent));
        }
    }
    page
}

/// The line that begins with an option or a command. A short description is in the same line.
fn entry(name: &str, group: &str, line: &str) -> String {
    let (term, rest) = line.split_once("  ").unwrap_or((line, ""));
    let command = format!("{name} {term}").replace(' ', "-");
    let term = match group {
        "Commands" if term != "help" => format!("[{term}]({command}.md)"),
        _ => format!("`{term}`"),
    };
    match rest.trim() {
        "" => format!("\n{term}\n{DEFINITION}"),
        text => format!("\n{term}\n{DEFINITION}{}", description(text, 0)),
    }
}

/// A line of a description. Lists of values are aligned for terminals.
fn description(line: &str, indent: usize) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Without an empty line, a list would continue the paragraph.
    let end = match line {
        "Possible values:" => "\n\n",
        _ => "\n",
    };
    format!("{:indent$}{}{end}", "", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Runs labs\n\nUsage: pgmeter lab <COMMAND>\n\nCommands:\n  \
        run   Run one\n        in full\n  help  Print this\n\nOptions:\n  -h, --help\n          \
        Print help\n\n          Possible values:\n          - a:   One\n";

    #[test]
    fn commands_are_read_from_the_help() {
        assert_eq!(subcommands(HELP).collect::<Vec<_>>(), ["run"]);
        let help = "  <PROGRAM>  It [possible values: bonnie,\n             fio]\n";
        assert_eq!(emulations(help).collect::<Vec<_>>(), ["bonnie", "fio"]);
    }

    #[test]
    fn groups_become_headings_and_options_become_terms() {
        let expected = "# pgmeter lab\n\nRuns labs\n\n```text\npgmeter lab <COMMAND>\n```\n\n\
            ## Commands\n\n\n[run](pgmeter-lab-run.md)\n:   Run one\n    in full\n\n\
            `help`\n:   Print this\n\n## Options\n\n\n`-h, --help`\n:   Print help\n\n\
            \x20   Possible values:\n\n    - a: One\n";
        assert_eq!(markdown("pgmeter lab", HELP), expected);
    }
}
