//! The command `pgmeter`: arguments in, exit code out.

mod args;
mod command;
mod failure;
mod input;
mod output;
mod signals;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::{Exit, Failure};

fn main() -> ExitCode {
    let command = match command::as_classic::of_own_name() {
        Some(args) => Command::As(args),
        None => match Cli::try_parse() {
            Ok(cli) => cli.command,
            Err(error) => return failure::not_understood(&error).into(),
        },
    };
    // The second Ctrl-C: leaves the terminal as it was and everything else as it is.
    let at_once = || -> ! {
        display::restore_terminal();
        eprintln!(
            "interrupted twice: test files may be left; \
             `pgmeter clean TARGET` removes those of `run`"
        );
        std::process::exit(Exit::Interrupted as i32)
    };
    // A panic has said what it is by now; work directories were given back on the way out.
    let done = std::panic::catch_unwind(|| dispatch(command, at_once));
    match done.unwrap_or_else(|_| Err(Failure::bug())) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

fn dispatch(command: Command, at_once: fn() -> !) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => command::run::run(&args, at_once),
        Command::Check(args) => command::check::check(&args),
        Command::List(args) => command::list::list(&args),
        Command::Show(args) => command::show::show(&args),
        Command::Convert(args) => command::convert::convert(&args),
        Command::Report(args) => command::report::report(&args),
        Command::Doctor(args) => command::doctor::doctor(&args),
        Command::Clean(args) => command::clean::clean(&args),
        Command::As(args) => command::as_classic::run(args, at_once),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man => command::manual::man(),
    }
}
