//! `as`: emulates other programs, with their arguments, output and behavior.

mod console;
mod front;
mod input;
mod introduction;
mod printed;

use std::ffi::OsString;
use std::path::Path;

use ::front::Refusal;
use clap::CommandFactory;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::args::{AsArgs, Cli, programs};
use crate::failure::{CliError, Exit};
use crate::stored::StoreLocation;
use crate::terminal::print;

/// Returns the program to emulate if pgmeter was started under its name.
pub(crate) fn args_from_program_name() -> Option<AsArgs> {
    let mut args = std::env::args_os();
    // `current_exe` would not do: it resolves the link with the program's name to pgmeter.
    let own_path = args.next()?;
    let program = program_of(Path::new(&own_path))?;
    let args: Vec<OsString> = args.collect();
    Some(AsArgs { program, args })
}

fn program_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let is_known = programs().iter().any(|it| it.matches(name, false));
    is_known.then(|| name.to_owned())
}

/// Prints the help of `as`, with the list of programs.
pub(crate) fn help() -> Result<Exit, CliError> {
    let mut program = Cli::command();
    program.build();
    if let Some(command) = program.find_subcommand_mut("as") {
        print(command.render_help().to_string())?;
    }
    Ok(Exit::Success)
}

/// Runs the program. The second signal calls `on_second_interrupt`.
pub(crate) fn run(
    args: AsArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    // clap accepts only names from these tables.
    match (
        ::front::find(&args.program),
        ::front::find_console(&args.program),
    ) {
        (Some(front), _) => front::run(front, args.args, location, on_second_interrupt),
        (None, Some(front)) => console::run(front, args.args, location, on_second_interrupt),
        (None, None) => Err(CliError::bug()),
    }
}

/// Prints why the arguments were refused. Returns the program's own exit status.
fn refuse(refusal: &Refusal) -> Exit {
    for line in refusal.message.lines() {
        tell!("error: {line}");
    }
    tell_text!("{}", refusal.usage);
    Exit::Classic(refusal.exit_code)
}

/// Raises the limit on open files to its maximum, because each worker keeps its directories open.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // If this is refused, opening too many files fails later with its own message.
    let _ = setrlimit(Resource::Nofile, raised);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_path_component_names_the_program() {
        let classic = |path| program_of(Path::new(path));
        assert_eq!(classic("/usr/bin/postmark").unwrap(), "postmark");
        assert_eq!(classic("postmark").unwrap(), "postmark");
        assert_eq!(classic("bin/lat_fs").unwrap(), "lat_fs");
        assert_eq!(classic("fs_mark").unwrap(), "fs_mark");
        assert_eq!(classic("/usr/local/bin/mdtest").unwrap(), "mdtest");
        assert_eq!(classic("bin/smallfile_cli.py").unwrap(), "smallfile_cli.py");
        assert_eq!(classic("/postmark/pgmeter"), None);
        assert_eq!(classic(""), None);
    }
}
