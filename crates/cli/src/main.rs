//! The command `pgmeter`: parses arguments and returns an exit code.

#[macro_use]
mod terminal;

#[cfg(test)]
mod accepted_tests;
mod args;
mod bounds;
mod browser;
mod command;
mod common_mistakes;
mod complete;
mod detached_output;
mod document;
mod event_file;
mod failure;
mod finished;
mod format;
mod input;
mod json;
mod live;
mod live_page;
mod other_tools;
mod output;
mod pager;
mod pages;
mod result_file;
mod schemas;
mod signals;
mod stored;
mod suggestions;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, Command};
use failure::{CliError, Exit};
use stored::StoreLocation;

/// Exits from any thread.
fn end(exit: Exit) -> ! {
    std::process::exit(exit.code().into())
}

fn main() -> ExitCode {
    // Before all other steps, so that every panic message goes through the filter for terminals.
    terminal::print_panics();
    // With `panic = "abort"`, exit with the same message and code as after unwinding.
    if cfg!(panic = "abort") {
        let default_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            default_hook(panic);
            let failure = CliError::bug();
            failure.print();
            end(failure.exit)
        }));
    }
    clear_owner_umask();
    // Before parsing, because clap would refuse an incomplete command line.
    if complete::answer() {
        return Exit::Success.into();
    }
    let cli = match command::as_classic::args_from_program_name() {
        Some(args) => Cli {
            command: Command::As(args),
            db: None,
            verbose: false,
        },
        None => match Cli::try_parse() {
            Ok(cli) => cli,
            Err(error) => return print_usage_error(error),
        },
    };
    // The second Ctrl-C restores the terminal, and cleans up nothing else.
    let on_second_interrupt = || -> ! {
        display::restore_terminal();
        tell!(
            "interrupted twice: test files may remain; `pgmeter clean TARGET` removes files of \
             `run`, `pgmeter lab clean` files of `lab`"
        );
        end(Exit::Interrupted)
    };
    // The panic hook has printed the message, and unwinding has released the work directories.
    let done = std::panic::catch_unwind(|| dispatch(cli, on_second_interrupt));
    code(done.unwrap_or_else(|_| Err(CliError::bug())))
}

/// Prints a mistake on the command line, or the requested help or version.
fn print_usage_error(error: clap::Error) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let words = arguments.iter().map(OsString::as_os_str);
    if error.kind() == ErrorKind::DisplayVersion && command::version::is_verbose(words) {
        return code(command::version::version());
    }
    // After a program's name, `-h` and `--help` belong to that program, so clap must not handle
    // them.
    if let [command, flag] = arguments.as_slice()
        && command == "as"
        && (flag == "-h" || flag == "--help")
    {
        return code(command::as_classic::help());
    }
    usage::print_usage_error(error).into()
}

/// Prints a failure, and returns the exit code.
fn code(done: Result<Exit, CliError>) -> ExitCode {
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

/// Clears the owner's bits in the umask, so that this process can use the files it creates.
fn clear_owner_umask() {
    use rustix::fs::Mode;
    use rustix::process::umask;
    // umask(2) returns the old mask only when it sets a new one.
    let old_mask = umask(Mode::RWXU);
    umask(old_mask - Mode::RWXU);
}

fn dispatch(cli: Cli, on_second_interrupt: fn() -> !) -> Result<Exit, CliError> {
    // Before the command reads text from a page, which could make it allocate too much.
    bounds::limit_this_process()?;
    let location = StoreLocation::new(cli.db);
    match cli.command {
        Command::Run(args) => command::run::run(&args, &location, on_second_interrupt),
        Command::Check(args) => command::check::check(&args),
        Command::List(args) => command::list::list(&args),
        Command::Show(args) => command::show::show(&args, &location),
        Command::Keys(args) => command::keys::keys(&args),
        Command::Schema { name } => command::keys::schema(&name),
        Command::Convert(args) => command::convert::convert(&args),
        Command::Fit(args) => command::fit::fit(&args),
        Command::Record(args) => command::record::record(&args, on_second_interrupt),
        Command::Report(args) => command::report::report(&args, &location),
        Command::Compare(args) => command::compare::compare(&args, &location, on_second_interrupt),
        Command::Runs(args) => command::runs::runs(&args, &location),
        Command::Lab(args) => command::lab::lab(&args, &location, on_second_interrupt),
        Command::Paper(args) => command::paper::paper(&args, &location, on_second_interrupt),
        Command::Board(args) => command::board::board(&args, &location),
        Command::Serve(args) => command::serve::serve(&args, &location),
        Command::Sink(args) => command::sink::sink(&args, on_second_interrupt),
        Command::Doctor(args) => command::doctor::doctor(&args, on_second_interrupt),
        Command::Selftest(args) => command::selftest::selftest(&args, on_second_interrupt),
        Command::Clean(args) => command::clean::clean(&args),
        Command::As(args) => command::as_classic::run(args, &location, on_second_interrupt),
        Command::Worker => command::cluster::worker(on_second_interrupt),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man(args) => command::manual::man(&args),
    }
}
