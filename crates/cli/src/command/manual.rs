//! Completions and the manual page, both made from the arguments.

use clap::CommandFactory;

use crate::args::Cli;
use crate::failure::{Exit, Failure};
use crate::output::print;

const EXIT_STATUS: &str = "\
.SH \"EXIT STATUS\"
.TP
0
measured, or done
.TP
1
measured, but I/O or verification failed
.TP
2
a mistake in the arguments or in a workload file
.TP
3
this system cannot run it
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
    print(&String::from_utf8_lossy(&script))?;
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
        let name = subcommand.get_name().to_uppercase();
        page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
        let manual = clap_mangen::Man::new(subcommand.clone());
        manual.render_synopsis_section(&mut page).map_err(failed)?;
        manual.render_options_section(&mut page).map_err(failed)?;
    }
    page.extend_from_slice(EXIT_STATUS.as_bytes());
    print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Measured)
}
