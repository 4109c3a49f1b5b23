//! `as`: stands in for other programs, with their arguments, texts and habits.

mod clock;
mod console;
mod fs_mark;
mod input;
mod lat_fs;
mod postmark;
mod ticks;

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use workload::classics::Refusal;

use crate::args::{AsArgs, ClassicArg, Cli};
use crate::failure::{Exit, Failure};
use crate::terminal::print;

/// The program to stand in for if this one was started under its name.
pub(crate) fn of_own_name() -> Option<AsArgs> {
    let mut args = std::env::args_os();
    let own_path = args.next()?;
    let classic = classic_of(Path::new(&own_path))?;
    let args: Vec<OsString> = args.collect();
    Some(AsArgs { classic, args })
}

fn classic_of(path: &Path) -> Option<ClassicArg> {
    let name = path.file_name()?.to_str()?;
    ClassicArg::from_str(name, false).ok()
}

/// Prints which programs there are to stand in for.
pub(crate) fn help() -> Result<Exit, Failure> {
    let mut program = Cli::command();
    program.build();
    if let Some(command) = program.find_subcommand_mut("as") {
        print(command.render_help().to_string())?;
    }
    Ok(Exit::Measured)
}

/// Runs the program; at the second signal `at_once` is called.
pub(crate) fn run(args: AsArgs, at_once: fn() -> !) -> Result<Exit, Failure> {
    match args.classic {
        ClassicArg::Postmark => postmark::run(args.args, at_once),
        ClassicArg::LatFs => lat_fs::run(args.args, at_once),
        ClassicArg::FsMark => fs_mark::run(args.args, at_once),
    }
}

/// Prints why a command line was not taken, as the program itself would end.
fn refuse(refusal: &Refusal) -> Exit {
    if !refusal.message.is_empty() {
        tell!("error: {}", refusal.message);
    }
    tell_text!("{}", refusal.usage);
    Exit::Classic(refusal.exit_code)
}

/// Allows as many open directories as the system does: a worker holds all that its files are in.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Where this is refused, what does not fit fails with its own message.
    let _ = setrlimit(Resource::Nofile, raised);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_part_of_the_path_is_a_name() {
        let classic = |path| classic_of(Path::new(path));
        assert_eq!(classic("/usr/bin/postmark"), Some(ClassicArg::Postmark));
        assert_eq!(classic("postmark"), Some(ClassicArg::Postmark));
        assert_eq!(classic("bin/lat_fs"), Some(ClassicArg::LatFs));
        assert_eq!(classic("fs_mark"), Some(ClassicArg::FsMark));
        assert_eq!(classic("/postmark/pgmeter"), None);
        assert_eq!(classic(""), None);
    }
}
