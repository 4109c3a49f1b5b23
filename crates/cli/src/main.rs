//! The command `pgmeter`: arguments in, exit code out.

#[macro_use]
mod terminal;

#[cfg(test)]
mod accepted_tests;
mod args;
mod beside;
mod bounds;
mod browser;
mod command;
mod complete;
mod document;
mod failure;
mod finished;
mod foreign;
mod format;
mod input;
mod json;
mod live;
mod output;
mod pager;
mod pages;
mod schemas;
mod signals;
mod slips;
mod stored;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, Command};
use failure::{Exit, Failure};
use stored::Place;

/// Ends the process from wherever it is.
fn end(exit: Exit) -> ! {
    std::process::exit(exit.code().into())
}

fn main() -> ExitCode {
    terminal::tell_panics();
    // A panic that cannot unwind ends the process as one that has unwound does.
    if cfg!(panic = "abort") {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            tell(panic);
            let failure = Failure::bug();
            failure.print();
            end(failure.exit)
        }));
    }
    let_own_files_be_used();
    if complete::answer() {
        return Exit::Measured.into();
    }
    let cli = match command::as_classic::of_own_name() {
        Some(args) => Cli {
            command: Command::As(args),
            db: std::env::var_os("PGMETER_DB").map(Into::into),
            verbose: false,
        },
        None => match Cli::try_parse() {
            Ok(cli) => cli,
            Err(error) => return not_understood(error),
        },
    };
    // The second Ctrl-C: leaves the terminal as it was and everything else as it is.
    let at_once = || -> ! {
        display::restore_terminal();
        tell!(
            "interrupted twice: test files may remain; `pgmeter clean TARGET` removes those of \
             `run`, `pgmeter lab clean` those of `lab`"
        );
        end(Exit::Interrupted)
    };
    // A panic has said what it is by now; work directories were given back on the way out.
    let done = std::panic::catch_unwind(|| dispatch(cli, at_once));
    code(done.unwrap_or_else(|_| Err(Failure::bug())))
}

/// Prints what is wrong with the command line, or the help or version that it asks for.
fn not_understood(error: clap::Error) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let words = arguments.iter().map(OsString::as_os_str);
    if error.kind() == ErrorKind::DisplayVersion && command::version::is_verbose(words) {
        return code(command::version::version());
    }
    // Behind a program's name these flags are that program's, so clap must not know them here.
    if let [command, flag] = arguments.as_slice()
        && command == "as"
        && (flag == "-h" || flag == "--help")
    {
        return code(command::as_classic::help());
    }
    usage::not_understood(error).into()
}

/// Tells a failure, and what the process ends with.
fn code(done: Result<Exit, Failure>) -> ExitCode {
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

/// Whatever the user's mask, what this process makes it can also use.
fn let_own_files_be_used() {
    use rustix::fs::Mode;
    use rustix::process::umask;
    let asked = umask(Mode::RWXU);
    umask(asked - Mode::RWXU);
}

fn dispatch(cli: Cli, at_once: fn() -> !) -> Result<Exit, Failure> {
    bounds::limit_this_process()?;
    let place = Place::new(cli.db);
    match cli.command {
        Command::Run(args) => command::run::run(&args, &place, at_once),
        Command::Check(args) => command::check::check(&args),
        Command::List(args) => command::list::list(&args),
        Command::Show(args) => command::show::show(&args, &place),
        Command::Keys(args) => command::keys::keys(&args),
        Command::Schema { name } => command::keys::schema(&name),
        Command::Convert(args) => command::convert::convert(&args),
        Command::Report(args) => command::report::report(&args, &place),
        Command::Compare(args) => command::compare::compare(&args, &place, at_once),
        Command::Runs(args) => command::runs::runs(&args, &place),
        Command::Lab(args) => command::lab::lab(&args, &place, at_once),
        Command::Paper(args) => command::paper::paper(&args, &place, at_once),
        Command::Serve(args) => command::serve::serve(&args, &place),
        Command::Sink(args) => command::sink::sink(&args, at_once),
        Command::Doctor(args) => command::doctor::doctor(&args, at_once),
        Command::Selftest(args) => command::selftest::selftest(&args, at_once),
        Command::Clean(args) => command::clean::clean(&args),
        Command::As(args) => command::as_classic::run(args, &place, at_once),
        Command::Worker => command::team::worker(at_once),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man(args) => command::manual::man(&args),
    }
}
