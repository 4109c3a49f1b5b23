//! Completions and the manual page, both made from the arguments.

use clap::CommandFactory;

use crate::args::Cli;
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::terminal::print_document;

const EXIT_STATUS: &str = "\
.SH \"EXIT STATUS\"
.TP
0
measured, or done
.TP
1
measured, but I/O or verification failed, or the run could not be stored or written; a figure of
the self-test is wrong
.TP
2
a mistake in the arguments or in a workload file
.TP
3
this system cannot run it; the machine was too busy for the self-test to tell
.TP
4
a comparison found a regression
.TP
70
a bug in pgmeter
.TP
130
interrupted; what was measured until then is in the record
";

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pgmeter", &mut script);
    print_document(&Document::Data(
        String::from_utf8_lossy(&script).into_owned(),
    ))?;
    Ok(Exit::Measured)
}

/// Prints the manual page with all commands.
pub(crate) fn man() -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| Failure::system("cannot make the manual page", &error);
    let command = Cli::command();
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(command.clone());
    manual.render(&mut page).map_err(failed)?;
    for subcommand in command.get_subcommands() {
        describe(subcommand, &subcommand.get_name().to_uppercase(), &mut page).map_err(failed)?;
    }
    page.extend_from_slice(EXIT_STATUS.as_bytes());
    print_document(&Document::Data(String::from_utf8_lossy(&page).into_owned()))?;
    Ok(Exit::Measured)
}

/// Describes a command and those below it.
fn describe(command: &clap::Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
    let manual = clap_mangen::Man::new(command.clone());
    manual.render_synopsis_section(page)?;
    manual.render_options_section(page)?;
    for below in command.get_subcommands() {
        let name = format!("{name} {}", below.get_name().to_uppercase());
        describe(below, &name, page)?;
    }
    Ok(())
}
