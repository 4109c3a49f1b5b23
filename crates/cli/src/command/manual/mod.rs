//! Shell completions and manual pages, generated from the arguments.

mod examples;

use std::io::Write;
use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{Cli, ManArgs};
use crate::complete::{CompletionShell, script};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::terminal::{print, print_document};

const EXIT_STATUS: &str = "\
.SH \"EXIT STATUS\"
.TP
0
success
.TP
1
measured, but I/O or verification failed, or the run could not be stored or written; a result of
the self-test is wrong
.TP
2
a mistake in the arguments or in a workload file
.TP
3
this system cannot run it; the machine was too busy for the self-test
.TP
4
a comparison found a regression
.TP
70
a bug in pgmeter
.TP
130
interrupted; the record has the results so far
";

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Result<Exit, CliError> {
    let text = match shell {
        Shell::Bash => script(CompletionShell::Bash, &own_name()),
        Shell::Zsh => script(CompletionShell::Zsh, &own_name()),
        Shell::Fish => script(CompletionShell::Fish, &own_name()),
        // Scripts for other shells complete commands and options, but not the contents of the
        // store.
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "pgmeter", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
    };
    print_document(&OutputText::Data(text))?;
    Ok(Exit::Success)
}

/// Returns the command with which scripts call this program: as the user called it, but from any
/// directory.
fn own_name() -> String {
    let name = std::env::args_os().next().map(PathBuf::from);
    let name = name.unwrap_or_else(|| "pgmeter".into());
    // A bare name is searched for in `PATH`, now and later.
    let is_path = name.components().count() > 1;
    let path = if is_path {
        std::path::absolute(&name).unwrap_or(name)
    } else {
        name
    };
    path.to_string_lossy().into_owned()
}

/// Prints the manual page of the program or of a command, or the names of all pages.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, CliError> {
    let program = built();
    if args.list {
        let names = commands(&program).map(|command| format!("{}\n", page_name(Some(command))));
        print(format!("pgmeter\n{}", names.collect::<String>()))?;
        return Ok(Exit::Success);
    }
    let requested = args.command.as_deref();
    let command = match requested {
        Some(name) => Some(named(&program, name)?),
        None => None,
    };
    let mut page = Vec::new();
    write_page(&program, command, &mut page)
        .map_err(|error| CliError::system("cannot make the manual page", &error))?;
    print_document(&OutputText::Data(
        String::from_utf8_lossy(&page).into_owned(),
    ))?;
    Ok(Exit::Success)
}

/// Builds the command tree, with everything that clap adds to it, such as the names in usage lines.
fn built() -> Command {
    let mut program = Cli::command();
    program.build();
    program
}

/// Returns the commands that have a page: all visible ones.
fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    let all = program.get_subcommands();
    all.filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

/// Finds a command by its name or by the name of its page.
fn named<'a>(program: &'a Command, name: &str) -> Result<&'a Command, CliError> {
    let bare = name.strip_prefix("pgmeter-").unwrap_or(name);
    let found = commands(program).find(|command| command.get_name() == bare);
    found.ok_or_else(|| {
        let message = format!("there is no command `{name}`");
        let help = "`pgmeter --help` lists the commands".to_owned();
        CliError::new(Exit::Usage, message, Some(help))
    })
}

/// Returns the name of a page, as `man` finds it.
fn page_name(command: Option<&Command>) -> String {
    match command {
        None => "pgmeter".to_owned(),
        Some(command) => format!("pgmeter-{}", command.get_name()),
    }
}

fn write_page(
    program: &Command,
    command: Option<&Command>,
    page: &mut Vec<u8>,
) -> std::io::Result<()> {
    let name = page_name(command);
    let described = command.unwrap_or(program).clone();
    let manual = Man::new(described.clone().display_name(&name)).title(&name);
    manual.render_title(page)?;
    manual.render_name_section(page)?;
    manual.render_synopsis_section(page)?;
    manual.render_description_section(page)?;
    manual.render_options_section(page)?;
    match command {
        None => list_commands(program, page)?,
        Some(command) => {
            for below in command.get_subcommands() {
                describe(below, below.get_name(), page)?;
            }
        }
    }
    // `clap_mangen` would print the heading of this section even without a text.
    if described.get_after_help().is_some() {
        manual.render_extra_section(page)?;
    }
    write_examples(command.map_or("", Command::get_name), page)?;
    page.extend_from_slice(EXIT_STATUS.as_bytes());
    page.extend_from_slice(see_also(program, command).as_bytes());
    Ok(())
}

/// Lists the commands with their purpose, by the names of their pages.
fn list_commands(program: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(page, ".SH COMMANDS")?;
    for command in commands(program) {
        let about = command.get_about().map(ToString::to_string);
        let name = page_name(Some(command)).replace('-', "\\-");
        writeln!(page, ".TP\n\\fB{name}\\fR(1)")?;
        writeln!(page, "{}", escaped(&about.unwrap_or_default()))?;
    }
    Ok(())
}

/// Describes a subcommand and the subcommands below it.
fn describe(command: &Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    if command.is_hide_set() || command.get_name() == "help" {
        return Ok(());
    }
    writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
    if let Some(about) = command.get_about() {
        writeln!(page, "{}", escaped(&about.to_string()))?;
    }
    let manual = Man::new(command.clone());
    manual.render_synopsis_section(page)?;
    manual.render_options_section(page)?;
    if command.get_after_help().is_some() {
        manual.render_extra_section(page)?;
    }
    for below in command.get_subcommands() {
        describe(below, &format!("{name} {}", below.get_name()), page)?;
    }
    Ok(())
}

fn write_examples(command: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(page, ".SH EXAMPLES")?;
    for example in examples::of(command) {
        writeln!(page, ".TP\n{}", escaped(example.heading))?;
        writeln!(page, "\\fB{}\\fR", escaped(example.line))?;
    }
    Ok(())
}

fn see_also(program: &Command, command: Option<&Command>) -> String {
    let pages: Vec<String> = match command {
        Some(_) => vec![page_name(None)],
        None => commands(program).map(|it| page_name(Some(it))).collect(),
    };
    let pages = pages.iter().map(|name| format!("\\fB{name}\\fR(1)"));
    let pages = pages.collect::<Vec<_>>().join(", ");
    format!(".SH \"SEE ALSO\"\n{}\n", pages.replace('-', "\\-"))
}

/// Escapes text for `troff`.
fn escaped(text: &str) -> String {
    // troff would print a bare `-` as a hyphen, which a shell does not understand.
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    // troff takes a line that begins with one of these as a request.
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(command: Option<&str>) -> String {
        let program = built();
        let command = command.map(|name| named(&program, name).expect("a command"));
        let mut page = Vec::new();
        write_page(&program, command, &mut page).expect("a page");
        String::from_utf8(page).expect("text")
    }

    #[test]
    fn every_command_has_a_page_with_its_options_and_examples() {
        let program = built();
        for command in commands(&program) {
            let name = command.get_name();
            let page = page(Some(name));
            assert!(page.contains(&format!(".TH pgmeter-{name} 1")), "{page}");
            for section in [
                ".SH NAME",
                ".SH SYNOPSIS",
                ".SH EXAMPLES",
                ".SH \"EXIT STATUS\"",
            ] {
                assert!(page.contains(section), "{name} has no {section}\n{page}");
            }
            let examples = page.split(".SH EXAMPLES").nth(1).unwrap_or_default();
            assert!(examples.starts_with("\n.TP\n"), "{name} has no example");
        }
    }

    #[test]
    fn the_main_page_lists_the_commands() {
        let page = page(None);
        assert!(page.contains(".TH pgmeter 1"), "{page}");
        assert!(page.contains("\\fBpgmeter\\-run\\fR(1)"), "{page}");
        assert!(!page.contains("pgmeter\\-help"), "{page}");
    }

    #[test]
    fn troff_requests_are_escaped() {
        assert_eq!(escaped(".SH a-b"), "\\&.SH a\\-b");
        assert_eq!(escaped("a\\b"), "a\\eb");
    }
}
